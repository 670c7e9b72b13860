/** Publishes a message to a stream. */
import type { JetStreamPublishOptions } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import loadNats from './load-nats.cjs'

interface PublishInit extends Required<Pick<JetStreamPublishOptions, 'msgID' | 'headers' | 'timeout'>> {
  readonly stream: string
  readonly subject: string
  readonly body: Uint8Array
  /** Number of requests, which are repeated only without a reply. */
  readonly attempts: number
}

/**
 * Resolves when the stream contains the message, also from an earlier attempt.
 * @throws the client's errors; an error if the reply does not acknowledge the message
 */
export async function publishMessage(
  connection: NatsConnection,
  { stream, subject, body, attempts, ...init }: PublishInit,
): Promise<void> {
  // Another stream may have the subject as well.
  const options = { ...init, expect: { streamName: stream }, retries: attempts }
  const stored = await loadNats().jetstream(connection).publish(subject, body, options)
  // Any subscriber of the subject can reply. A duplicate without a sequence is in doubt: JetStream may not store the first one either.
  if (stored.stream !== stream || !(stored.seq > 0)) throw new Error(`not acknowledged by the stream ${stream}`)
}
