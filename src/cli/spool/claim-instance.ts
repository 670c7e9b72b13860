/** Claims one instance folder by renaming it into a folder of this process. An application claims all free folders this way. */
import { dirname, join, relative, sep } from 'node:path'
import { LEFT } from '../../spool/disk-format.js'
import type { FoundInstance } from '../../spool/inspect.js'
import { claimFolder } from '../../spool/instance/claims.js'
import type { InstanceFolder } from '../../spool/instance/instance-folder.js'
import { isAbandoned, isLeaseExpired } from '../../spool/instance/ownership.js'
import type { Machine } from '../../spool/instance/ownership.js'

/**
 * @param owner a folder in the same destination: if this process is killed, the entries still belong to the same key
 * @returns the new path
 * @throws an error that says why it was not claimed
 */
export function claimInstance(owner: InstanceFolder, machine: Machine, found: FoundInstance): string {
  if (owner.claimedInPlace?.from === found.path) return owner.path
  const destination = dirname(owner.path)
  const [top = ''] = relative(destination, found.path).split(sep)
  try {
    // Checked again: time has passed since the folder was listed.
    const isFree =
      top.endsWith(LEFT) ||
      isAbandoned(join(destination, top), machine, (folder) => isLeaseExpired(folder, owner.renew()))
    if (!isFree) throw new Error(describeHolder(found))
    return claimFolder(found.path, owner)
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Error('another process has claimed it') : error
  }
}

/** @returns the reason why an instance is not free */
export function describeHolder({ state, pid, claimedBy }: FoundInstance): string {
  if (state === 'claimed') return `it is held by ${claimedBy}, whose process is running`
  return `it is held by a running process${pid === undefined ? '' : ` (pid ${pid})`}`
}
