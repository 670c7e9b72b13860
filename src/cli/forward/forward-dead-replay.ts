/** `pino-ingest forward dead replay`: publishes rejected entries to the queue again. */
import type { StoredDeadLetter } from '../../nats/dead-letter-stream.js'
import { isInDoubt, isStored } from '../../nats/jetstream-request.js'
import { CONTENT_TYPE_HEADER, COUNT_HEADER, ENDPOINT_HEADER, VERSION_HEADER } from '../../nats/message.js'
import loadNats from '../../nats/load-nats.cjs'
import { CONTENT_TYPE } from '../../protocol/limits.js'
import { VERSION } from '../../version.js'
import { createUsageError, EXIT_DONE, EXIT_FAILED } from '../shared/command.js'
import type { Arguments, Command } from '../shared/command.js'
import { NATS_NOTE } from '../shared/nats-session.js'
import type { NatsSession } from '../shared/nats-session.js'
import { formatJsonLine, toPrintable } from '../shared/printable.js'
import { onTerminationSignal } from '../shared/termination-signals.js'
import { formatDeadLetterCount } from '../spool/spool-format.js'
import { ENDPOINTS, KIND_FLAG, parseDeadLetterFilter, selectDeadLetters, withSession } from './dead-letter-selection.js'
import { createRepublishedBatch } from './republished-batch.js'

/** Letters published concurrently. */
const CONCURRENCY = 32
const PUBLISH_TIMEOUT_MS = 5_000
/** The acknowledgement may be lost while a leader is elected. */
const ATTEMPTS = 5

export const deadReplayCommand: Command = {
  summary:
    'Publishes entries that the service rejected to the queue again, and deletes each from the dead letters when JetStream has stored it.',
  examples: [['npx pino-ingest forward dead replay --all', 'publishes all rejected entries again']],
  usage: ['pino-ingest forward dead replay BATCH_ID [FLAGS]', 'pino-ingest forward dead replay --all [FLAGS]'],
  flags: { all: { meaning: 'all dead letters' }, ...KIND_FLAG },
  notes: [
    'BATCH_ID is the batch_id of the batch that contained the entry. Each entry becomes its own batch, with an id derived from its index in that batch.',
    'After a kill, run it again to continue. No entry is delivered twice while the ids of delivered batches are kept.',
    'An entry that the service rejects again becomes a dead letter again.',
    NATS_NOTE,
    'Exit codes: 0 all were published, 1 some were not, 2 invalid flags or configuration.',
  ],
  maxPositionals: 1,
  jsonFailuresTo: 'stdout',
  run,
}

interface ReplayResult {
  replayed: number
  /** Letters that contain no entry. */
  skipped: number
  failed: number
  lastFailure: string | undefined
}

async function run(given: Arguments): Promise<number> {
  const filter = parseDeadLetterFilter(given)
  const isAll = given.switches.has('all')
  if (filter.batchId !== undefined && isAll) throw createUsageError(`give either ${filter.batchId} or --all`)
  if (filter.batchId === undefined && !isAll) throw createUsageError('replay needs a BATCH_ID or --all')
  let isStopped = false
  const undoSignals = onTerminationSignal(() => (isStopped = true))
  const result: ReplayResult = { replayed: 0, skipped: 0, failed: 0, lastFailure: undefined }
  try {
    await withSession('forward dead', async (session) => {
      const letters = selectDeadLetters(session, filter)
      // All workers share one generator, which yields each letter once.
      const work = async (): Promise<void> => {
        while (!isStopped && result.lastFailure === undefined) {
          const next = await letters.next()
          if (next.done === true) return
          await republishLetter(session, next.value, result)
        }
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, work))
    })
  } finally {
    undoSignals()
  }
  const isNotFound = filter.batchId !== undefined && result.replayed + result.skipped + result.failed === 0
  process.stdout.write(
    given.switches.has('json')
      ? formatJsonLine({ ...result, lastFailure: result.lastFailure ?? null, isStopped })
      : formatResult(result, isNotFound),
  )
  return result.failed + result.skipped > 0 || isStopped || isNotFound ? EXIT_FAILED : EXIT_DONE
}

/** Never rejects. */
export async function republishLetter(
  { jetstream, manager, names, describe }: Pick<NatsSession, 'jetstream' | 'manager' | 'names' | 'describe'>,
  letter: StoredDeadLetter,
  result: ReplayResult,
): Promise<void> {
  const batch = createRepublishedBatch(letter)
  if (batch === undefined) {
    result.skipped += 1
    return
  }
  const headers = loadNats().headers()
  headers.set(ENDPOINT_HEADER, ENDPOINTS[letter.kind])
  headers.set(COUNT_HEADER, '1')
  headers.set(VERSION_HEADER, VERSION)
  headers.set(CONTENT_TYPE_HEADER, CONTENT_TYPE)
  try {
    const { batchId, body } = batch
    const acknowledged = await jetstream.publish(names.subjects[letter.kind], body, {
      msgID: batchId,
      headers,
      // No forwarder reads another stream that has this subject.
      expect: { streamName: names.stream },
      timeout: PUBLISH_TIMEOUT_MS,
      retries: ATTEMPTS,
    })
    if (isInDoubt(acknowledged)) throw new Error('it is unknown whether the message is stored; replay it later')
    if (!isStored(acknowledged, names.stream)) throw new Error(`not acknowledged by the stream ${names.stream}`)
    await manager.streams.deleteMessage(names.deadStream, letter.sequence, false)
    result.replayed += 1
  } catch (error) {
    result.failed += 1
    result.lastFailure = describe(error)
  }
}

function formatResult({ replayed, skipped, failed, lastFailure }: ReplayResult, isNotFound: boolean): string {
  const lines = [`Published ${formatDeadLetterCount(replayed)} to the queue.`]
  if (isNotFound) lines.push('This batch has no dead letters.')
  if (skipped > 0)
    lines.push(`Skipped ${formatDeadLetterCount(skipped)} without an entry: see pino-ingest forward dead show.`)
  if (failed > 0) lines.push(`Kept ${formatDeadLetterCount(failed)} that failed: ${lastFailure ?? 'unknown error'}`)
  return lines.map((line) => `${toPrintable(line)}\n`).join('')
}
