/** The innermost sender with `nats`: publishes one batch and turns the acknowledgement into an outcome. */
import type { MsgHdrs } from '@nats-io/transport-node'
import type { Batch } from '../batch/batch.js'
import type { Outcome } from '../batch/outcome.js'
import type { Sender } from '../batch/sender.js'
import { PATHS } from '../protocol/limits.js'
import type { Clock } from '../shared/clock.js'
import { VERSION } from '../version.js'
import loadNats from './load-nats.cjs'
import { IN_DOUBT, isInDoubt, isStored } from './jetstream-request.js'
import {
  BATCH_ID_HEADER,
  CONTENT_ENCODING_HEADER,
  CONTENT_TYPE_HEADER,
  COUNT_HEADER,
  ENDPOINT_HEADER,
  VERSION_HEADER,
} from './message.js'
import type { BatchKind } from './message.js'
import { isUnanswered } from './nats-error.js'
import { createMisconfigured, createTooLarge, toPublishFailure } from './publish-outcome.js'
import type { OpenConnection, PublisherConnection } from './publisher-connection.js'
import { findStreamProblem } from './stream-check.js'

export interface JetStreamSenderOptions {
  readonly connection: Pick<PublisherConnection, 'use'>
  readonly kind: BatchKind
  readonly stream: string
  readonly subject: string
  readonly clock: Pick<Clock, 'now'>
  /** Removes secrets and control characters from texts of the servers. */
  readonly clean: (text: string) => string
}

/** Milliseconds to wait for an acknowledgement. A killed leader never replies. */
const PUBLISH_TIMEOUT_MS = 3_000
/** Part of the servers' `max_payload` reserved for headers. */
export const MAX_HEADER_BYTES = 1_024
/** A leader election takes up to 20 s. A longer silence is reported as a misconfiguration. */
const UNANSWERED_MS = 60_000
/** Within this time a message in doubt is either stored or lost with its leader. */
const IN_DOUBT_MS = 10_000
/** Limit of tracked batches in doubt. At the limit all are forgotten, including abandoned ones. */
const MAX_IN_DOUBT = 1_000

/** The message ID under which a batch is published. */
interface MessageId {
  /** Appended to the `batch_id`, unless it is 0. */
  readonly number: number
  /** Time since which JetStream knows this ID without having stored the message. */
  readonly inDoubtSince?: number
}

export function createJetStreamSender(options: JetStreamSenderOptions): Sender {
  const { connection, clock, clean } = options
  let unansweredSince: number | undefined
  /** By `batch_id`, for batches that are or were in doubt. */
  const messageIds = new Map<string, MessageId>()

  /** Only an `IN_DOUBT` reply for this ID leads to the next ID: after a timeout the message may be stored. */
  const noteDoubt = (batchId: string, { number, inDoubtSince: since = clock.now() }: MessageId): void => {
    if (messageIds.size >= MAX_IN_DOUBT && !messageIds.has(batchId)) messageIds.clear()
    const isForgotten = clock.now() - since >= IN_DOUBT_MS
    messageIds.set(batchId, isForgotten ? { number: number + 1 } : { number, inDoubtSince: since })
  }

  const publish = async (batch: Batch, open: OpenConnection): Promise<Outcome> => {
    const { stream, subject } = options
    const maxBytes = (open.connection.info?.max_payload ?? Infinity) - MAX_HEADER_BYTES
    if (batch.body.length > maxBytes)
      return createTooLarge(`${batch.body.length} bytes exceed the servers' max_payload`)
    const id = messageIds.get(batch.batchId) ?? { number: 0 }
    const headers = createHeaders(options.kind, batch)
    if (id.number > 0) headers.set(BATCH_ID_HEADER, batch.batchId)
    try {
      const acknowledged = await open.jetstream.publish(subject, batch.body, {
        headers,
        // If both messages are stored, the forwarder delivers one of them.
        msgID: id.number === 0 ? batch.batchId : `${batch.batchId}-${id.number}`,
        // No forwarder reads another stream that has this subject.
        expect: { streamName: stream },
        timeout: PUBLISH_TIMEOUT_MS,
      })
      if (isInDoubt(acknowledged))
        throw Object.assign(new Error('it is unknown whether the message is stored'), { code: IN_DOUBT })
      if (!isStored(acknowledged, stream)) throw new Error(`not acknowledged by the stream ${stream}`)
    } catch (error) {
      if ((error as { code?: unknown }).code === IN_DOUBT) noteDoubt(batch.batchId, id)
      const problem = isUnanswered(error) ? await findStreamProblem(open.connection, stream, subject) : undefined
      if (problem !== undefined) return createMisconfigured(problem)
      throw error
    }
    unansweredSince = undefined
    messageIds.delete(batch.batchId)
    // This includes duplicates: the first message is stored.
    return { kind: 'delivered', accepted: batch.count, rejected: [] }
  }

  return {
    async send(batch, signal) {
      // JetStream would acknowledge it, but no forwarder could read it.
      if (batch.body.length === 0)
        return { kind: 'abandoned', reason: 'a batch without its body: this is a bug, please report it' }
      try {
        return await connection.use(signal, (open) => publish(batch, open))
      } catch (error) {
        const failure = toPublishFailure(error)
        const reason = clean(failure.reason)
        if (!isUnanswered(error)) {
          // Any other failure restarts the period: after an outage the servers elect a leader again.
          unansweredSince = undefined
          return { ...failure, reason }
        }
        unansweredSince ??= clock.now()
        return clock.now() - unansweredSince < UNANSWERED_MS ? { ...failure, reason } : createMisconfigured(reason)
      }
    },
  }
}

function createHeaders(kind: BatchKind, batch: Batch): MsgHdrs {
  const headers = loadNats().headers()
  headers.set(ENDPOINT_HEADER, kind === 'logs' ? PATHS.ingest : PATHS.requests)
  headers.set(COUNT_HEADER, String(batch.count))
  headers.set(VERSION_HEADER, VERSION)
  headers.set(CONTENT_TYPE_HEADER, 'application/json')
  if (batch.contentEncoding !== undefined) headers.set(CONTENT_ENCODING_HEADER, batch.contentEncoding)
  return headers
}
