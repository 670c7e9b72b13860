/** `pino-ingest spool ls`: lists destinations, instances and dead letters with sizes, ages and reasons. */
import { maskDeep } from '../../diagnostics/secret-mask.js'
import { systemClock } from '../../shared/clock.js'
import { readDescription } from '../../spool/destination-file.js'
import type { DestinationDescription } from '../../spool/destination-file.js'
import { summarizeUnsettled } from '../../spool/inspect.js'
import type { FoundDestination, FoundInstance, UnsettledSummary } from '../../spool/inspect.js'
import type { FoundFile } from '../../spool/spool-files.js'
import { EXIT_DONE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatDeadLetterCount, formatRejection } from '../shared/entry-printer.js'
import { formatAge, formatColumns, formatCount, formatJsonLine, formatSize, toPrintable } from '../shared/terminal.js'
import type { ItemKind } from './item-kind.js'
import { DIR_FLAG, locateSpool } from './locate-spool.js'
import type { SpoolLocation } from './locate-spool.js'
import { parseDeadLetter, readLines } from './read-dead-letters.js'
import { formatItemCount, formatItemCounts } from './item-kind.js'

export const lsCommand: Command = {
  examples: [
    ['npx pino-ingest spool ls', 'what is stored, for which destination'],
    ['npx pino-ingest spool ls --dir /var/lib/app/spool --json', 'of another folder, for a script'],
  ],
  flags: DIR_FLAG,
  notes: [
    `running: its process is running; killed: its process was killed; closed: its process exited normally; claimed: taken over by the
instance above it. The next application with the same URL and key sends the entries of killed and closed instances; so does spool replay.`,
    `A destination is shown with its URL, the service that used it last, and the start of a hash of URL and key. A destination that only earlier
versions used has a name only.`,
    'With --json, it prints one object: root, destinations, total. Times are in milliseconds, sizes in bytes; a kind is entries or requests.',
    'Exit codes: 0 done, 1 the folder does not exist or is unsafe, 2 invalid flags.',
  ],
  run,
}

interface DeadLetterSummary {
  readonly files: number
  readonly bytes: number
  readonly entries: number
  /** Lines that are not dead letters. */
  readonly damagedLines: number
  /** The most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[]
  readonly problems: readonly string[]
}

type ListedInstance = FoundInstance & UnsettledSummary & { readonly kind: ItemKind }

interface Listed {
  readonly name: string
  /** Undefined if the folder has none. */
  readonly description: DestinationDescription | undefined
  readonly kind: ItemKind
  readonly instances: readonly ListedInstance[]
  readonly deadLetters: DeadLetterSummary
}

async function run(given: Arguments): Promise<number> {
  const location = locateSpool(given)
  process.stdout.write(
    given.switches.has('json')
      ? formatJsonLine(toData(location, await listAll(location, true)))
      : await formatSpool(location, true),
  )
  return EXIT_DONE
}

/** @param hasReasons whether to show the service's reasons, which may quote an entry */
export async function formatSpool(location: SpoolLocation, hasReasons: boolean): Promise<string> {
  return formatListed(location, await listAll(location, hasReasons))
}

async function listAll(location: SpoolLocation, hasReasons: boolean): Promise<Listed[]> {
  const listed: Listed[] = []
  for (const destination of location.destinations) listed.push(await summarize(destination, location, hasReasons))
  return listed
}

async function summarize(
  { name, path, instances: found, deadLetters }: FoundDestination,
  { kindOf, mask }: SpoolLocation,
  hasReasons: boolean,
): Promise<Listed> {
  const kind = kindOf(name)
  const instances: ListedInstance[] = []
  for (const instance of found) {
    const summary = await summarizeUnsettled(instance)
    instances.push({ ...instance, ...summary, kind, problems: summary.problems.map(mask) })
  }
  const description = maskDeep(readDescription(path), mask)
  return { name, description, kind, instances, deadLetters: summarizeDeadLetters(deadLetters, mask, hasReasons) }
}

/** The service can repeat the rejected value in its reason, so each dead letter may have a different one. */
const MAX_REASONS = 100
const MAX_REASON_CHARS = 160
const OTHER = 'other reasons'
const KEY_HASH_CHARS = 8

function summarizeDeadLetters(
  files: readonly FoundFile[],
  mask: (text: string) => string,
  hasReasons: boolean,
): DeadLetterSummary {
  const counts = new Map<string, number>()
  const problems: string[] = []
  let entries = 0
  let damagedLines = 0
  for (const { path } of files) {
    try {
      for (const letter of readLines(path).map(parseDeadLetter)) {
        if (letter === undefined) {
          damagedLines += 1
          continue
        }
        entries += 1
        const reason = mask(formatRejection(hasReasons ? letter : { ...letter, reason: '' })).slice(0, MAX_REASON_CHARS)
        const key = counts.has(reason) || counts.size < MAX_REASONS ? reason : OTHER
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        problems.push(mask(error instanceof Error ? error.message : String(error)))
    }
  }
  const reasons = [...counts].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count)
  return { files: files.length, bytes: sum(files.map(({ bytes }) => bytes)), entries, damagedLines, reasons, problems }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function toData(location: SpoolLocation, listed: readonly Listed[]): object {
  const instances = listed.flatMap((one) => one.instances)
  const countItems = (wanted: ItemKind): number =>
    sum(instances.filter(({ kind }) => kind === wanted).map(({ entries }) => entries))
  return {
    root: location.root,
    destinations: listed.map(({ name, description, kind, instances: found, deadLetters }) => ({
      name,
      url: description?.url ?? null,
      service: description?.service ?? null,
      keyHash: toKeyHash(name),
      kind,
      isPresent: location.present.includes(name),
      isPrevious: location.previous.includes(name),
      // `undefined` members are omitted.
      instances: found.map(({ path: _path, destination: _destination, kind: _kind, segments, ...one }) => ({
        ...one,
        segments: segments.length,
      })),
      deadLetters,
    })),
    total: {
      instances: instances.length,
      bytes: sumBytes(listed),
      batches: sum(instances.map(({ batches }) => batches)),
      entries: countItems('entries'),
      requestLogs: countItems('requests'),
      deadLetters: sum(listed.map(({ deadLetters }) => deadLetters.entries)),
    },
  }
}

function sumBytes(listed: readonly Listed[]): number {
  return sum(listed.flatMap(({ instances, deadLetters }) => [...instances, deadLetters].map(({ bytes }) => bytes)))
}

function formatListed(location: SpoolLocation, listed: readonly Listed[]): string {
  const instances = listed.flatMap((one) => one.instances)
  const blocks = [toPrintable(location.mask(location.root)), ...listed.map((one) => formatDestination(location, one))]
  const deadLetters = formatDeadLetterCount(sum(listed.map((one) => one.deadLetters.entries)))
  const total = [
    formatCount(instances.length, 'instance', 'instances'),
    formatSize(sumBytes(listed)),
    `${formatItemCounts(instances)} not settled`,
    deadLetters,
  ]
  return `${blocks.join('\n\n')}\n\nTotal: ${total.join(', ')}\n`
}

/** Part of the hash of URL and key. A hash of the key alone would be easier to look up, since it is the same for all URLs. */
function toKeyHash(name: string): string {
  return name.slice(0, KEY_HASH_CHARS)
}

function formatDescription(name: string, description: DestinationDescription | undefined): string[] {
  if (description === undefined) return []
  const { url, service } = description
  return [url, ...(service === undefined ? [] : [`service ${service}`]), `key hash ${toKeyHash(name)}`].map(toPrintable)
}

function formatDestination(
  location: SpoolLocation,
  { name, description, kind, instances, deadLetters }: Listed,
): string {
  const owner =
    location.settings === undefined
      ? 'unknown destination, since url and key are not set'
      : location.present.includes(name)
        ? 'the current destination'
        : location.previous.includes(name)
          ? 'destination of a previous key'
          : 'another destination'
  const isEmpty = instances.length + deadLetters.files === 0
  const rows = formatColumns(instances.map(toRow))
  return [
    `${[name, ...formatDescription(name, description), owner].join('  ')}${kind === 'requests' ? ', request logs' : ''}${isEmpty ? ', empty' : ''}`,
    ...instances.flatMap((one, at) => [`  ${rows[at] ?? ''}`, ...formatNotes(one)]),
    ...formatDeadLetters(deadLetters),
  ].join('\n')
}

function toRow(one: ListedInstance): string[] {
  const age = one.oldestAtMs === undefined ? '' : `oldest ${formatAge(systemClock.wallNow() - one.oldestAtMs)}`
  return [
    one.name,
    one.state,
    formatWriter(one),
    formatCount(one.segments.length, 'segment', 'segments'),
    formatSize(one.bytes),
    formatCount(one.batches, 'batch', 'batches'),
    formatItemCount(one.entries, one.kind),
    age,
  ]
}

function formatWriter({ state, pid, claimedBy, isLeaseFresh, leaseAgeMs }: FoundInstance): string {
  const process = pid === undefined ? '' : `pid ${pid}`
  if (state === 'claimed') return `by ${claimedBy}`
  if (state !== 'running') return process
  const lease = isLeaseFresh
    ? 'lease fresh'
    : `lease expired${leaseAgeMs === undefined ? '' : `, ${formatAge(leaseAgeMs)} old`}`
  return [process, lease].filter((text) => text !== '').join(', ')
}

function formatNotes({ isForeign, damagedBytes, missingEntries, problems, kind }: ListedInstance): string[] {
  return [
    ...(isForeign ? ['written by another version of pino-ingest, not read'] : []),
    ...(damagedBytes > 0 ? [`damaged: ${formatCount(damagedBytes, 'byte', 'bytes')} outside of frames`] : []),
    ...(missingEntries > 0 ? [`damaged: ${formatItemCount(missingEntries, kind)} missing`] : []),
    ...problems.map((problem) => `cannot be read: ${toPrintable(problem)}`),
  ].map((note) => `    ${note}`)
}

const SHOWN_REASONS = 5

function formatDeadLetters({ files, bytes, entries, damagedLines, reasons, problems }: DeadLetterSummary): string[] {
  if (files === 0) return []
  const more = sum(reasons.slice(SHOWN_REASONS).map(({ count }) => count))
  return [
    `  ${formatDeadLetterCount(entries)} in ${formatCount(files, 'file', 'files')}, ${formatSize(bytes)}`,
    ...reasons.slice(0, SHOWN_REASONS).map(({ reason, count }) => `    ${count} x ${toPrintable(reason)}`),
    ...(more > 0 ? [`    ${more} x for other reasons`] : []),
    ...(damagedLines > 0 ? [`    damaged: ${formatCount(damagedLines, 'line', 'lines')}`] : []),
    ...problems.map((problem) => `    cannot be read: ${toPrintable(problem)}`),
  ]
}
