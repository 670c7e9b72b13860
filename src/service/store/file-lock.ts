/** Locks a journal for one running service: two services would overwrite each other's records. `FILE.lock` has the process id. */
import { randomUUID } from 'node:crypto'
import { closeSync, constants, lstatSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { createFile, openPrivate, readAtMost } from '../../shared/safe-files.js'
import { IngestServiceError } from '../ingest-service-error.js'
import { createStoreError } from './store-file.js'
import type { StoreFile } from './store-file.js'

const MAX_LOCK_BYTES = 4096

/** Locks held by this copy of the module, for systems without process start times. */
const held = new Set<string>()

export class FileLock {
  readonly #path: string
  readonly #text = `${process.pid} ${readStartTime(process.pid) ?? '-'} ${randomUUID()}`

  /** @throws IngestServiceError `STORE` if another service holds the file, or its folder cannot be written. */
  constructor({ name, path }: StoreFile) {
    this.#path = `${path}.lock`
    try {
      this.#take(name)
    } catch (error) {
      throw createStoreError(name, error)
    }
  }

  release(): void {
    held.delete(this.#path)
    if (read(this.#path) === this.#text) rmSync(this.#path, { force: true })
  }

  #take(name: string): void {
    while (!create(this.#path, this.#text)) {
      const text = read(this.#path)
      if (text === undefined) continue
      if (isHeld(this.#path, text)) {
        const advice = `stop it or use another file; delete ${this.#path} if no local service uses ${name}`
        throw new IngestServiceError(
          'STORE',
          `${name} is in use by another local service (process ${Number(text.split(' ')[0]) || 'unknown'}): ${advice}`,
        )
      }
      removeStale(this.#path, text)
    }
    held.add(this.#path)
  }
}

function create(path: string, text: string): boolean {
  let fd: number
  try {
    fd = createFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  try {
    writeSync(fd, text)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(fd)
  }
  return true
}

/** @returns undefined if the file does not exist @throws UnsafeError and system errors */
function read(path: string): string | undefined {
  let fd: number
  try {
    fd = openPrivate(path, constants.O_RDONLY)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return readAtMost(fd, MAX_LOCK_BYTES)?.toString() ?? ''
  } finally {
    closeSync(fd)
  }
}

function isHeld(path: string, text: string): boolean {
  const [id = '', startTime = '-'] = text.split(' ')
  const pid = Number(id)
  // Without a process id, another process is still writing it.
  if (!Number.isSafeInteger(pid) || pid < 1)
    return Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < 10_000
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  // After a restart another process can have the same id; in a container it is often this process.
  const now = readStartTime(pid)
  return startTime === '-' || now === undefined ? pid !== process.pid || held.has(path) : now === startTime
}

/** Start time of a process in clock ticks since boot; undefined without `/proc`. */
function readStartTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

/** Removes a stale lock. If another process has replaced it meanwhile, restores that process's lock. */
function removeStale(path: string, text: string): void {
  const aside = `${path}.${randomUUID()}`
  try {
    renameSync(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  if (read(aside) === text) rmSync(aside, { force: true })
  else renameSync(aside, path)
}
