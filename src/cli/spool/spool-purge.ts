/** `pino-ingest spool purge`: deletes stored entries and dead letters. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../shared/clock.js'
import { summarizeUnsettled } from '../../spool/inspect.js'
import type { FoundInstance } from '../../spool/inspect.js'
import { InstanceFolder } from '../../spool/instance/instance-folder.js'
import { EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatAge, formatCount, formatJsonLine, formatSize, toPrintable } from '../shared/terminal.js'
import { readId } from '../shared/arguments.js'
import { parseDurationMs } from '../shared/quantities.js'
import type { ItemKind } from './item-kind.js'
import { DIR_FLAG, locateSpool } from './locate-spool.js'
import type { SpoolLocation } from './locate-spool.js'
import { claimInstance, findOutermost, isWithin, listHeld, select } from './select-entries.js'
import type { Held, Selection } from './select-entries.js'
import { formatItemCount, formatItemCounts } from './item-kind.js'
import { toMessage } from '../../shared/errors.js'

export const purgeCommand: Command = {
  examples: [
    ['npx pino-ingest spool purge --older-than 7d', 'lists what would be deleted'],
    ['npx pino-ingest spool purge dead --yes', 'deletes the rejected entries'],
  ],
  usage: [
    'pino-ingest spool purge ID [FLAGS]',
    'pino-ingest spool purge dead [FLAGS]',
    'pino-ingest spool purge --older-than 7d [FLAGS]',
    'pino-ingest spool purge --all [FLAGS]',
  ],
  flags: {
    all: { meaning: 'all instances that no process holds, and all dead letters' },
    'older-than': {
      value: 'AGE',
      meaning:
        'only instances and dead letters not written to for this long, such as 12h or 7d; without an ID, in the whole spool',
    },
    yes: { short: 'y', meaning: 'deletes them' },
    ...DIR_FLAG,
  },
  notes: [
    'ID is an instance, a destination, or a unique prefix of either; dead selects all dead letters.',
    'Instances that a running process holds are never deleted.',
    'Exit codes: 0 deleted, or nothing to delete, 1 some could not be deleted, 2 --yes is missing, or invalid flags.',
  ],
  maxPositionals: 1,
  run,
}

interface Target {
  readonly name: string
  readonly state: FoundInstance['state'] | 'dead letters'
  readonly kind: ItemKind
  readonly bytes: number
  readonly entries: number
  readonly writtenAtMs: number
  /** @throws an error that says why it was not deleted */
  readonly remove: () => void
}

async function run(given: Arguments): Promise<number> {
  const { switches, texts } = given
  const olderThan = texts.get('older-than')
  const olderThanMs = olderThan === undefined ? -Infinity : parseDurationMs('older-than', olderThan)
  const needed = 'purge needs an ID from pino-ingest spool ls, dead, --older-than 7d, or --all'
  const id = readId(given, needed, 'older-than')
  const location = locateSpool(given)
  const selection = select(location, id)
  const kept = listHeld(selection)
  const targets = (await findTargets(selection, location)).filter(
    ({ writtenAtMs }) => writtenAtMs < systemClock.wallNow() - olderThanMs,
  )
  const isConfirmed = switches.has('yes') || targets.length === 0
  const deleted = isConfirmed ? deleteAll(targets, kept) : []
  process.stdout.write(
    switches.has('json')
      ? formatJsonLine({ isConfirmed, deleted, wouldDelete: isConfirmed ? [] : targets, kept })
      : formatResult(location, isConfirmed, targets, deleted, kept),
  )
  if (!isConfirmed) return EXIT_USAGE
  // An instance in use is a failure only if it was selected by an ID.
  return kept.some(({ isInUse }) => !isInUse || (id !== undefined && deleted.length === 0)) ? EXIT_FAILED : EXIT_DONE
}

async function findTargets({ instances, deadLetters }: Selection, location: SpoolLocation): Promise<Target[]> {
  const targets: Target[] = []
  for (const instance of findOutermost(instances.filter(({ isFree }) => isFree))) {
    // Deleted together with the instances that it has claimed.
    const all = instances.filter((one) => one === instance || isWithin(one, instance))
    let entries = 0
    for (const one of all) entries += (await summarizeUnsettled(one)).entries
    targets.push({
      name: instance.name,
      state: instance.state,
      kind: location.kindOf(instance.destination),
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      entries,
      writtenAtMs: Math.max(0, ...all.flatMap(({ segments }) => segments.map(({ modifiedAtMs }) => modifiedAtMs))),
      remove: () => deleteInstance(location, instance),
    })
  }
  const files = deadLetters.map(({ destination, name, path, bytes, modifiedAtMs: writtenAtMs }) => ({
    name: `${destination}/dead/${name}`,
    state: 'dead letters' as const,
    kind: location.kindOf(destination),
    bytes,
    entries: 0,
    writtenAtMs,
    remove: () => rmSync(path, { force: true }),
  }))
  return [...targets, ...files]
}

function deleteAll(targets: readonly Target[], kept: Held[]): Target[] {
  return targets.filter(({ name, remove }) => {
    try {
      remove()
      return true
    } catch (error) {
      kept.push({ name, reason: toMessage(error), isInUse: false })
      return false
    }
  })
}

/**
 * Claims the folder first: no other process reads it during the deletion.
 * @throws an error that says why it was not claimed; the system's errors, UnsafeError
 */
function deleteInstance({ root, machine }: SpoolLocation, found: FoundInstance): void {
  const options = { clock: systemClock, machine, isPowerSafe: false }
  const owner = new InstanceFolder(join(root, found.destination), options, () => found.path)
  try {
    rmSync(claimInstance(owner, machine, found), { recursive: true, force: true })
  } finally {
    owner.release()
  }
}

function formatResult(
  location: SpoolLocation,
  isConfirmed: boolean,
  targets: readonly Target[],
  deleted: readonly Target[],
  kept: readonly Held[],
): string {
  const left = kept
    .map(({ name, reason }) => `Kept ${toPrintable(name)}: ${toPrintable(location.mask(reason))}\n`)
    .join('')
  if (targets.length === 0) return `${left}There is nothing to delete in ${toPrintable(location.root)}.\n`
  if (isConfirmed) return `${left}Deleted ${formatTotal(deleted)}.\n`
  return `${left}Would delete:\n${targets.map(formatTarget).join('')}Nothing was deleted. Add --yes to delete ${formatTotal(targets)}.\n`
}

function formatTarget({ name, state, kind, bytes, entries, writtenAtMs }: Target): string {
  const content = state === 'dead letters' ? state : `${state}, ${formatItemCount(entries, kind)} waiting`
  const age = writtenAtMs === 0 ? '' : `, written ${formatAge(systemClock.wallNow() - writtenAtMs)} ago`
  return `  ${toPrintable(name)}  ${content}, ${formatSize(bytes)}${age}\n`
}

function formatTotal(targets: readonly Target[]): string {
  const instances = targets.filter(({ state }) => state !== 'dead letters')
  const files = targets.length - instances.length
  return [
    ...(instances.length > 0
      ? [`${formatCount(instances.length, 'instance', 'instances')} with ${formatItemCounts(instances)} waiting`]
      : []),
    ...(files > 0 ? [`${formatCount(files, 'file', 'files')} of dead letters`] : []),
    targets.length === 0 ? 'nothing' : formatSize(targets.reduce((sum, { bytes }) => sum + bytes, 0)),
  ].join(', ')
}
