/** One running service a file: two would write over each other, and number their records alike. */
import { randomBytes } from 'node:crypto'
import { closeSync, constants, lstatSync, readFileSync, realpathSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createFile, openPrivate, readAtMost } from '../../shared/safe-files.js'
import { ensureFolderOf } from '../../shared/safe-folders.js'
import { IngestServiceError } from '../ingest-service-error.js'
import { isObject } from '../ingest/validators.js'
import { createStoreError } from './store-error.js'

interface Holder {
  readonly pid: number
  /** Ticks since boot; a process id is given out again. Null where the system does not tell. */
  readonly started: string | null
}

/** A lock is made and filled in two steps; one that stays empty for longer is of a process that died between them. */
const FILLING_MS = 5000
/** Of the 52 fields of `/proc/PID/stat`, behind the name in parentheses: `starttime` (proc(5)). */
const START_TIME_FIELD = 19
const GONE = 'gone'
/** Lock files are about 40 bytes. */
const MAX_LOCK_BYTES = 4096

/** Of this process, which two services may share. */
const held = new Set<string>()

export class FileLock {
  readonly #path: string

  /** @throws IngestServiceError `STORE` where another service holds the file, or its folder cannot be written. */
  constructor(file: string) {
    try {
      this.#path = `${trueName(file, ensureFolderOf(file))}.lock`
      this.#take(file)
    } catch (error) {
      throw createStoreError(file, error)
    }
  }

  release(): void {
    if (held.delete(this.#path)) rmSync(this.#path, { force: true })
  }

  #take(file: string): void {
    for (;;) {
      if (create(this.#path)) break
      const text = read(this.#path)
      if (text === undefined) continue
      const holder = holderOf(text)
      if (holder === undefined ? isFresh(this.#path) : isRunning(holder, this.#path)) {
        const who = holder === undefined ? '' : ` (process ${holder.pid})`
        throw new IngestServiceError(
          'STORE',
          `${file} is in use by another local service${who}: end that one, or name another file`,
        )
      }
      clearAway(this.#path, text)
    }
    held.add(this.#path)
  }
}

function create(path: string): boolean {
  let fd: number
  try {
    fd = createFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  try {
    writeSync(fd, JSON.stringify({ pid: process.pid, started: startOf(process.pid) } satisfies Holder))
  } finally {
    closeSync(fd)
  }
  return true
}

/** What a process left behind that is gone. Somebody else may do the same, and already hold it again: then it is put back. */
function clearAway(path: string, text: string): void {
  const aside = `${path}.${randomBytes(8).toString('hex')}`
  try {
    renameSync(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  if (read(aside) === text) rmSync(aside, { force: true })
  else renameSync(aside, path)
}

function isRunning({ pid, started }: Holder, path: string): boolean {
  // As in a container, where each start has the same id.
  if (pid === process.pid) return held.has(path)
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const now = startOf(pid)
  return now !== GONE && (started === null || now === null || started === now)
}

function holderOf(text: string): Holder | undefined {
  try {
    const value = JSON.parse(text) as unknown
    if (!isObject(value) || !Number.isSafeInteger(value['pid']) || (value['pid'] as number) < 1) return undefined
    return { pid: value['pid'] as number, started: typeof value['started'] === 'string' ? value['started'] : null }
  } catch {
    return undefined
  }
}

function isFresh(path: string): boolean {
  const { mtimeMs } = lstatSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
  return Date.now() - mtimeMs < FILLING_MS
}

/** GONE for one that has ended and stays listed until its parent asks for it. */
function startOf(pid: number): string | null {
  const stat = process.platform === 'linux' ? unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) : undefined
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return fields[0] === 'Z' || fields[0] === 'X' ? GONE : (fields[START_TIME_FIELD] ?? null)
}

/** Undefined where it is not there; what is too long names no holder. @throws UnsafeError, the system's errors */
function read(path: string): string | undefined {
  return unlessGone(() => {
    const fd = openPrivate(path, constants.O_RDONLY)
    try {
      return readAtMost(fd, MAX_LOCK_BYTES)?.toString() ?? ''
    } finally {
      closeSync(fd)
    }
  })
}

function unlessGone(act: () => string): string | undefined {
  try {
    return act()
  } catch (error) {
    // ESRCH: the process ended while its file was read.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** One lock for all the names that a file has by symbolic links. */
function trueName(file: string, folder: string): string {
  try {
    return realpathSync(file)
  } catch {
    // It is not there yet.
    return join(folder, basename(file))
  }
}
