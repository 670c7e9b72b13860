/** Claims one instance folder by renaming it into a folder of this process. An application claims all free folders this way. */
import { renameSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { ensureFolder } from '../../shared/safe-folders.js'
import { LEFT } from '../../spool/disk-format.js'
import type { FoundInstance } from '../../spool/inspect.js'
import type { InstanceFolder } from '../../spool/instance/instance-folder.js'
import { isAbandoned, isLeaseExpired } from '../../spool/instance/ownership.js'
import type { Machine } from '../../spool/instance/ownership.js'

/** The new path, or the reason why the folder was not claimed. */
export type Claim = { readonly path: string } | { readonly reason: string }

/**
 * Never throws.
 * @param owner a folder in the same destination: if this process is killed, the entries still belong to the same key
 * @param suffix added to the name; `.left` lets this process read it to the end
 */
export function claimInstance(
  owner: InstanceFolder,
  root: string,
  machine: Machine,
  found: FoundInstance,
  suffix: '' | typeof LEFT,
): Claim {
  const destination = join(root, found.destination)
  const [top = ''] = relative(destination, found.path).split(sep)
  try {
    // Checked again: time has passed since the folder was listed.
    const isFree =
      top.endsWith(LEFT) ||
      isAbandoned(join(destination, top), machine, (folder) => isLeaseExpired(folder, owner.renew()))
    if (!isFree) return { reason: describeHolder(found) }
    const path = join(owner.claimedPath, found.name + suffix)
    ensureFolder(owner.claimedPath)
    renameSync(found.path, path)
    return { path }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { reason: 'another process has claimed it' }
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}

/** @returns the reason why an instance is not free */
export function describeHolder({ state, pid, claimedBy }: FoundInstance): string {
  if (state === 'claimed') return `it is held by ${claimedBy}, whose process is running`
  return `it is held by a running process${pid === undefined ? '' : ` (pid ${pid})`}`
}
