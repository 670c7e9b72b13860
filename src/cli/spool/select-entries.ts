/** Selects instances and dead letters by an ID from the command line, and claims instances. */
import { dirname, join, relative, sep } from 'node:path'
import { LEFT } from '../../spool/disk-format.js'
import type { FoundInstance } from '../../spool/inspect.js'
import { claimFolder } from '../../spool/instance/claims.js'
import type { InstanceFolder } from '../../spool/instance/instance-folder.js'
import { isAbandoned, isLeaseExpired } from '../../spool/instance/ownership.js'
import type { Machine } from '../../spool/instance/ownership.js'
import type { FoundFile } from '../../spool/spool-files.js'
import { CommandError, EXIT_FAILED } from '../shared/command.js'
import type { SpoolLocation } from './locate-spool.js'

export interface FoundDeadLetterFile extends FoundFile {
  readonly destination: string
}

export interface Selection {
  /** An instance is followed by the instances that it has claimed. */
  readonly instances: readonly FoundInstance[]
  readonly deadLetters: readonly FoundDeadLetterFile[]
}

const DEAD = 'dead'
const MAX_NAMES_SHOWN = 5

function selectAll({ destinations }: Pick<SpoolLocation, 'destinations'>): Selection {
  return {
    instances: destinations.flatMap(({ instances }) => instances),
    deadLetters: destinations.flatMap(({ name: destination, deadLetters }) =>
      deadLetters.map((file) => ({ ...file, destination })),
    ),
  }
}

/**
 * @param id name of an instance or a destination, a unique prefix of one, or `dead`; undefined for all
 * @throws CommandError if it is unknown or a prefix of several names
 */
export function select(location: Pick<SpoolLocation, 'root' | 'destinations'>, id: string | undefined): Selection {
  const all = selectAll(location)
  if (id === undefined) return all
  const { instances, deadLetters } = all
  if (id === DEAD) return { instances: [], deadLetters }
  const wanted = id.replace(/\.(?:live|left)$/, '')
  const names = [...new Set([...instances, ...location.destinations].map(({ name }) => name))]
  const matching = names.includes(wanted) ? [wanted] : names.filter((name) => wanted !== '' && name.startsWith(wanted))
  const [name] = matching
  if (name === undefined) {
    const advice = isBatchId(wanted)
      ? 'a batch can be shown, but not replayed or purged alone: pass its instance'
      : 'pino-ingest spool ls lists all names'
    throw new CommandError('SPOOL', `${id} was not found in ${location.root}; ${advice}`, EXIT_FAILED)
  }
  if (matching.length > 1) {
    const shown = matching.slice(0, MAX_NAMES_SHOWN).join(', ') + (matching.length > MAX_NAMES_SHOWN ? ', …' : '')
    throw new CommandError('SPOOL', `${id} is a prefix of ${matching.length} names: ${shown}`, EXIT_FAILED)
  }
  const holders = instances.filter((instance) => instance.name === name)
  return {
    instances: instances.filter(
      (one) => one.destination === name || holders.some((holder) => one === holder || isWithin(one, holder)),
    ),
    deadLetters: deadLetters.filter(({ destination }) => destination === name),
  }
}

/** Removes instances claimed by another listed instance, since claiming an instance includes the ones that it has claimed. */
export function findOutermost(instances: readonly FoundInstance[]): FoundInstance[] {
  return instances.filter((one) => !instances.some((other) => isWithin(one, other)))
}

export function isWithin(one: FoundInstance, other: FoundInstance): boolean {
  return one.path.startsWith(other.path + sep)
}

export function isBatchId(id: string): boolean {
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)
}

/**
 * Claims one instance folder by renaming it into a folder of this process. An application claims all free folders this way.
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

export interface Held {
  readonly name: string
  readonly reason: string
  /** Whether a running process owns it and will send it. */
  readonly isInUse: boolean
}

export function listHeld({ instances }: Pick<Selection, 'instances'>): Held[] {
  return findOutermost(instances)
    .filter(({ isFree }) => !isFree)
    .map((one) => ({ name: one.name, reason: describeHolder(one), isInUse: true }))
}

function describeHolder({ state, pid, claimedBy }: FoundInstance): string {
  if (state === 'claimed') return `it is held by ${claimedBy}, whose process is running`
  return `it is held by a running process${pid === undefined ? '' : ` (pid ${pid})`}`
}
