/** One running service a file: two would write over each other, and number their records alike. */
import { closeSync, mkdirSync, openSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { IngestServiceError } from '../errors.js'
import { isObject } from '../rules.js'

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

/** Of this process, which two services may share. */
const held = new Set<string>()

export class FileLock {
  readonly #path: string

  /** @throws IngestServiceError `STORE` where another service holds the file, or its folder cannot be written. */
  constructor(file: string) {
    try {
      mkdirSync(dirname(file), { recursive: true })
      this.#path = `${trueName(file)}.lock`
      this.#take(file)
    } catch (error) {
      if (error instanceof IngestServiceError) throw error
      throw new IngestServiceError('STORE', `cannot use the store's file ${file}: ${(error as Error).message}`, error)
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
        throw new IngestServiceError('STORE', `${file} is in use by another local service${who}: end that one, or name another file`)
      }
      clearAway(this.#path, text)
    }
    held.add(this.#path)
  }
}

function create(path: string): boolean {
  let fd: number
  try {
    fd = openSync(path, 'wx', 0o600)
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
  const aside = `${path}.${process.pid}`
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
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
  return Date.now() - mtimeMs < FILLING_MS
}

/** GONE for one that has ended and stays listed until its parent asks for it. */
function startOf(pid: number): string | null {
  const stat = process.platform === 'linux' ? read(`/proc/${pid}/stat`) : undefined
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return fields[0] === 'Z' || fields[0] === 'X' ? GONE : fields[START_TIME_FIELD] ?? null
}

/** Undefined where it is not there. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // ESRCH: the process ended while its file was read.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** One lock for all the names that a file has by links. */
function trueName(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    // It is not there yet.
    return join(realpathSync(dirname(file)), basename(file))
  }
}
