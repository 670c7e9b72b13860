/** Folders that no other user can replace or redirect. */
import { chmodSync, lstatSync, mkdirSync, realpathSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { UnsafeError, isOwn, formatMode, ownUid } from './safe-files.js'

const FOLDER_MODE = 0o700
const OTHERS = 0o077
const WRITABLE_BY_ALL = 0o002
const STICKY = 0o1000

/**
 * Creates a folder and its missing parents with mode 0700, one level at a time. Node's recursive `mkdir` never returns
 * if the system reports ENOENT in an existing folder, as in `/proc`.
 * @returns the created folders, the outermost first
 * @throws the system's error, with its code; the message has the whole path
 */
export function createFolders(path: string): readonly string[] {
  const missing: string[] = []
  try {
    for (let at = resolve(path); isMissing(at); at = dirname(at)) {
      missing.unshift(at)
      if (at === dirname(at)) break // a missing drive
    }
    return missing.filter(createFolder)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw Object.assign(new Error(`cannot create the folder ${path} (${code ?? message})`, { cause: error }), { code })
  }
}

/** @returns false if another process created it in the meantime */
function createFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: FOLDER_MODE })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

/**
 * Creates a missing folder with mode 0700, or checks an existing one.
 * @returns whether it was created
 * @throws UnsafeError for a symbolic link or another user's folder; the system's errors, also if its parent is missing
 */
export function ensureFolder(path: string): boolean {
  const isNew = isMissing(path) && createFolder(path)
  checkOwnFolder(path)
  return isNew
}

/**
 * Creates or checks a root that the user configured, with its parents. It may be a mount that root owns and other users
 * share: they cannot read the folders created in it. If this user owns it, it gets the sticky bit, so others cannot
 * rename or delete those folders. If root does, they can: docs/spool.md recommends a separate folder.
 * @returns the created folders, the outermost first
 * @throws UnsafeError for a symbolic link or another user's folder; the system's errors
 */
export function ensureNamedRoot(path: string): readonly string[] {
  const created = createFolders(path)
  checkNamedRoot(path)
  setStickyBit(path)
  return created
}

/** As `ensureNamedRoot`, but creates nothing. @throws UnsafeError; the system's error if there is no root */
export function checkNamedRoot(path: string): void {
  const stats = checkFolder(path)
  if (!isOwn(stats) && stats.uid !== 0) throw new UnsafeError(`${path} belongs to another user (uid ${stats.uid})`)
}

/**
 * Creates the folder of a file that the user configured, with its parents, if it is missing. The folder must belong to
 * this user or to root. Other users may write to it if the sticky bit prevents them from replacing the file, as in
 * `/tmp`.
 * @returns the file's absolute path, with the links in the folder's path resolved, since they could be replaced later
 * @throws UnsafeError; the system's errors
 */
export function resolveInSafeFolder(file: string): string {
  const path = resolve(file)
  createFolders(dirname(path))
  const folder = realpathSync(dirname(path))
  checkNamedRoot(folder)
  const stats = lstatSync(folder)
  if (!isReplaceable(stats)) return join(folder, basename(path))
  throw new UnsafeError(`every user can replace files in ${folder} (mode ${formatMode(stats)})`)
}

function setStickyBit(path: string): void {
  const stats = lstatSync(path)
  if (!isReplaceable(stats) || !isOwn(stats)) return
  try {
    chmodSync(path, (stats.mode & 0o7777) | STICKY)
  } catch {
    // Some mounts have fixed modes. Without the bit others can delete the folders in it, but not read them.
  }
}

/** Whether every user can replace the files of others in the folder. */
function isReplaceable({ mode }: Stats): boolean {
  return ownUid !== undefined && (mode & WRITABLE_BY_ALL) !== 0 && (mode & STICKY) === 0
}

function checkOwnFolder(path: string): void {
  const stats = checkFolder(path)
  if (!isOwn(stats)) throw new UnsafeError(`${path} belongs to another user (uid ${stats.uid})`)
  // Restrict our own folder if it is open to others, for example because of a copy.
  if (ownUid !== undefined && (stats.mode & OTHERS) !== 0) chmodSync(path, FOLDER_MODE)
}

function checkFolder(path: string): Stats {
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) throw new UnsafeError(`${path} is a symbolic link`)
  if (!stats.isDirectory()) throw new UnsafeError(`${path} is not a folder`)
  return stats
}

/** Whether the path is a folder of this user. False if it does not exist. */
export function isOwnFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats !== undefined && stats.isDirectory() && isOwn(stats)
}

function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined
}
