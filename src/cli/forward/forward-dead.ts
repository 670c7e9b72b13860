/** `pino-ingest forward dead`: counts, shows and replays the entries that the log service rejected. */
import { createBatchBody, createSubBatchId } from '../../batch/sub-batch.js'
import { readDeadLetters } from '../../nats/dead-letter.js'
import type { StoredDeadLetter } from '../../nats/dead-letter.js'
import { findSetupFix } from '../../nats/fleet-setup.js'
import { createHeaders } from '../../nats/jetstream-sender.js'
import { publishMessage } from '../../nats/publish-message.js'
import { PATHS } from '../../protocol/limits.js'
import { isObject } from '../../shared/argument-checks.js'
import { toDeadLetterLine } from '../../spool/dead-letter-file.js'
import { readId } from '../shared/arguments.js'
import { CommandError, EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import {
  EntryPrinter,
  formatDeadLetterCount,
  formatRejection,
  LIMIT_FLAG,
  parseLimit,
} from '../shared/entry-printer.js'
import { NATS_NOTE, openNatsSession } from '../shared/nats-session.js'
import type { NatsSession } from '../shared/nats-session.js'
import { formatColumns, formatJsonLine, formatNumber, toPrintable } from '../shared/terminal.js'

export const deadLsCommand: Command = {
  examples: [['npx pino-ingest forward dead ls', 'rejected entries by endpoint and reason']],
  notes: [
    NATS_NOTE,
    'With --json, it prints one object: stream, entries, groups of endpoint, reason and count.',
    'Exit codes: 0 done, 1 the stream cannot be read, 2 invalid flags or configuration.',
  ],
  run: list,
}

/** Reasons can quote the entry and then all differ. Above this limit they are counted as one group. */
const MAX_GROUPS = 1_000

async function list(given: Arguments): Promise<number> {
  const counts = new Map<string, { readonly endpoint: string; readonly reason: string; count: number }>()
  let entries = 0
  const stream = await withDeadLetters(given, async (letters, { names, mask }) => {
    for await (const letter of letters) {
      entries += 1
      const endpoint = letter.kind === 'logs' ? PATHS.ingest : PATHS.requests
      const named = mask(formatRejection(letter))
      const reason = counts.size < MAX_GROUPS || counts.has(`${endpoint} ${named}`) ? named : 'other reasons'
      const key = `${endpoint} ${reason}`
      counts.set(key, { endpoint, reason, count: (counts.get(key)?.count ?? 0) + 1 })
    }
    return names.deadStream
  })
  const groups = [...counts.values()].toSorted((one, other) => other.count - one.count)
  const rows = groups.map(({ endpoint, reason, count }) => [
    formatNumber(count).padStart(7),
    endpoint,
    toPrintable(reason),
  ])
  process.stdout.write(
    given.switches.has('json')
      ? formatJsonLine({ stream, entries, groups })
      : [`${formatDeadLetterCount(entries)} in ${stream}`, ...formatColumns(rows)].map((line) => `${line}\n`).join(''),
  )
  return EXIT_DONE
}

export const deadShowCommand: Command = {
  examples: [
    ['npx pino-ingest forward dead show', 'the oldest rejected entries with their reasons'],
    ['npx pino-ingest forward dead show --json', 'for a script'],
  ],
  usage: ['pino-ingest forward dead show [BATCH_ID] [FLAGS]'],
  flags: LIMIT_FLAG,
  notes: [
    'BATCH_ID is the batch_id of the batch that contained the entry.',
    'With --json, it prints one object per line: at, batch_id, index, status, code, field, reason, and the entry as it was sent.',
    NATS_NOTE,
    'Exit codes: 0 done, 1 the batch has no dead letters or the stream cannot be read, 2 invalid flags or configuration.',
  ],
  maxPositionals: 1,
  run: show,
}

async function show(given: Arguments): Promise<number> {
  const limit = parseLimit(given)
  return withDeadLetters(given, async (letters, { mask }) => {
    const printer = new EntryPrinter(given.switches.has('json'), limit, mask)
    for await (const letter of letters) {
      printer.printDeadLetter(letter, toJson(letter))
      if (printer.isFull) break
    }
    printer.end('There are no such dead letters.')
    return printer.count === 0 && given.positionals.length > 0 ? EXIT_FAILED : EXIT_DONE
  })
}

function toJson(letter: StoredDeadLetter): string {
  // The content of a message that was not a batch may not be JSON.
  const entry = isJsonObject(letter.entry) ? letter.entry : JSON.stringify(letter.entry)
  return toDeadLetterLine({ ...letter, entry }, letter.at).trimEnd()
}

/** Letters published concurrently. */
const CONCURRENCY = 32
/** The acknowledgement may be lost while a leader is elected. */
const REPEATED = { timeout: 5_000, retries: 5 }

export const deadReplayCommand: Command = {
  examples: [['npx pino-ingest forward dead replay --all', 'publishes all rejected entries again']],
  usage: ['pino-ingest forward dead replay BATCH_ID [FLAGS]', 'pino-ingest forward dead replay --all [FLAGS]'],
  flags: { all: { meaning: 'all dead letters' } },
  notes: [
    'BATCH_ID is the batch_id of the batch that contained the entry. Each entry becomes its own batch, with an id derived from its index in that batch.',
    'After a kill, run it again to continue. No entry is delivered twice while the ids of delivered batches are kept.',
    NATS_NOTE,
    'Exit codes: 0 all were published, 1 some were not, 2 invalid flags or configuration.',
  ],
  maxPositionals: 1,
  run: replay,
}

async function replay(given: Arguments): Promise<number> {
  const batchId = readId(given, 'replay needs a BATCH_ID or --all')
  const result = { replayed: 0, skipped: 0, lastFailure: null as string | null }
  await withDeadLetters(given, async (letters, session) => {
    // All workers share one generator, which yields each letter once.
    const work = async (): Promise<void> => {
      while (result.lastFailure === null) {
        const { value: letter } = await letters.next()
        if (letter === undefined) return
        try {
          const isReplayed = await republishLetter(session, letter)
          result[isReplayed ? 'replayed' : 'skipped'] += 1
        } catch (error) {
          result.lastFailure = session.describe(error)
        }
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
  })
  const { replayed, skipped, lastFailure } = result
  const isNotFound = batchId !== undefined && lastFailure === null && replayed + skipped === 0
  const lines = [`Published ${formatDeadLetterCount(replayed)} to the queue.`]
  if (isNotFound) lines.push('This batch has no dead letters.')
  if (skipped > 0)
    lines.push(`Skipped ${formatDeadLetterCount(skipped)} without an entry: see pino-ingest forward dead show.`)
  if (lastFailure !== null) lines.push(`Kept the others, since publishing failed: ${lastFailure}`)
  process.stdout.write(
    given.switches.has('json') ? formatJsonLine(result) : lines.map((line) => `${toPrintable(line)}\n`).join(''),
  )
  return lastFailure !== null || skipped > 0 || isNotFound ? EXIT_FAILED : EXIT_DONE
}

/**
 * Publishes a batch with one entry, then deletes the letter. If it is killed in between, the next replay publishes the entry under the same
 * batch id. With several entries per batch, the next replay would create different batches.
 * @returns false if the letter contains no entry
 * @throws the client's errors; then the letter is kept
 */
async function republishLetter(
  { connection, manager, names }: NatsSession,
  { kind, batchId: originId, index, entry, sequence }: StoredDeadLetter,
): Promise<boolean> {
  if (!isJsonObject(entry)) return false
  // Must differ from the id of a sub-batch: forwarders skip the ids of delivered batches.
  const batchId = createSubBatchId(`dead letter of ${originId}`, [index])
  const body = createBatchBody(batchId, [entry])
  const message = { subject: names.subjects[kind], body, msgID: batchId, headers: createHeaders(kind, 1) }
  await publishMessage(connection, names.stream, message, REPEATED)
  await manager.streams.deleteMessage(names.deadStream, sequence, false)
  return true
}

/**
 * Calls `use` with the letters, the oldest first.
 * @param given a positional is the id of the batch, with or without the hash that the forwarder appends to other programs' ids
 * @throws CommandError, with advice for errors of NATS
 */
async function withDeadLetters<T>(
  { positionals: [batchId] }: Arguments,
  use: (letters: AsyncGenerator<StoredDeadLetter, undefined>, session: NatsSession) => Promise<T>,
): Promise<T> {
  const session = await openNatsSession('forward dead')
  try {
    return await use(select(session, batchId?.toLowerCase()), session)
  } catch (error) {
    const text = `${session.names.deadStream}: ${session.describe(error)}`
    throw new CommandError('STREAM', text, EXIT_FAILED, [findSetupFix(error)])
  } finally {
    await session.close()
  }
}

async function* select(
  { manager, names }: NatsSession,
  batchId: string | undefined,
): AsyncGenerator<StoredDeadLetter, undefined> {
  for await (const letter of readDeadLetters(manager, names))
    if (batchId === undefined || `${letter.batchId.toLowerCase()}.`.startsWith(`${batchId}.`)) yield letter
}

/** Whether a letter contains an entry. */
function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}
