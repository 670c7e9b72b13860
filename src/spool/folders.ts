/** Folders and files that nobody else can read, replace or redirect. */
import { chmodSync, closeSync, constants, fstatSync, fsyncSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { userInfo } from 'node:os'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
const OTHERS = 0o077
/** Where there are no user ids (Windows), owner and mode say nothing. */
const ownUid = process.getuid?.()

/** Something in the way of safety; its `code` is not one of the system's. */
export class UnsafeError extends Error {
  override readonly name = 'UnsafeError'
  readonly code = 'UNSAFE'
}

/** For the name of the default root: what tells users of one machine apart. */
export function userTag(): string {
  return ownUid === undefined ? userInfo().username.replaceAll(/[^\w-]/g, '_') : String(ownUid)
}

/**
 * Makes the folder where it is missing, with 0700, and checks it where it is not.
 * @throws UnsafeError for a symbolic link or another user's folder
 */
export function ensureFolder(path: string): void {
  if (!isMissing(path)) return checkOwnFolder(path)
  try {
    mkdirSync(path, { mode: FOLDER_MODE })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    // Another instance was quicker.
  }
  checkOwnFolder(path)
}

/**
 * A root that the user named. It may be a mount that root owns and that others use as well: what we make inside is closed
 * to them. Who could replace a folder in it could still redirect us, so the README asks for one of its own.
 * @throws UnsafeError for a symbolic link or another user's folder
 */
export function ensureNamedRoot(path: string): void {
  if (isMissing(path)) mkdirSync(path, { mode: FOLDER_MODE, recursive: true })
  checkNamedRoot(path)
}

/** As `ensureNamedRoot`, and makes nothing. @throws UnsafeError; the system's error where there is none */
export function checkNamedRoot(path: string): void {
  const stats = checkFolder(path)
  if (!isOwn(stats) && stats.uid !== 0) throw new UnsafeError(`${path} belongs to another user (uid ${stats.uid})`)
}

function checkOwnFolder(path: string): void {
  const stats = checkFolder(path)
  if (!isOwn(stats)) throw new UnsafeError(`${path} belongs to another user (uid ${stats.uid})`)
  // Ours, but open to others: a umask or a copy made it so, and closing it is what the user would do.
  if (ownUid !== undefined && (stats.mode & OTHERS) !== 0) chmodSync(path, FOLDER_MODE)
}

function checkFolder(path: string): Stats {
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) throw new UnsafeError(`${path} is a symbolic link`)
  if (!stats.isDirectory()) throw new UnsafeError(`${path} is not a folder`)
  return stats
}

/** Whether what others have made may be looked into. False where there is nothing. */
export function isOwnFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats !== undefined && stats.isDirectory() && isOwn(stats)
}

function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined
}

/** @throws UnsafeError for what is not a regular file of our own; the system's errors */
export function openOwn(path: string, flags: number): number {
  // O_NONBLOCK: a FIFO in a file's place would be waited for without end.
  const fd = openSync(path, flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0), FILE_MODE)
  const stats = fstatSync(fd)
  if (stats.isFile() && isOwn(stats)) return fd
  closeSync(fd)
  throw new UnsafeError(`${path} is not a file of this user`)
}

/** A new file that nobody else has put there. */
export function createFile(path: string): number {
  return openOwn(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL)
}

/** Not every system synchronises folders: Windows does not, nor do some network file systems. */
const CANNOT_SYNC_FOLDERS: readonly unknown[] = ['EPERM', 'EACCES', 'EISDIR', 'EINVAL', 'ENOTSUP']

/** Makes the names in a folder outlast a power failure, where the system can. @throws the system's other errors */
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

/** A close can fail, too (quota, network file systems), and what was written before is lost then: told, never thrown. */
export function closeQuietly(fd: number, onError: (error: unknown) => void): void {
  try {
    closeSync(fd)
  } catch (error) {
    onError(error)
  }
}

function isOwn({ uid }: Stats): boolean {
  return ownUid === undefined || uid === ownUid
}
