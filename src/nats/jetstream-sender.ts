/** The innermost sender with `nats`: publishes one batch and turns the acknowledgement into an outcome. */
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import type { Batch } from '../batch/batch.js'
import type { Outcome } from '../batch/outcome.js'
import type { Sender } from '../batch/sender.js'
import { PATHS } from '../protocol/limits.js'
import { VERSION } from '../version.js'
import loadNats from './load-nats.cjs'
import { COUNT_HEADER } from './message.js'
import type { BatchKind } from './message.js'
import { isUnanswered } from './nats-error.js'
import { publishMessage } from './publish-message.js'
import { createMisconfigured, createTooLarge, toPublishFailure } from './publish-outcome.js'
import { findStreamProblem } from './stream-check.js'

export interface JetStreamSenderOptions {
  readonly connection: {
    use<T>(signal: AbortSignal, request: (connection: NatsConnection) => Promise<T>): Promise<T>
  }
  readonly kind: BatchKind
  readonly stream: string
  readonly subject: string
  /** Removes secrets and control characters from texts of the servers. */
  readonly clean: (text: string) => string
}

/** Milliseconds to wait for an acknowledgement. A killed leader never replies. */
const PUBLISH_TIMEOUT_MS = 3_000
/** Part of the servers' `max_payload` reserved for headers. */
export const MAX_HEADER_BYTES = 1_024

export function createJetStreamSender(options: JetStreamSenderOptions): Sender {
  const { clean } = options

  const publish = async (batch: Batch, connection: NatsConnection): Promise<Outcome> => {
    const { stream, subject } = options
    const maxBytes = (connection.info?.max_payload ?? Infinity) - MAX_HEADER_BYTES
    if (batch.body.length > maxBytes)
      return createTooLarge(`${batch.body.length} bytes exceed the servers' max_payload`)
    try {
      const headers = createHeaders(options.kind, batch.count)
      const message = { subject, body: batch.body, msgID: batch.batchId, headers }
      // The scheduler repeats it.
      await publishMessage(connection, stream, message, { timeout: PUBLISH_TIMEOUT_MS, retries: 1 })
    } catch (error) {
      const problem = isUnanswered(error) ? await findStreamProblem(connection, stream, subject) : undefined
      if (problem !== undefined) return createMisconfigured(problem)
      throw error
    }
    // This includes duplicates: the first message is stored.
    return { kind: 'delivered', accepted: batch.count, rejected: [] }
  }

  return {
    async send(batch, signal) {
      // JetStream would acknowledge it, but no forwarder could read it.
      if (batch.body.length === 0)
        return { kind: 'abandoned', reason: 'a batch without its body: this is a bug, please report it' }
      try {
        return await options.connection.use(signal, (connection) => publish(batch, connection))
      } catch (error) {
        const failure = toPublishFailure(error)
        return { ...failure, reason: clean(failure.reason) }
      }
    },
  }
}

export function createHeaders(kind: BatchKind, count: number): MsgHdrs {
  const headers = loadNats().headers()
  headers.set('Pino-Ingest-Endpoint', kind === 'logs' ? PATHS.ingest : PATHS.requests)
  headers.set(COUNT_HEADER, String(count))
  headers.set('Pino-Ingest-Version', VERSION)
  headers.set('Content-Type', 'application/json')
  return headers
}
