/** Replaces calls of `node:fs` for all importers: simulates a full disk, and records synchronised files. */
import type fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { readlinkSync } from 'node:fs'

const system = createRequire(import.meta.url)('node:fs') as typeof fs

function replace(calls: Record<string, unknown>): () => void {
  const real = Object.fromEntries(
    Object.keys(calls).map((name) => [name, (system as unknown as Record<string, unknown>)[name]]),
  )
  Object.assign(system, calls)
  syncBuiltinESMExports()
  return () => {
    Object.assign(system, real)
    syncBuiltinESMExports()
  }
}

/**
 * Writes to matching files fail with ENOSPC after `bytes` bytes. The last successful write is a partial one, as on a real disk.
 * @returns a function that restores the calls
 */
export function fullAfter(bytes: number, isMeant: (path: string) => boolean): () => void {
  const { writeSync } = system
  let left = bytes
  return replace({
    writeSync: (fd: number, data: Buffer | string, from = 0): number => {
      if (!isMeant(pathOf(fd))) return writeSync(fd, data as Buffer, from)
      const whole = Buffer.from(data as string).subarray(from)
      if (left === 0)
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
      const written = writeSync(fd, whole, 0, Math.min(left, whole.length))
      left -= written
      return written
    },
  })
}

/** @param fails whether synchronising this file fails @returns the synchronised paths, and a function that restores the calls */
export function watchAllSyncs(fails: (path: string) => boolean = () => false): {
  readonly synced: string[]
  readonly mend: () => void
} {
  const synced: string[] = []
  const { fsyncSync, fdatasyncSync } = system
  const verdict = (fd: number): Error | null => {
    const path = pathOf(fd)
    if (fails(path)) return Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO', syscall: 'fdatasync' })
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
  const mend = replace({
    fsyncSync: now(fsyncSync),
    fdatasyncSync: now(fdatasyncSync),
    fdatasync: (fd: number, done: (error: Error | null) => void) => setImmediate(done, verdict(fd)),
  })
  return { synced, mend }
}

function pathOf(fd: number): string {
  return readlinkSync(`/proc/self/fd/${fd}`)
}
