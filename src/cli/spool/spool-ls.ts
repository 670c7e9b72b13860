/** `pino-ingest spool ls`: lists destinations, instances and dead letters with sizes, ages and reasons. */
import { maskDeep } from '../../diagnostics/secret-mask.js'
import { systemClock } from '../../shared/clock.js'
import { readDescription } from '../../spool/destination-file.js'
import { summarizeUnsettled } from '../../spool/inspect.js'
import type { FoundInstance, UnsettledSummary } from '../../spool/inspect.js'
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
import { toMessage } from '../../shared/errors.js'

export const lsCommand: Command = {
  examples: [
    ['npx pino-ingest spool ls', 'what is stored, for which destination'],
    ['npx pino-ingest spool ls --dir /var/lib/app/spool --json', 'of another folder, for a script'],
  ],
  flags: DIR_FLAG,
  notes: [
    `running: its process is running; killed: its process was killed; closed: its process exited normally; claimed: taken over by the
instance above it. The next application with the same URL and key sends the entries of killed and closed instances; so does spool replay.`,
    'A destination is a URL and a key. It is shown with the service name that used it last; the one of PINO_INGEST_URL and its key is the current one.',
    'With --json, it prints one object: root, destinations, total. Times are in milliseconds, sizes in bytes; a kind is entries or requests.',
    'Exit codes: 0 done, 1 the folder does not exist or is unsafe, 2 invalid flags.',
  ],
  run,
}

interface DeadLetterSummary {
  readonly files: number
  readonly bytes: number
  readonly entries: number
  readonly damagedLines: number
  /** The most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly count: number }[]
  readonly problems: readonly string[]
}

interface ListedInstance extends Omit<FoundInstance, 'segments'>, UnsettledSummary {
  readonly kind: ItemKind
  readonly segments: number
}

interface Listed {
  readonly name: string
  /** Null if the folder does not say. */
  readonly url: string | null
  readonly service: string | null
  readonly kind: ItemKind
  readonly isPresent: boolean
  readonly isPrevious: boolean
  readonly instances: readonly ListedInstance[]
  readonly deadLetters: DeadLetterSummary
}

async function run(given: Arguments): Promise<number> {
  const location = locateSpool(given)
  const listed = await listAll(location, true)
  process.stdout.write(
    given.switches.has('json')
      ? formatJsonLine({ root: location.root, destinations: listed, total: summarizeAll(listed) })
      : formatListed(location, listed),
  )
  return EXIT_DONE
}

/** For a problem report, without the service's reasons, which may quote an entry. */
export async function formatSpool(location: SpoolLocation): Promise<string> {
  return formatListed(location, await listAll(location, false))
}

async function listAll(location: SpoolLocation, hasReasons: boolean): Promise<Listed[]> {
  const { destinations, kindOf, present, previous, mask } = location
  const listed: Listed[] = []
  for (const { name, path, instances: found, deadLetters } of destinations) {
    const kind = kindOf(name)
    const instances: ListedInstance[] = []
    for (const instance of found) {
      const summary = await summarizeUnsettled(instance)
      const problems = summary.problems.map(mask)
      instances.push({ ...instance, ...summary, kind, segments: instance.segments.length, problems })
    }
    const { url = null, service = null } = maskDeep(readDescription(path), mask) ?? {}
    listed.push({
      name,
      url,
      service,
      kind,
      isPresent: present.includes(name),
      isPrevious: previous.includes(name),
      instances,
      deadLetters: summarizeDeadLetters(deadLetters, mask, hasReasons),
    })
  }
  return listed
}

/** The service can repeat the rejected value in its reason, so each dead letter may have a different one. */
const MAX_REASONS = 100
const MAX_REASON_CHARS = 160
const OTHER = 'other reasons'

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
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') problems.push(mask(toMessage(error)))
    }
  }
  const reasons = [...counts].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count)
  return { files: files.length, bytes: sum(files.map(({ bytes }) => bytes)), entries, damagedLines, reasons, problems }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function summarizeAll(listed: readonly Listed[]) {
  const instances = listed.flatMap((one) => one.instances)
  const letters = listed.map(({ deadLetters }) => deadLetters)
  const countItems = (wanted: ItemKind): number =>
    sum(instances.filter(({ kind }) => kind === wanted).map(({ entries }) => entries))
  return {
    instances: instances.length,
    bytes: sum([...instances, ...letters].map(({ bytes }) => bytes)),
    batches: sum(instances.map(({ batches }) => batches)),
    entries: countItems('entries'),
    requestLogs: countItems('requests'),
    deadLetters: sum(letters.map(({ entries }) => entries)),
  }
}

function formatListed({ root, mask }: SpoolLocation, listed: readonly Listed[]): string {
  const { instances, bytes, deadLetters } = summarizeAll(listed)
  const waiting = formatItemCounts(listed.flatMap((one) => one.instances))
  const total = `${formatCount(instances, 'instance', 'instances')}, ${formatSize(bytes)}, ${waiting} waiting, ${formatDeadLetterCount(deadLetters)}`
  return `${[toPrintable(mask(root)), ...listed.map(formatDestination), `Total: ${total}`].join('\n\n')}\n`
}

function formatDestination(destination: Listed): string {
  const { name, url, service, kind, isPresent, isPrevious, instances, deadLetters } = destination
  const owner = isPresent ? ['the current destination'] : isPrevious ? ['destination of a previous key'] : []
  const heading = [url ?? 'unknown URL', ...(service === null ? [] : [`service ${service}`]), `ID ${name}`, ...owner]
  const isEmpty = instances.length + deadLetters.files === 0
  const rows = formatColumns(instances.map(toRow))
  return [
    `${toPrintable(heading.join('  '))}${kind === 'requests' ? ', request logs' : ''}${isEmpty ? ', empty' : ''}`,
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
    formatCount(one.segments, 'segment', 'segments'),
    formatSize(one.bytes),
    formatCount(one.batches, 'batch', 'batches'),
    formatItemCount(one.entries, one.kind),
    age,
  ]
}

function formatWriter({ state, pid, claimedBy, leaseAgeMs }: ListedInstance): string {
  if (state === 'claimed') return `by ${claimedBy}`
  const lease = state === 'running' && leaseAgeMs !== undefined ? [`lease ${formatAge(leaseAgeMs)} old`] : []
  return [...(pid === undefined ? [] : [`pid ${pid}`]), ...lease].join(', ')
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
