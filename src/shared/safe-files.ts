/** Opens files that only this user can create, write or replace. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import type { BigIntStats, Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const FILE_MODE = 0o600
const WRITABLE_BY_OTHERS = 0o022
/** Largest file with a key, a token or certificates. */
const MAX_SETTING_BYTES = 2 ** 20
const TEMPORARY_NAME = /^[0-9a-f]+\.tmp$/
/** Undefined on Windows, where owner and mode have no meaning. */
export const ownUid = process.getuid?.()

/** A file or folder is not safe to use, for the reason in the message. Its `code` is not a system error code. */
export class UnsafeError extends Error {
  override readonly name = 'UnsafeError'
  readonly code = 'UNSAFE'
}

/** The reason why `readRegularFile` failed: a system error code, or why the file is refused. Never the path. */
export function describeReadError(error: unknown): string {
  return error instanceof UnsafeError ? error.message : ((error as NodeJS.ErrnoException).code ?? 'unknown error')
}

/**
 * Opens a regular file of this user in a folder that only this user can write to. Does not follow symbolic links and
 * does not block.
 * @param flags `O_CREAT` creates it with mode 0600
 * @throws UnsafeError for anything else; the system's errors
 */
export function openOwn(path: string, flags: number): number {
  return open(path, flags, ownershipProblem)
}

/**
 * As `openOwn`, for folders that other users can also write to: the file must have a single hard link and must not be
 * writable by other users.
 * @throws UnsafeError, the system's errors
 */
export function openPrivate(path: string, flags: number): number {
  return open(path, flags, privacyProblem)
}

/** Creates a file and opens it for appending. @throws `EEXIST` if the path exists; the system's other errors */
export function createFile(path: string): number {
  return openOwn(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL)
}

function open(path: string, flags: number, problemOf: (stats: Stats) => string | undefined): number {
  // Windows has no O_NOFOLLOW.
  if (constants.O_NOFOLLOW === undefined && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw new UnsafeError(`${path} is a symbolic link`)
  let fd: number
  try {
    // O_NONBLOCK, because opening a FIFO would wait for its other end.
    fd = openSync(path, flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0), FILE_MODE)
  } catch (error) {
    // The codes ELOOP, ENXIO, EISDIR and EACCES do not tell which kind of file exists at the path.
    const alreadyExists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const stats = alreadyExists ? undefined : lstatSync(path, { throwIfNoEntry: false })
    const problem = stats && problemOf(stats)
    throw problem === undefined ? error : new UnsafeError(`${path} ${problem}`)
  }
  const problem = problemOf(fstatSync(fd))
  if (problem === undefined) return fd
  closeSync(fd)
  throw new UnsafeError(`${path} ${problem}`)
}

/**
 * Writes all bytes, in several calls if the system writes only a part. On an error it truncates the file to its
 * previous size if possible, so later writes do not follow a partial record.
 * @throws the system's errors
 */
export function writeAll(fd: number, bytes: Uint8Array): void {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(fd, bytes, written)
  } catch (error) {
    try {
      if (written > 0) ftruncateSync(fd, fstatSync(fd).size - written)
    } catch {
      // Ignored: the error of the write is thrown, and readers skip a partial record.
    }
    throw error
  }
}

/** @returns undefined for a regular file of this user; otherwise the reason as a predicate (`is a FIFO`) */
function ownershipProblem(stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return 'is a symbolic link'
  if (stats.isFIFO()) return 'is a FIFO'
  if (stats.isDirectory()) return 'is a folder'
  if (!stats.isFile()) return 'is not a regular file'
  return isOwn(stats) ? undefined : `is not a file of this user: it belongs to uid ${stats.uid}`
}

function privacyProblem(stats: Stats): string | undefined {
  const problem = ownershipProblem(stats)
  if (problem !== undefined) return problem
  if (stats.nlink > 1) return `has ${stats.nlink} names (hard links)`
  const isOpenToOthers = ownUid !== undefined && (stats.mode & WRITABLE_BY_OTHERS) !== 0
  return isOpenToOthers ? `can be written by others (mode ${formatMode(stats)})` : undefined
}

/** Whether the file or folder belongs to this user; true where there are no user ids. */
export function isOwn({ uid }: Stats): boolean {
  return ownUid === undefined || uid === ownUid
}

/** Four octal digits. */
export function formatMode({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}

/** The whole file, or undefined if it has more than `maxBytes`. @throws the system's errors */
export function readAtMost(fd: number, maxBytes: number): Buffer | undefined {
  return fstatSync(fd).size > maxBytes ? undefined : readFileSync(fd)
}

/**
 * Follows symbolic links, as secrets are mounted in containers. Does not wait for the writer of a FIFO.
 * @throws UnsafeError without the path, for anything but a regular file of at most 1 MiB; the system's errors
 */
export function readRegularFile(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    if (!fstatSync(fd).isFile()) throw new UnsafeError('not a regular file')
    const bytes = readAtMost(fd, MAX_SETTING_BYTES)
    if (bytes === undefined) throw new UnsafeError('larger than 1 MiB')
    return bytes.toString()
  } finally {
    closeSync(fd)
  }
}

/**
 * Creates or replaces a file: writes it under a random name in the same folder, synchronizes it and renames it.
 * @param write gets the new file's descriptor, opened for appending
 * @returns that descriptor; the path then refers to the written file
 * @throws the errors of `write`, UnsafeError, the system's errors, after deleting the temporary file
 */
export function replaceFile(path: string, write: (fd: number) => void): number {
  const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`
  const fd = createFile(temporary)
  try {
    write(fd)
    fsyncSync(fd)
    renameSync(temporary, path)
    // A user who may write to the folder can replace the temporary file before it is renamed.
    if (!isSameFile(fstatSync(fd, { bigint: true }), lstatSync(path, { bigint: true })))
      throw new UnsafeError(`${path} was replaced by another process while it was written`)
    syncFolder(dirname(path))
    return fd
  } catch (error) {
    closeSync(fd)
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Deletes temporary files left by processes that were killed in `replaceFile`. @throws the system's errors */
export function removeTemporaries(path: string): void {
  const folder = dirname(path)
  const start = `${basename(path)}.`
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(start) || !TEMPORARY_NAME.test(name.slice(start.length))) continue
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false })
    if (stats !== undefined && ownershipProblem(stats) === undefined) rmSync(join(folder, name), { force: true })
  }
}

/** Whether both describe one file. */
export function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino
}

/** Windows renames and deletes no folder with a file that is open, and reports that with one of these codes. */
const IN_USE: readonly unknown[] = ['EPERM', 'EACCES', 'EBUSY']

/** Whether the system refused a change because the file, or one in the folder, is open. */
export function isInUse(error: unknown, platform: NodeJS.Platform | undefined): boolean {
  return platform === 'win32' && IN_USE.includes((error as NodeJS.ErrnoException).code)
}

/** Windows and some network file systems cannot synchronize folders. */
const CANNOT_SYNC_FOLDERS: readonly unknown[] = ['EPERM', 'EACCES', 'EISDIR', 'EINVAL', 'ENOTSUP']

/** Makes the names in a folder survive a power failure, if the system supports it. @throws the system's other errors */
export function syncFolder(path: string): void {
  let fd: number | undefined
  try {
    fd = openSync(path, constants.O_RDONLY)
    fsyncSync(fd)
  } catch (error) {
    if (!CANNOT_SYNC_FOLDERS.includes((error as NodeJS.ErrnoException).code)) throw error
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/**
 * Closes a descriptor. If closing fails (quota, network file systems), previous writes may be lost; the error is
 * reported, never thrown.
 */
export function closeQuietly(fd: number, onError: (error: unknown) => void): void {
  try {
    closeSync(fd)
  } catch (error) {
    onError(error)
  }
}
