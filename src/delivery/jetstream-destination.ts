/** NATS JetStream as a destination. The first batch loads the client. */
import type { Batch } from '../batch/batch.js'
import type { Outcome } from '../batch/outcome.js'
import type { BatchKind } from '../nats/message.js'
import type { Publisher } from '../nats/publisher.js'
import { requireNats } from '../nats/require-nats.js'
import type { NatsSettings } from '../options/nats-settings.js'
import type { Sender } from '../batch/sender.js'
import type { Destination, DestinationOptions } from './destination-types.js'

/** @throws IngestError `CONFIG` if the NATS client is not installed */
export function createJetStreamDestination(
  nats: NatsSettings,
  { settings, clock, mask, isInProcess = false }: DestinationOptions,
): Destination {
  requireNats(settings)
  let onMaxBodyBytes: (bytes: number) => void = () => {}
  let loading: Promise<Publisher> | undefined
  const load = (): Promise<Publisher> =>
    (loading ??= import('../nats/publisher.js').then(
      ({ Publisher }) =>
        new Publisher({
          settings: nats,
          clock,
          isInProcess,
          mask,
          onMaxBodyBytes: (bytes) => onMaxBodyBytes(bytes),
        }),
    ))
  const send = async (kind: BatchKind, batch: Batch, signal: AbortSignal): Promise<Outcome> => {
    try {
      const { senders } = await load()
      return await senders[kind].send(batch, signal)
    } catch (error) {
      // Retried: too many files may be open, or the packages are being replaced.
      loading = undefined
      return { kind: 'retryable', reason: mask(String(error)), queue: 'unavailable' }
    }
  }
  // Both kinds of bodies are sent unchanged; the forwarder converts those of request logs.
  const createSender = (kind: BatchKind): Sender => ({ send: (batch, signal) => send(kind, batch, signal) })
  return {
    entries: createSender('logs'),
    requestLogs: createSender('requests'),
    prepare: () => void load().catch(() => (loading = undefined)),
    close: async () => {
      const publisher = await loading?.catch(() => undefined)
      await publisher?.close()
    },
    onMaxBodyBytes: (listener) => {
      onMaxBodyBytes = listener
    },
  }
}
