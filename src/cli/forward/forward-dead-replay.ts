/** `pino-ingest forward dead replay`: publishes rejected entries to the queue again. */
import { createBatchBody, createSubBatchId } from '../../batch/sub-batch.js'
import type { StoredDeadLetter } from '../../nats/dead-letter.js'
import { createHeaders } from '../../nats/jetstream-sender.js'
import { publishMessage } from '../../nats/publish-message.js'
import { readId } from '../shared/arguments.js'
import { EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { formatDeadLetterCount } from '../shared/entry-printer.js'
import { NATS_NOTE } from '../shared/nats-session.js'
import type { NatsSession } from '../shared/nats-session.js'
import { formatJsonLine, toPrintable } from '../shared/terminal.js'
import { isJsonObject, withDeadLetters } from './selected-dead-letters.js'

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
  run,
}

async function run(given: Arguments): Promise<number> {
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
