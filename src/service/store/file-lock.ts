/** One running service per journal: two would overwrite each other's records. `FILE.lock` contains the process id. */
import { randomUUID } from 'node:crypto'
import { closeSync, constants, realpathSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createFile, openPrivate, readAtMost } from '../../shared/safe-files.js'
import { ensureFolderOf } from '../../shared/safe-folders.js'
import { IngestServiceError } from '../ingest-service-error.js'
import { createStoreError } from './store-error.js'

const MAX_LOCK_BYTES = 4096

/** Locks of this process, in which two services may run. */
const held = new Set<string>()

export class FileLock {
  readonly #path: string

  /** @throws IngestServiceError `STORE` if another service holds the file, or its folder cannot be written. */
  constructor(file: string) {
    try {
      this.#path = `${resolveLinks(file, ensureFolderOf(file))}.lock`
      this.#take(file)
    } catch (error) {
      throw createStoreError(file, error)
    }
  }

  release(): void {
    if (held.delete(this.#path)) rmSync(this.#path, { force: true })
  }

  #take(file: string): void {
    while (!create(this.#path)) {
      const text = read(this.#path)
      if (text === undefined) continue
      if (isHeld(this.#path, text)) {
        const advice = `end it or name another file; delete ${this.#path} if no local service uses ${file}`
        throw new IngestServiceError(
          'STORE',
          `${file} is in use by another local service (process ${Number(text) || 'unknown'}): ${advice}`,
        )
      }
      removeStale(this.#path, text)
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
    writeSync(fd, String(process.pid))
  } finally {
    closeSync(fd)
  }
  return true
}

/** Undefined if it does not exist. @throws UnsafeError, the system's errors */
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

/** A lock without a process id counts as held: it may be being written. */
function isHeld(path: string, text: string): boolean {
  const pid = Number(text)
  if (!Number.isSafeInteger(pid) || pid < 1) return true
  // In a container each start may have the same process id.
  if (pid === process.pid) return held.has(path)
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Another process may do the same and already hold the lock: then the file is restored. */
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

/** Resolves symbolic links, so that there is one lock per file. */
function resolveLinks(file: string, folder: string): string {
  try {
    return realpathSync(file)
  } catch {
    // The file does not exist yet.
    return join(folder, basename(file))
  }
}
