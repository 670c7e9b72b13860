/** The innermost sender with `nats`: publishes one batch, and makes an outcome of the acknowledgement. */
import type { MsgHdrs } from '@nats-io/transport-node'
import type { Batch, Outcome, Sender } from '../batch/sender.js'
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
import { misconfigured, tooLarge, toPublishFailure } from './publish-outcome.js'
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

/** Milliseconds until an acknowledgement. A leader that was killed never answers. */
const PUBLISH_TIMEOUT_MS = 3_000
/** Reserved of the servers' `max_payload`. */
export const MAX_HEADER_BYTES = 1_024
/** An election takes up to 20 s. If nobody answered for longer, a person must look. */
const UNANSWERED_MS = 60_000
/** A message that is under way is stored, or forgotten with its leader, within this time. */
const IN_DOUBT_MS = 10_000
/** Batches in doubt. One that was given up is forgotten in time. */
const MAX_IN_DOUBT = 1_000

/** The message ID that a batch is published under at present. */
interface MessageId {
  /** 0: the `batch_id` alone. */
  readonly number: number
  /** Since when JetStream knows this ID, and not whether the message is stored. */
  readonly inDoubtSince?: number
}

export function createJetStreamSender(options: JetStreamSenderOptions): Sender {
  const { connection, clock, clean } = options
  let unansweredSince: number | undefined
  /** Of batches that are or were in doubt. */
  const messageIds = new Map<string, MessageId>()

  /** A message that a timeout leaves open may be stored, so only the answer for this very ID leads to the next one. */
  const noteDoubt = (batchId: string, { number, inDoubtSince: since = clock.now() }: MessageId): void => {
    if (messageIds.size >= MAX_IN_DOUBT && !messageIds.has(batchId)) messageIds.clear()
    const isForgotten = clock.now() - since >= IN_DOUBT_MS
    messageIds.set(batchId, isForgotten ? { number: number + 1 } : { number, inDoubtSince: since })
  }

  const publish = async (batch: Batch, open: OpenConnection): Promise<Outcome> => {
    const { stream, subject } = options
    const maxBytes = (open.connection.info?.max_payload ?? Infinity) - MAX_HEADER_BYTES
    if (batch.body.length > maxBytes) return tooLarge(`${batch.body.length} bytes exceed max_payload of the servers`)
    const id = messageIds.get(batch.batchId) ?? { number: 0 }
    const headers = createHeaders(options.kind, batch)
    if (id.number > 0) headers.set(BATCH_ID_HEADER, batch.batchId)
    try {
      const acknowledged = await open.jetstream.publish(subject, batch.body, {
        headers,
        // If both are stored, the forwarder delivers one.
        msgID: id.number === 0 ? batch.batchId : `${batch.batchId}-${id.number}`,
        // Another stream with the subject would store what no forwarder reads.
        expect: { streamName: stream },
        timeout: PUBLISH_TIMEOUT_MS,
      })
      if (isInDoubt(acknowledged)) throw Object.assign(new Error('not known whether it is stored'), { code: IN_DOUBT })
      if (!isStored(acknowledged, stream)) throw new Error(`not acknowledged by the stream ${stream}`)
    } catch (error) {
      if ((error as { code?: unknown }).code === IN_DOUBT) noteDoubt(batch.batchId, id)
      const problem = isUnanswered(error) ? await findStreamProblem(open.connection, stream, subject) : undefined
      if (problem !== undefined) return misconfigured(problem)
      throw error
    }
    unansweredSince = undefined
    messageIds.delete(batch.batchId)
    // A duplicate is acknowledged as well: the first one is stored.
    return { kind: 'delivered', accepted: batch.count, rejected: [] }
  }

  return {
    async send(batch, signal) {
      // It would be acknowledged, and no forwarder could read it.
      if (batch.body.length === 0)
        return { kind: 'abandoned', reason: 'a batch without its body: this is a bug, please report it' }
      try {
        return await connection.use(signal, (open) => publish(batch, open))
      } catch (error) {
        const failure = toPublishFailure(error)
        const reason = clean(failure.reason)
        if (!isUnanswered(error)) {
          // Servers that were away elect a leader when they return.
          unansweredSince = undefined
          return { ...failure, reason }
        }
        unansweredSince ??= clock.now()
        return clock.now() - unansweredSince < UNANSWERED_MS ? { ...failure, reason } : misconfigured(reason)
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
