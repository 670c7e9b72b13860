/** The root folder of spools, and the names of destination folders. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { DESTINATION_NAME, KEY_REJECTED, KEY_REPLACED } from './disk-format.js'
import { listNames } from './spool-files.js'
import { ownUid, syncFolder } from '../shared/safe-files.js'

import { ensureFolder, ensureNamedRoot } from '../shared/safe-folders.js'

/** A folder for each user in the system's folder for temporary files. */
export function findDefaultRoot(): string {
  return join(tmpdir(), `pino-ingest-${userTag()}`)
}

/** Identifies the user on this machine. */
function userTag(): string {
  return ownUid === undefined ? userInfo().username.replaceAll(/[^\w-]/g, '_') : String(ownUid)
}

/**
 * A short hash from which the key cannot be recovered. Each key has its own folder, so entries are sent only with the
 * key with which they were logged.
 */
export function nameDestination(url: string, apiKey: string): string {
  return createHash('sha256').update(`${url}\n${apiKey}`).digest('hex').slice(0, 16)
}

/** Name of the marker in the folder of a destination whose key the service at this URL rejected. */
export function nameKeyRejected(url: string): string {
  return `${KEY_REJECTED}${nameDestination(url, '')}`
}

/** Name of the marker in the folder of a former key's destination. @param folder of the new key's destination */
export function nameKeyReplaced(folder: string): string {
  return KEY_REPLACED + basename(folder)
}

/**
 * Adds the folders of keys that a running process replaced by the key of one of `destinations`, directly or in several
 * steps. @throws the system's errors
 */
export function addReplacedDestinations(root: string, destinations: string[]): void {
  const others = listNames(root)
    .filter((name) => DESTINATION_NAME.test(name))
    .map((name) => join(root, name))
  // The loop extends `destinations`.
  for (const destination of destinations) {
    const marker = nameKeyReplaced(destination)
    for (const other of others)
      if (!destinations.includes(other) && existsSync(join(other, marker))) destinations.push(other)
  }
}

/**
 * Creates the root if it is missing.
 * @param isNamed whether the user configured the path
 * @returns the created folders, the outermost first
 * @throws the system's errors, UnsafeError
 */
export function ensureRoot(root: string, isNamed: boolean): readonly string[] {
  if (isNamed) return ensureNamedRoot(root)
  return ensureFolder(root) ? [root] : []
}

/**
 * Creates the folder of a destination, and the root, if they are missing.
 * @param isPowerSafe whether created folders must survive a power failure
 * @throws the system's errors, UnsafeError
 */
export function ensureDestination(
  root: string,
  destination: string,
  { isNamed, isPowerSafe }: { readonly isNamed: boolean; readonly isPowerSafe: boolean },
): void {
  const created = [...ensureRoot(root, isNamed), ...(ensureFolder(destination) ? [destination] : [])]
  if (isPowerSafe) for (const folder of created) syncFolder(dirname(folder))
}
