/** `pino-ingest forward dead ls`: how many entries were rejected, by endpoint and reason. */
import { PATHS } from '../../protocol/limits.js'
import { systemClock } from '../../shared/clock.js'
import { EXIT_DONE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatDeadLetterCount, formatRejection } from '../shared/entry-printer.js'
import { NATS_NOTE } from '../shared/nats-session.js'
import type { NatsSession } from '../shared/nats-session.js'
import { formatJsonLine, toPrintable } from '../shared/printable.js'
import { formatAge, formatColumns, formatNumber, formatSize } from '../shared/terminal-format.js'
import { KIND_FLAG, withDeadLetters } from './selected-dead-letters.js'
import type { SelectedDeadLetters } from './selected-dead-letters.js'

export const deadLsCommand: Command = {
  summary: 'Counts the entries that the service rejected, by endpoint and reason. It changes nothing.',
  examples: [['npx pino-ingest forward dead ls', 'rejected entries by endpoint and reason']],
  usage: ['pino-ingest forward dead ls [FLAGS]'],
  flags: KIND_FLAG,
  notes: [
    NATS_NOTE,
    'With --json, it prints one object: stream, entries, bytes, groups of endpoint, reason, count, first and last.',
    'Exit codes: 0 done, 1 the stream cannot be read, 2 invalid flags or configuration.',
  ],
  jsonFailuresTo: 'stdout',
  run,
}

interface DeadLetterGroup {
  readonly endpoint: string
  readonly reason: string
  readonly count: number
  /** Times at which the first and the last letter were stored. */
  readonly first: string
  readonly last: string
}

interface DeadLetterList {
  readonly stream: string
  readonly entries: number
  /** Bytes of the entries. */
  readonly bytes: number
  /** The largest first. */
  readonly groups: readonly DeadLetterGroup[]
}

/** Reasons can quote the entry and then all differ. Above this limit they are counted as one group. */
const MAX_GROUPS = 1_000

async function run(given: Arguments): Promise<number> {
  const list = await withDeadLetters(given, listDeadLetters)
  process.stdout.write(given.switches.has('json') ? formatJsonLine(list) : formatList(list))
  return EXIT_DONE
}

async function listDeadLetters(letters: SelectedDeadLetters, { names, mask }: NatsSession): Promise<DeadLetterList> {
  const groups = new Map<string, DeadLetterGroup>()
  let [entries, bytes] = [0, 0]
  for await (const letter of letters) {
    entries += 1
    bytes += Buffer.byteLength(letter.entry)
    const endpoint = letter.kind === 'logs' ? PATHS.ingest : PATHS.requests
    const named = mask(formatRejection(letter))
    const reason = groups.size < MAX_GROUPS || groups.has(`${endpoint} ${named}`) ? named : 'other reasons'
    const key = `${endpoint} ${reason}`
    const { count, first } = groups.get(key) ?? { count: 0, first: letter.at }
    groups.set(key, { endpoint, reason, count: count + 1, first, last: letter.at })
  }
  const largestFirst = [...groups.values()].toSorted((one, other) => other.count - one.count)
  return { stream: names.deadStream, entries, bytes, groups: largestFirst }
}

function formatList({ stream, entries, bytes, groups }: DeadLetterList): string {
  if (entries === 0) return `${stream} contains no dead letters.\n`
  const age = (at: string): string => `${formatAge(systemClock.wallNow() - Date.parse(at))} ago`
  const rows = groups.map(({ endpoint, reason, count, first, last }) => [
    formatNumber(count).padStart(7),
    endpoint,
    `first ${age(first)}`,
    `last ${age(last)}`,
    toPrintable(reason),
  ])
  return [`${formatDeadLetterCount(entries)} in ${stream}, ${formatSize(bytes)}`, ...formatColumns(rows)]
    .map((line) => `${line}\n`)
    .join('')
}
