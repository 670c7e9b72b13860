/** Replaces calls of `node:fs` for all importers: injects errors, simulates a full disk, and records synchronized files. */
import type fs from 'node:fs'
import { constants, readlinkSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'

export const system = createRequire(import.meta.url)('node:fs') as typeof fs

/** @returns a function that restores the calls */
export function replaceCalls(calls: Record<string, unknown>): () => void {
  const known = system as unknown as Record<string, unknown>
  const real = Object.fromEntries(Object.keys(calls).map((name) => [name, known[name]]))
  Object.assign(system, calls)
  syncBuiltinESMExports()
  return () => {
    Object.assign(system, real)
    syncBuiltinESMExports()
  }
}

const BLOCK_BYTES = 1_024

function createError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: injected error, ${syscall}`), { code, syscall })
}

/**
 * Makes calls fail.
 * @param toCode returns the code of the error for the arguments of a call; undefined if the call succeeds
 * @returns a function that restores the call
 */
export function failing(
  call: 'openSync' | 'readSync' | 'readdirSync' | 'lstatSync' | 'writeSync' | 'unlinkSync' | 'renameSync',
  toCode: (given: readonly unknown[]) => string | undefined,
): () => void {
  const real = system[call] as (...given: unknown[]) => unknown
  return replaceCalls({
    [call]: (...given: unknown[]) => {
      const code = toCode(given)
      if (code !== undefined) throw createError(code, call)
      return real(...given)
    },
  })
}

/**
 * Writes to matching files fail with ENOSPC after `bytes` bytes. The last successful write is a partial one, as on a real disk.
 * @returns a function that restores the calls
 */
export function fullAfter(bytes: number, isMeant: (path: string) => boolean): () => void {
  const { writeSync } = system
  let left = bytes
  return replaceCalls({
    writeSync: (fd: number, data: Buffer | string, from = 0): number => {
      if (!isMeant(pathOf(fd))) return writeSync(fd, data as Buffer, from)
      const whole = Buffer.from(data as string).subarray(from)
      if (left === 0) throw createError('ENOSPC', 'write')
      const written = writeSync(fd, whole, 0, Math.min(left, whole.length))
      left -= written
      return written
    },
  })
}

/**
 * A volume without free blocks or inodes: no folder and no file can be created, and without blocks no file can grow
 * beyond its last one.
 * @param code ENOSPC, or EDQUOT for a quota
 * @returns a function that restores the calls
 */
export function simulateFullVolume(
  root: string,
  { blocks, code = 'ENOSPC' }: { blocks: boolean; code?: string },
): () => void {
  const { existsSync, fstatSync, mkdirSync, openSync, writeSync } = system
  const isHere = (path: unknown): boolean => String(path).startsWith(`${root}/`)
  return replaceCalls({
    mkdirSync: (path: string, options: object) => {
      if (isHere(path)) throw createError(code, 'mkdir')
      return mkdirSync(path, options)
    },
    openSync: (path: string, flags: number, mode: number): number => {
      if (isHere(path) && (flags & constants.O_CREAT) !== 0 && !existsSync(path)) throw createError(code, 'open')
      return openSync(path, flags, mode)
    },
    writeSync: (fd: number, bytes: Buffer, from = 0, length = bytes.length - from, at = Infinity): number => {
      const { size } = fstatSync(fd)
      const end = at === Infinity ? size + length : at + length
      if (blocks && isHere(pathOf(fd)) && end > Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES)
        throw createError(code, 'write')
      return writeSync(fd, bytes, from, length, Number.isFinite(at) ? at : null)
    },
  })
}

/** @param freeBytes what the system reports @returns a function that restores the call */
export function simulateFreeSpace(freeBytes: () => number): () => void {
  return replaceCalls({ statfsSync: () => ({ blocks: 1_000_000, bavail: freeBytes(), bsize: 1 }) })
}

/** @param fails whether synchronizing this file fails @returns the synchronized paths, and a function that restores the calls */
export function watchAllSyncs(fails: (path: string) => boolean = () => false): {
  readonly synced: string[]
  readonly restore: () => void
} {
  const synced: string[] = []
  const { fsyncSync, fdatasyncSync } = system
  const verdict = (fd: number): Error | null => {
    const path = pathOf(fd)
    if (fails(path)) return createError('EIO', 'fdatasync')
    synced.push(path)
    return null
  }
  const now =
    (real: (fd: number) => void) =>
    (fd: number): void => {
      const error = verdict(fd)
      if (error !== null) throw error
      real(fd)
    }
  const restore = replaceCalls({
    fsyncSync: now(fsyncSync),
    fdatasyncSync: now(fdatasyncSync),
    fdatasync: (fd: number, done: (error: Error | null) => void) => setImmediate(done, verdict(fd)),
  })
  return { synced, restore }
}

function pathOf(fd: number): string {
  return readlinkSync(`/proc/self/fd/${fd}`)
}

/**
 * Renames fail with EPERM as on Windows: onto an open file, and of a folder with an open file. Needs `/proc`, without which nothing is
 * simulated.
 * @returns a function that restores the call
 */
export function renamesAsOnWindows(): () => void {
  const { renameSync } = system
  return replaceCalls({
    renameSync: (from: string, to: string): void => {
      if (openPaths().some((path) => path === to || path.startsWith(`${from}/`))) throw createError('EPERM', 'rename')
      renameSync(from, to)
    },
  })
}

/** Of files that this process has open. */
function openPaths(): string[] {
  const folder = '/proc/self/fd'
  if (!system.existsSync(folder)) return []
  return system.readdirSync(folder).flatMap((fd) => {
    try {
      return [readlinkSync(`${folder}/${fd}`)]
    } catch {
      return [] // the descriptor of the list itself
    }
  })
}
