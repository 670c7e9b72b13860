/** Where spools lie, and what a destination's folder is called. */
import { createHash } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { ownUid, syncFolder } from '../shared/safe-files.js'
import { ensureFolder, ensureNamedRoot } from '../shared/safe-folders.js'

/** A folder for each user in the system's folder for temporary files. */
export function defaultRoot(): string {
  return join(tmpdir(), `pino-ingest-${userTag()}`)
}

/** What tells users of one machine apart. */
function userTag(): string {
  return ownUid === undefined ? userInfo().username.replaceAll(/[^\w-]/g, '_') : String(ownUid)
}

/** Short, and no way back to the key: who sends with one key never sends what was logged under another. */
export function destinationName(url: string, apiKey: string): string {
  return createHash('sha256').update(`${url}\n${apiKey}`).digest('hex').slice(0, 16)
}

/**
 * @param isNamed whether the user named it
 * @returns the folders that were created, the outermost first
 * @throws the system's errors, UnsafeError
 */
export function ensureRoot(root: string, isNamed: boolean): readonly string[] {
  if (isNamed) return ensureNamedRoot(root)
  return ensureFolder(root) ? [root] : []
}

/**
 * The folder of a destination, with the root around it.
 * @param isPowerSafe whether what is created outlasts a power failure
 * @throws the system's errors, UnsafeError
 */
export function ensureDestination(root: string, destination: string, { isNamed, isPowerSafe }: { readonly isNamed: boolean, readonly isPowerSafe: boolean }): void {
  const created = [...ensureRoot(root, isNamed), ...(ensureFolder(destination) ? [destination] : [])]
  if (isPowerSafe) for (const folder of created) syncFolder(dirname(folder))
}
