/** Publishes a message to a stream. */
import type { JetStreamPublishOptions } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import loadNats from './load-nats.cjs'

export interface PublishInit extends Required<Pick<JetStreamPublishOptions, 'msgID' | 'headers'>> {
  readonly subject: string
  readonly body: Uint8Array
}

/**
 * Resolves when the stream contains the message, also from an earlier attempt.
 * @param repeated `timeout` of each request in milliseconds, and number of requests, which are repeated only without a reply
 * @throws the client's errors; an error if the reply does not acknowledge the message
 */
export async function publishMessage(
  connection: NatsConnection,
  stream: string,
  { subject, body, ...init }: PublishInit,
  repeated: { readonly timeout: number; readonly retries: number },
): Promise<void> {
  // Another stream may have the subject as well.
  const options = { ...init, ...repeated, expect: { streamName: stream } }
  const stored = await loadNats().jetstream(connection).publish(subject, body, options)
  // Any subscriber of the subject can reply. A duplicate without a sequence is in doubt: JetStream may not store the first one either.
  if (stored.stream !== stream || !(stored.seq > 0)) throw new Error(`not acknowledged by the stream ${stream}`)
}
