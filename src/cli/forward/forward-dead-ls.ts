/** `pino-ingest forward dead ls`: how many entries were rejected, by endpoint and reason. */
import type { StoredDeadLetter } from '../../nats/dead-letter-stream.js'
import { systemClock } from '../../shared/clock.js'
import { EXIT_DONE } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { NATS_NOTE } from '../shared/nats-session.js'
import { formatJsonLine, toPrintable } from '../shared/printable.js'
import { formatAge, formatColumns, formatNumber, formatSize } from '../shared/terminal-format.js'
import { formatRejection } from '../spool/read-dead-letters.js'
import { formatDeadLetterCount } from '../spool/spool-format.js'
import { ENDPOINTS, KIND_FLAG, parseDeadLetterFilter, selectDeadLetters, withSession } from './dead-letter-selection.js'

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

export interface DeadLetterGroup {
  readonly endpoint: string
  readonly reason: string
  count: number
  bytes: number
  /** Times at which the first and the last letter were stored. */
  readonly first: string
  last: string
}

/** Reasons can quote the entry and then all differ. Above this limit they are counted as one group. */
const MAX_GROUPS = 1_000

async function run(given: Arguments): Promise<number> {
  const filter = parseDeadLetterFilter(given)
  const { stream, groups } = await withSession('forward dead', async (session) => ({
    stream: session.names.deadStream,
    groups: await groupDeadLetters(selectDeadLetters(session, filter), session.mask),
  }))
  const total = {
    stream,
    entries: groups.reduce((sum, { count }) => sum + count, 0),
    bytes: groups.reduce((sum, { bytes }) => sum + bytes, 0),
  }
  process.stdout.write(
    given.switches.has('json')
      ? formatJsonLine({ ...total, groups })
      : formatGroups(total, groups, systemClock.wallNow()),
  )
  return EXIT_DONE
}

/** The largest group first. */
async function groupDeadLetters(
  letters: AsyncIterable<StoredDeadLetter>,
  mask: (text: string) => string,
): Promise<DeadLetterGroup[]> {
  const groups = new Map<string, DeadLetterGroup>()
  for await (const letter of letters) {
    const endpoint = ENDPOINTS[letter.kind]
    const named = mask(formatRejection(letter))
    const reason = groups.size < MAX_GROUPS || groups.has(`${endpoint} ${named}`) ? named : 'other reasons'
    const key = `${endpoint} ${reason}`
    const group = groups.get(key)
    if (group === undefined) {
      groups.set(key, { endpoint, reason, count: 1, bytes: letter.bytes, first: letter.at, last: letter.at })
    } else {
      group.count += 1
      group.bytes += letter.bytes
      group.last = letter.at
    }
  }
  return [...groups.values()].toSorted((one, other) => other.count - one.count)
}

function formatGroups(
  { stream, entries, bytes }: { readonly stream: string; readonly entries: number; readonly bytes: number },
  groups: readonly DeadLetterGroup[],
  wallNowMs: number,
): string {
  if (entries === 0) return `${stream} contains no dead letters.\n`
  const age = (at: string): string => `${formatAge(wallNowMs - Date.parse(at))} ago`
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
