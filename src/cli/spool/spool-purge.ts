/** `pino-ingest spool purge`: deletes what nobody is to send any more. */
import { rmSync, unlinkSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { systemClock } from '../../shared/clock.js'
import { summarizeUnsettled } from '../../spool/inspect.js'
import type { FoundInstance } from '../../spool/inspect.js'
import { CommandError, EXIT_DONE, EXIT_FAILED, EXIT_USAGE, createUsageError } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatJsonLine, printable } from '../shared/printable.js'
import { InstanceClaimer, describeHolder } from './instance-claimer.js'
import { findKinds } from './item-kind.js'
import type { ItemKind } from './item-kind.js'
import { selectAll, isWithin, findOutermost, selectById } from './select.js'
import type { FoundDeadLetterFile, Selection } from './select.js'
import { DIR_FLAG, locateSpool } from './locate.js'
import type { SpoolLocation } from './locate.js'
import { parseAge, formatAge, formatEntryCount, formatItemCount, formatSize } from '../shared/terminal-format.js'

/** @param id of an instance or a destination, or `dead` */
export function createPurgeCommand(id: string | undefined): Command {
  return {
    summary: 'Deletes what dead instances left, and dead letters. Without --yes it only says what it would delete.',
    usage: [
      'pino-ingest spool purge ID [FLAGS]',
      'pino-ingest spool purge dead [FLAGS]',
      'pino-ingest spool purge --older-than 7d [FLAGS]',
      'pino-ingest spool purge --all [FLAGS]',
    ],
    flags: {
      all: { meaning: 'all instances that nobody holds, and all dead letters' },
      'older-than': {
        value: 'AGE',
        meaning: 'of what is named, or of all: only what was written to before that, as 12h or 7d',
      },
      yes: { short: 'y', meaning: 'deletes without a question' },
      ...DIR_FLAG,
    },
    notes: [
      'ID is an instance, a destination, or a beginning of either that no other has; dead stands for all dead letters.',
      'What a living process holds is never deleted. On a terminal it asks; elsewhere it needs --yes.',
      'Exit codes: 0 deleted, or nothing was there, 1 something could not be deleted, 2 not confirmed, or wrong flags.',
    ],
    jsonFailuresTo: 'stdout',
    run: (given) => run(id, given),
  }
}

interface Target {
  /** What is claimed within goes with it. */
  readonly instance?: FoundInstance
  readonly letters?: FoundDeadLetterFile
  readonly kind: ItemKind | undefined
  readonly name: string
  readonly bytes: number
  /** Or request logs. */
  readonly entries: number
  readonly modifiedAtMs: number
}

interface Kept {
  readonly name: string
  readonly why: string
  readonly isHeld: boolean
}

async function run(id: string | undefined, given: Arguments): Promise<number> {
  const isAll = given.switches.has('all')
  const older = given.texts.get('older-than')
  const olderThanMs = older === undefined ? undefined : parseAge(older, 'older-than')
  if (id !== undefined && isAll) throw createUsageError(`give either ${id} or --all`)
  if (id === undefined && !isAll && olderThanMs === undefined)
    throw createUsageError('say what to purge: an ID of pino-ingest spool ls, dead, --older-than 7d, or --all')
  const place = locateSpool(given)
  const picked = id === undefined ? selectAll(place) : selectById(place, id)
  const kept: Kept[] = findOutermost(picked.instances)
    .filter(({ isFree }) => !isFree)
    .map((one) => ({ name: one.name, why: describeHolder(one), isHeld: true }))
  const before = olderThanMs === undefined ? Infinity : systemClock.wallNow() - olderThanMs
  const targets = (await targetsOf(picked, await findKinds(place, [...picked.instances, ...picked.letters]))).filter(
    ({ modifiedAtMs }) => modifiedAtMs < before,
  )
  const asJson = given.switches.has('json')
  const isConfirmed = targets.length === 0 || given.switches.has('yes') || (!asJson && (await confirmed(targets)))
  const deleted = isConfirmed ? deleteAll(place, targets, kept) : []
  if (asJson)
    process.stdout.write(
      formatJsonLine({
        isConfirmed,
        deleted: deleted.map(dataOf),
        wouldDelete: isConfirmed ? [] : targets.map(dataOf),
        kept,
      }),
    )
  else process.stdout.write(printed(place, isConfirmed, targets, deleted, kept))
  if (!isConfirmed) return EXIT_USAGE
  // Asked for by its ID, it is a failure that another holds it; else it was not meant.
  return kept.some(({ isHeld }) => !isHeld || (id !== undefined && deleted.length === 0)) ? EXIT_FAILED : EXIT_DONE
}

async function targetsOf({ instances, letters }: Selection, kinds: ReadonlyMap<string, ItemKind>): Promise<Target[]> {
  const targets: Target[] = []
  for (const instance of findOutermost(instances.filter(({ isFree }) => isFree))) {
    const all = instances.filter((one) => one === instance || isWithin(one, instance))
    let entries = 0
    for (const one of all) entries += (await summarizeUnsettled(one)).entries
    targets.push({
      instance,
      kind: kinds.get(instance.destination),
      name: instance.name,
      entries,
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      modifiedAtMs: Math.max(0, ...all.flatMap(({ segments }) => segments.map(({ modifiedAtMs }) => modifiedAtMs))),
    })
  }
  for (const one of letters) {
    targets.push({
      letters: one,
      kind: kinds.get(one.destination),
      name: `${one.destination}/dead/${one.file.name}`,
      entries: 0,
      bytes: one.file.bytes,
      modifiedAtMs: one.file.modifiedAtMs,
    })
  }
  return targets
}

function deleteAll(place: SpoolLocation, targets: readonly Target[], kept: Kept[]): Target[] {
  const claimers = new Map<string, InstanceClaimer>()
  const deleted: Target[] = []
  try {
    for (const target of targets) {
      const why =
        target.letters === undefined
          ? deleteInstance(place, target.instance as FoundInstance, claimers)
          : deleteFile(target.letters.file.path)
      if (why === undefined) deleted.push(target)
      else kept.push({ name: target.name, why, isHeld: false })
    }
  } finally {
    for (const claimer of claimers.values()) claimer.release()
  }
  return deleted
}

/** Claimed first, as by who would send it: nobody reads what is being deleted. @returns why it could not be */
function deleteInstance(
  { root, machine }: SpoolLocation,
  instance: FoundInstance,
  claimers: Map<string, InstanceClaimer>,
): string | undefined {
  try {
    const { destination } = instance
    let claimer = claimers.get(destination)
    // In the same destination: should this process die, nothing has moved to another key.
    if (claimer === undefined)
      claimers.set(
        destination,
        (claimer = new InstanceClaimer({ root, destination, machine, clock: systemClock, onLost: () => {} })),
      )
    const claim = claimer.claim(instance, '')
    if ('why' in claim) return claim.why
    rmSync(claim.path, { recursive: true, force: true })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function deleteFile(path: string): string | undefined {
  try {
    unlinkSync(path)
    return undefined
  } catch (error) {
    // Somebody else has deleted it.
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? undefined
      : error instanceof Error
        ? error.message
        : String(error)
  }
}

/** On a terminal only: elsewhere nobody would answer. */
async function confirmed(targets: readonly Target[]): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false
  process.stdout.write(targets.map(lineOf).join(''))
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(?:es)?$/i.test(
      (await lines.question(`Delete ${targets.length === 1 ? 'this' : `these ${targets.length}`}? [y/N] `)).trim(),
    )
  } catch (error) {
    throw new CommandError(
      'ABORTED',
      `nothing was deleted (${error instanceof Error ? error.message : String(error)})`,
      EXIT_USAGE,
    )
  } finally {
    lines.close()
  }
}

function printed(
  place: SpoolLocation,
  isConfirmed: boolean,
  targets: readonly Target[],
  deleted: readonly Target[],
  kept: readonly Kept[],
): string {
  const left = kept
    .map(({ name, why }) => `${printable(name)} was left alone: ${printable(place.mask(why))}\n`)
    .join('')
  if (targets.length === 0) return `${left}Nothing to delete in ${printable(place.root)}.\n`
  if (!isConfirmed)
    return `${left}Would delete:\n${targets.map(lineOf).join('')}Nothing was deleted. Add --yes to delete ${sumOf(targets)}.\n`
  return `${left}Deleted ${sumOf(deleted)}.\n`
}

function lineOf({ kind, name, bytes, entries, instance, modifiedAtMs }: Target): string {
  const what =
    instance === undefined ? 'dead letters' : `${instance.state}, ${formatItemCount(entries, kind)} not settled`
  const age = modifiedAtMs === 0 ? '' : `, written ${formatAge(systemClock.wallNow() - modifiedAtMs)} ago`
  return `  ${printable(name)}  ${what}, ${formatSize(bytes)}${age}\n`
}

function sumOf(targets: readonly Target[]): string {
  const instances = targets.filter(({ instance }) => instance !== undefined)
  const itemsOf = (isRequests: boolean): number =>
    instances.filter(({ kind }) => (kind === 'requests') === isRequests).reduce((sum, one) => sum + one.entries, 0)
  const requestLogs = itemsOf(true)
  const items =
    requestLogs === 0
      ? formatEntryCount(itemsOf(false))
      : `${formatEntryCount(itemsOf(false))} and ${formatItemCount(requestLogs, 'requests')}`
  const bytes = targets.reduce((sum, one) => sum + one.bytes, 0)
  const files = targets.length - instances.length
  return [
    ...(instances.length > 0
      ? [`${instances.length} ${instances.length === 1 ? 'instance' : 'instances'} with ${items} not settled`]
      : []),
    ...(files > 0 ? [`${files} ${files === 1 ? 'file' : 'files'} of dead letters`] : []),
    ...(targets.length === 0 ? ['nothing'] : [formatSize(bytes)]),
  ].join(', ')
}

function dataOf({ kind, name, bytes, entries, instance, modifiedAtMs }: Target): object {
  return {
    name,
    kind: instance === undefined ? 'dead letters' : 'instance',
    holds: kind ?? null,
    bytes,
    entries,
    writtenAt: modifiedAtMs === 0 ? null : new Date(modifiedAtMs).toISOString(),
  }
}
