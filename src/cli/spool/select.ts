/** What an ID on the command line stands for. Pure. */
import { sep } from 'node:path'
import type { FoundInstance } from '../../spool/inspect.js'
import type { FoundFile } from '../../spool/spool-files.js'
import { CommandError, EXIT_FAILED } from '../shared/command.js'
import type { SpoolLocation } from './locate.js'

export interface FoundDeadLetterFile {
  /** Name of the destination's folder. */
  readonly destination: string
  readonly file: FoundFile
}

export interface Selection {
  /** Each followed by what it has claimed. */
  readonly instances: readonly FoundInstance[]
  readonly letters: readonly FoundDeadLetterFile[]
}

/** The word that stands for all dead letters. */
export const DEAD = 'dead'

export function selectAll({ destinations }: Pick<SpoolLocation, 'destinations'>): Selection {
  return {
    instances: destinations.flatMap(({ instances }) => instances),
    letters: destinations.flatMap(({ name, deadLetters: letters }) =>
      letters.map((file) => ({ destination: name, file })),
    ),
  }
}

/**
 * @param id of an instance or a destination, or the beginning of one; or `dead`
 * @throws CommandError where it is unknown, or the beginning of several
 */
export function selectById(place: Pick<SpoolLocation, 'root' | 'destinations'>, id: string): Selection {
  const { instances, letters } = selectAll(place)
  if (id === DEAD) return { instances: [], letters }
  const wanted = id.replace(/\.(?:live|left)$/, '')
  const names = [...new Set([...instances, ...place.destinations].map(({ name }) => name))]
  const exact = names.filter((name) => name === wanted)
  const matching = exact.length > 0 ? exact : names.filter((name) => wanted !== '' && name.startsWith(wanted))
  const [name] = matching
  if (name === undefined) {
    const what = isBatchId(wanted)
      ? 'a batch is shown, but neither replayed nor purged alone: name the instance that holds it'
      : 'pino-ingest spool ls lists all'
    throw new CommandError('SPOOL', `nothing in ${place.root} is called ${id}; ${what}`, EXIT_FAILED)
  }
  if (matching.length > 1) {
    throw new CommandError(
      'SPOOL',
      `${id} is the beginning of ${matching.length} names: ${matching.slice(0, 5).join(', ')}${matching.length > 5 ? ', …' : ''}`,
      EXIT_FAILED,
    )
  }
  const tops = instances.filter((instance) => instance.name === name)
  return {
    instances: instances.filter(
      (one) => one.destination === name || tops.some((top) => one === top || isWithin(one, top)),
    ),
    letters: letters.filter(({ destination }) => destination === name),
  }
}

/** Those that no other one of them has claimed: a claim takes what is within along. */
export function findOutermost(instances: readonly FoundInstance[]): FoundInstance[] {
  return instances.filter((one) => !instances.some((other) => isWithin(one, other)))
}

export function isWithin(one: FoundInstance, other: FoundInstance): boolean {
  return one.path.startsWith(other.path + sep)
}

export function isBatchId(id: string): boolean {
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)
}
