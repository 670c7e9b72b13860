/** `pino-ingest spool ls`: what is kept, by whom, and since when. */
import { systemClock } from '../../shared/clock.js'
import { summarizeUnsettled } from '../../spool/inspect.js'
import type { FoundDestination, FoundInstance, UnsettledSummary } from '../../spool/inspect.js'
import type { FoundFile } from '../../spool/spool-files.js'
import { EXIT_DONE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatJsonLine, printable } from '../shared/printable.js'
import { findKind } from './item-kind.js'
import type { ItemKind } from './item-kind.js'
import { readLines, parseDeadLetter, formatRejection } from './read-dead-letters.js'
import { DIR_FLAG, locateSpool } from './locate.js'
import type { SpoolLocation } from './locate.js'
import {
  formatAge,
  formatColumns,
  formatCount,
  formatEntryCount,
  formatItemCount,
  formatDeadLetterCount,
  formatSize,
} from '../shared/terminal-format.js'

export const lsCommand: Command = {
  summary: 'Lists what is kept on disk: by destination and instance, and what the service refused. It changes nothing.',
  usage: ['pino-ingest spool ls [FLAGS]'],
  flags: DIR_FLAG,
  notes: [
    `live: its writer is at work; dead: its writer is gone; left: it ended in order; claimed: taken over by the one above it. What
is dead or left is sent by the next application with the same url and key, or by pino-ingest spool replay.`,
    'With --json it prints one object: root, destinations, total. Times are in milliseconds, sizes in bytes; a kind is entries or requests.',
    'Exit codes: 0 done, 1 there is no such folder, 2 wrong flags.',
  ],
  jsonFailuresTo: 'stdout',
  run,
}

interface LetterTally {
  readonly files: number
  readonly bytes: number
  readonly entries: number
  /** Lines that are no letters. */
  readonly damagedLines: number
  readonly reasons: readonly { readonly reason: string; readonly count: number }[]
  readonly problems: readonly string[]
}

interface Listed {
  readonly destination: FoundDestination
  /** Undefined where nothing tells. */
  readonly kind: ItemKind | undefined
  readonly instances: readonly (FoundInstance & UnsettledSummary)[]
  readonly letters: LetterTally
}

async function run(given: Arguments): Promise<number> {
  const place = locateSpool(given)
  const listed: Listed[] = []
  for (const destination of place.destinations) {
    const instances: (FoundInstance & UnsettledSummary)[] = []
    for (const instance of destination.instances)
      instances.push({ ...instance, ...(await summarizeUnsettled(instance)) })
    listed.push({
      destination,
      kind: await findKind(destination, place.kinds),
      instances,
      letters: await tallyLetters(destination.deadLetters, place.mask),
    })
  }
  process.stdout.write(given.switches.has('json') ? formatJsonLine(dataOf(place, listed)) : textOf(place, listed))
  return EXIT_DONE
}

/** A service may put the value that it refuses into its words: then each letter has a reason of its own. */
const MAX_REASONS = 100
const MAX_REASON_CHARS = 160
const OTHER = 'other reasons'

async function tallyLetters(files: readonly FoundFile[], mask: (text: string) => string): Promise<LetterTally> {
  const counts = new Map<string, number>()
  const problems: string[] = []
  let entries = 0
  let damagedLines = 0
  for (const { path } of files) {
    try {
      for await (const line of readLines(path)) {
        const letter = parseDeadLetter(line)
        if (letter === undefined) {
          damagedLines += 1
          continue
        }
        entries += 1
        const reason = mask(formatRejection(letter)).slice(0, MAX_REASON_CHARS)
        const key = counts.has(reason) || counts.size < MAX_REASONS ? reason : OTHER
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        problems.push(error instanceof Error ? error.message : String(error))
    }
  }
  const reasons = [...counts].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count)
  return {
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    entries,
    damagedLines,
    reasons,
    problems,
  }
}

interface Total {
  readonly instances: number
  readonly bytes: number
  readonly batches: number
  readonly entries: number
  readonly requestLogs: number
  readonly deadLetters: number
}

function totalOf(listed: readonly Listed[]): Total {
  const instances = listed.flatMap((one) => one.instances)
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
  const itemsIn = (isWanted: (kind: ItemKind | undefined) => boolean): number =>
    sum(listed.filter(({ kind }) => isWanted(kind)).flatMap((one) => one.instances.map(({ entries }) => entries)))
  return {
    instances: instances.length,
    bytes: sum([...instances, ...listed.map(({ letters }) => letters)].map(({ bytes }) => bytes)),
    batches: sum(instances.map(({ batches }) => batches)),
    entries: itemsIn((kind) => kind !== 'requests'),
    requestLogs: itemsIn((kind) => kind === 'requests'),
    deadLetters: sum(listed.map(({ letters }) => letters.entries)),
  }
}

function dataOf(place: SpoolLocation, listed: readonly Listed[]): object {
  return {
    root: place.root,
    destinations: listed.map(({ destination: { name }, kind, instances, letters }) => ({
      name,
      kind: kind ?? null,
      isPresent: place.present.includes(name),
      isPrevious: place.previous.includes(name),
      instances: instances.map((one) => ({
        name: one.name,
        state: one.state,
        isFree: one.isFree,
        pid: one.pid ?? null,
        leaseAgeMs: one.leaseAgeMs === undefined ? null : Math.round(one.leaseAgeMs),
        isLeaseFresh: one.isLeaseFresh,
        claimedBy: one.claimedBy ?? null,
        isForeign: one.isForeign,
        segments: one.segments.length,
        bytes: one.bytes,
        batches: one.batches,
        entries: one.entries,
        oldestAt: one.oldestAtMs === undefined ? null : new Date(one.oldestAtMs).toISOString(),
        damagedBytes: one.damagedBytes,
        missingEntries: one.missingEntries,
        problems: one.problems.map(place.mask),
      })),
      deadLetters: letters,
    })),
    total: totalOf(listed),
  }
}

function textOf(place: SpoolLocation, listed: readonly Listed[]): string {
  const { instances, bytes, entries, requestLogs, deadLetters } = totalOf(listed)
  const parts = listed.map((one) => destinationText(place, one))
  const items =
    requestLogs === 0
      ? formatEntryCount(entries)
      : `${formatEntryCount(entries)} and ${formatItemCount(requestLogs, 'requests')}`
  const total = `Total: ${formatCount(instances, 'instance', 'instances')}, ${formatSize(bytes)}, ${items} not settled, ${formatDeadLetterCount(deadLetters)}`
  return `${[printable(place.mask(place.root)), ...parts].join('\n\n').trimEnd()}\n\n${total}\n`
}

function destinationText(place: SpoolLocation, { destination: { name }, kind, instances, letters }: Listed): string {
  const whose =
    place.settings === undefined
      ? 'whether it is yours is not known: url and key are not set'
      : place.present.includes(name)
        ? 'the present url and key'
        : place.previous.includes(name)
          ? 'one of previousApiKeys'
          : 'another url or key'
  const rows = formatColumns(
    instances.map((one) => rowOf(one, kind)),
    '  ',
  )
    .split('\n')
    .slice(0, -1)
  const withNotes = rows.flatMap((row, at) => [
    row,
    ...notesOf(instances[at] as FoundInstance & UnsettledSummary, kind, place.mask),
  ])
  const isEmpty = instances.length + letters.files === 0
  return [
    `${name}  ${whose}${kind === 'requests' ? ', request logs' : ''}${isEmpty ? ', empty' : ''}`,
    ...withNotes,
    ...lettersRows(letters, place.mask),
  ].join('\n')
}

function rowOf(one: FoundInstance & UnsettledSummary, kind: ItemKind | undefined): string[] {
  const age = one.oldestAtMs === undefined ? '' : `oldest ${formatAge(systemClock.wallNow() - one.oldestAtMs)}`
  return [
    one.name,
    one.state,
    whoOf(one),
    formatCount(one.segments.length, 'segment', 'segments'),
    formatSize(one.bytes),
    formatCount(one.batches, 'batch', 'batches'),
    formatItemCount(one.entries, kind),
    age,
  ]
}

function whoOf({ state, pid, claimedBy, isLeaseFresh, leaseAgeMs }: FoundInstance): string {
  const process = pid === undefined ? '' : `pid ${pid}`
  if (state === 'claimed') return `by ${claimedBy}`
  if (state !== 'live') return process
  const lease = isLeaseFresh
    ? 'lease fresh'
    : `lease expired${leaseAgeMs === undefined ? '' : `, ${formatAge(leaseAgeMs)} old`}`
  return [process, lease].filter((text) => text !== '').join(', ')
}

function notesOf(
  one: FoundInstance & UnsettledSummary,
  kind: ItemKind | undefined,
  mask: (text: string) => string,
): string[] {
  const { isForeign, damagedBytes, missingEntries, problems } = one
  return [
    ...(isForeign ? ['written by another version of pino-ingest: left alone'] : []),
    ...(damagedBytes > 0
      ? [`damaged: ${formatCount(damagedBytes, 'byte', 'bytes')} that ${damagedBytes === 1 ? 'is' : 'are'} no frames`]
      : []),
    ...(missingEntries > 0 ? [`damaged: ${formatItemCount(missingEntries, kind)} missing`] : []),
    ...problems.map((problem) => `cannot be read: ${printable(mask(problem))}`),
  ].map((note) => `    ${note}`)
}

const SHOWN_REASONS = 5

function lettersRows(
  { files, bytes, entries, damagedLines, reasons, problems }: LetterTally,
  mask: (text: string) => string,
): string[] {
  if (files === 0) return []
  const more = reasons.slice(SHOWN_REASONS).reduce((sum, { count }) => sum + count, 0)
  return [
    `  ${formatDeadLetterCount(entries)} in ${formatCount(files, 'file', 'files')}, ${formatSize(bytes)}`,
    ...reasons.slice(0, SHOWN_REASONS).map(({ reason, count }) => `    ${count} x ${printable(reason)}`),
    ...(more > 0 ? [`    ${more} x for other reasons`] : []),
    ...(damagedLines > 0 ? [`    damaged: ${formatCount(damagedLines, 'line', 'lines')} that cannot be read`] : []),
    ...problems.map((problem) => `    cannot be read: ${printable(mask(problem))}`),
  ]
}
