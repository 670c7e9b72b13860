/** `pino-ingest spool purge`: deletes stored entries and dead letters. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../shared/clock.js'
import { summarizeUnsettled } from '../../spool/inspect.js'
import type { FoundInstance } from '../../spool/inspect.js'
import { InstanceFolder } from '../../spool/instance/instance-folder.js'
import { createUsageError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatAge, formatCount, formatJsonLine, formatSize, toPrintable } from '../shared/terminal.js'
import { parseDurationMs } from '../shared/quantities.js'
import type { ItemKind } from './item-kind.js'
import { DIR_FLAG, locateSpool } from './locate-spool.js'
import type { SpoolLocation } from './locate-spool.js'
import { claimInstance, describeHolder, findOutermost, isWithin, selectAll, selectById } from './select-entries.js'
import type { Selection } from './select-entries.js'
import { formatItemCount, formatItemCounts } from './item-kind.js'

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
  /** Undefined for a file of dead letters. */
  readonly instance: FoundInstance | undefined
  readonly path: string
  readonly kind: ItemKind
  readonly name: string
  readonly bytes: number
  /** Number of entries or request logs. */
  readonly entries: number
  readonly modifiedAtMs: number
}

interface Kept {
  readonly name: string
  readonly reason: string
  readonly isInUse: boolean
}

async function run(given: Arguments): Promise<number> {
  const {
    switches,
    texts,
    positionals: [id],
  } = given
  const isAll = switches.has('all')
  const olderThan = texts.get('older-than')
  const olderThanMs = olderThan === undefined ? -Infinity : parseDurationMs('older-than', olderThan)
  if (id !== undefined && isAll) throw createUsageError(`give either ${id} or --all`)
  if (id === undefined && !isAll && olderThan === undefined) {
    throw createUsageError('purge needs an ID from pino-ingest spool ls, dead, --older-than 7d, or --all')
  }
  const location = locateSpool(given)
  const selection = id === undefined ? selectAll(location) : selectById(location, id)
  const kept: Kept[] = findOutermost(selection.instances)
    .filter(({ isFree }) => !isFree)
    .map((one) => ({ name: one.name, reason: describeHolder(one), isInUse: true }))
  const targets = (await findTargets(selection, location)).filter(
    ({ modifiedAtMs }) => modifiedAtMs < systemClock.wallNow() - olderThanMs,
  )
  const isConfirmed = switches.has('yes') || targets.length === 0
  const deleted = isConfirmed ? deleteAll(location, targets, kept) : []
  if (switches.has('json')) {
    process.stdout.write(
      formatJsonLine({
        isConfirmed,
        deleted: deleted.map(toData),
        wouldDelete: isConfirmed ? [] : targets.map(toData),
        kept,
      }),
    )
  } else process.stdout.write(formatResult(location, isConfirmed, targets, deleted, kept))
  if (!isConfirmed) return EXIT_USAGE
  // An instance in use is a failure only if it was selected by an ID.
  return kept.some(({ isInUse }) => !isInUse || (id !== undefined && deleted.length === 0)) ? EXIT_FAILED : EXIT_DONE
}

async function findTargets({ instances, deadLetters }: Selection, { kindOf }: SpoolLocation): Promise<Target[]> {
  const targets: Target[] = []
  for (const instance of findOutermost(instances.filter(({ isFree }) => isFree))) {
    // Deleted together with the instances that it has claimed.
    const all = instances.filter((one) => one === instance || isWithin(one, instance))
    let entries = 0
    for (const one of all) entries += (await summarizeUnsettled(one)).entries
    targets.push({
      instance,
      path: instance.path,
      kind: kindOf(instance.destination),
      name: instance.name,
      entries,
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      modifiedAtMs: Math.max(0, ...all.flatMap(({ segments }) => segments.map(({ modifiedAtMs }) => modifiedAtMs))),
    })
  }
  for (const { destination, name, path, bytes, modifiedAtMs } of deadLetters) {
    const target = { instance: undefined, path, kind: kindOf(destination), entries: 0, bytes, modifiedAtMs }
    targets.push({ ...target, name: `${destination}/dead/${name}` })
  }
  return targets
}

function deleteAll(location: SpoolLocation, targets: readonly Target[], kept: Kept[]): Target[] {
  return targets.filter(({ name, path, instance }) => {
    try {
      if (instance === undefined) rmSync(path, { force: true })
      else deleteInstance(location, instance)
      return true
    } catch (error) {
      kept.push({ name, reason: error instanceof Error ? error.message : String(error), isInUse: false })
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
  kept: readonly Kept[],
): string {
  const left = kept
    .map(({ name, reason }) => `Kept ${toPrintable(name)}: ${toPrintable(location.mask(reason))}\n`)
    .join('')
  if (targets.length === 0) return `${left}There is nothing to delete in ${toPrintable(location.root)}.\n`
  if (isConfirmed) return `${left}Deleted ${formatTotal(deleted)}.\n`
  return `${left}Would delete:\n${targets.map(formatTarget).join('')}Nothing was deleted. Add --yes to delete ${formatTotal(targets)}.\n`
}

function formatTarget({ kind, name, bytes, entries, instance, modifiedAtMs }: Target): string {
  const content =
    instance === undefined ? 'dead letters' : `${instance.state}, ${formatItemCount(entries, kind)} not settled`
  const age = modifiedAtMs === 0 ? '' : `, written ${formatAge(systemClock.wallNow() - modifiedAtMs)} ago`
  return `  ${toPrintable(name)}  ${content}, ${formatSize(bytes)}${age}\n`
}

function formatTotal(targets: readonly Target[]): string {
  const instances = targets.filter(({ instance }) => instance !== undefined)
  const files = targets.length - instances.length
  return [
    ...(instances.length > 0
      ? [`${formatCount(instances.length, 'instance', 'instances')} with ${formatItemCounts(instances)} not settled`]
      : []),
    ...(files > 0 ? [`${formatCount(files, 'file', 'files')} of dead letters`] : []),
    targets.length === 0 ? 'nothing' : formatSize(targets.reduce((sum, { bytes }) => sum + bytes, 0)),
  ].join(', ')
}

function toData({ kind, name, bytes, entries, instance, modifiedAtMs }: Target): object {
  return {
    name,
    kind: instance === undefined ? 'dead letters' : 'instance',
    holds: kind,
    bytes,
    entries,
    writtenAt: modifiedAtMs === 0 ? null : new Date(modifiedAtMs).toISOString(),
  }
}
