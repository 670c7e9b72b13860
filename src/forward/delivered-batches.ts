/**
 * Remembers the ids of batches that the service has accepted, in a key-value bucket that the forwarders share. Each received batch is
 * looked up and not sent twice: JetStream redelivers unacknowledged batches, and forgets message IDs after its duplicate window.
 *
 * Without the bucket the forwarders still deliver: its failures are reported, and batches wait for it a limited time.
 */
import type { KV } from '@nats-io/kv'
import type { NatsConnection } from '@nats-io/transport-node'
import loadNats from '../nats/load-nats.cjs'
import type { StreamNames } from '../nats/message.js'
import { describeNatsError, isPermissionError, JETSTREAM_CODES, readErrorCode } from '../nats/nats-error.js'
import { createMissingError } from '../nats/require-nats.js'
import type { Clock } from '../shared/clock.js'
import { pause } from '../shared/pause.js'
import type { QueueConnection } from './queue-connection.js'
import type { QueueHealth } from './queue-health.js'

const TIMEOUT_MS = 2_000
const RETRY_MS = 500
/** The bucket's leader election can end up to 20 s after that of the queue. */
const PATIENCE_MS = 30_000
/** If the bucket does not exist or may not be used: after a restart of all servers it can be ready later than the queue. */
const REFUSED_PATIENCE_MS = 3_000
const PART = 'the key-value bucket'

export interface DeliveredBatchesOptions {
  readonly connection: Pick<QueueConnection, 'current' | 'connected'>
  readonly bucket: StreamNames['bucket']
  readonly health: Pick<QueueHealth, 'failed' | 'works'>
  readonly clock: Clock
  /** Default: by `@nats-io/kv`. */
  readonly open?: (connection: NatsConnection, bucket: string) => Promise<Pick<KV, 'get' | 'create'>>
}

export class DeliveredBatches {
  readonly #options: DeliveredBatchesOptions
  /** Time of the first failure since the bucket last answered. */
  #failingSince: number | undefined
  /** The latest refusal of JetStream. A publish to a missing bucket is not answered, as in a leader election. */
  #isRefused = false

  constructor(options: DeliveredBatchesOptions) {
    this.#options = options
    // Time without a connection does not count.
    options.connection.connected.on(() => (this.#failingSince = undefined))
  }

  /** Whether the service has accepted the batch; false if the bucket does not answer within 30 s. Never rejects. */
  async has(batchId: string, signal: AbortSignal): Promise<boolean> {
    const entry = await this.#ask((bucket) => bucket.get(toKey(batchId)), signal)
    // The deletion of a key is stored as an entry.
    return entry?.operation === 'PUT'
  }

  /** Call after the service has accepted the batch and before it is acknowledged. Never rejects. */
  async add(batchId: string, signal: AbortSignal): Promise<void> {
    await this.#ask(async (bucket) => {
      try {
        await bucket.create(toKey(batchId), '')
      } catch (error) {
        // Another forwarder has delivered it, too.
        if (readErrorCode(error) !== JETSTREAM_CODES.wrongLastSequence) throw error
      }
    }, signal)
  }

  /** @returns undefined if the bucket has not answered for 30 s; later calls do not wait until it does */
  async #ask<T>(
    request: (bucket: Pick<KV, 'get' | 'create'>) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const { connection, bucket, health, clock, open = openBucket } = this.#options
    for (;;) {
      const { current } = connection
      try {
        if (current !== undefined) {
          const answer = await request(await open(current, bucket))
          this.#failingSince = undefined
          this.#isRefused = false
          health.works(PART)
          return answer
        }
      } catch (error) {
        // A lost connection is reported elsewhere.
        if (connection.current === undefined) continue
        this.#failingSince ??= clock.now()
        health.failed(PART, 'UNAVAILABLE', describeNatsError(error))
        const code = readErrorCode(error)
        if (code !== undefined || isPermissionError(error))
          this.#isRefused = code === undefined || code === JETSTREAM_CODES.streamNotFound
        const patienceMs = this.#isRefused ? REFUSED_PATIENCE_MS : PATIENCE_MS
        if (clock.now() - this.#failingSince >= patienceMs) return undefined
      }
      await pause(clock, RETRY_MS, signal)
      if (signal.aborted) return undefined
    }
  }
}

/** Rejects with IngestError `CONFIG` if the package, which only forwarders need, is not installed. */
export function loadKv(): Promise<typeof import('@nats-io/kv')> {
  return import('@nats-io/kv').catch(() => Promise.reject(createMissingError('pino-ingest forward', ['@nats-io/kv'])))
}

/** Sends nothing. */
async function openBucket(connection: NatsConnection, bucket: string): Promise<KV> {
  const { Kvm } = await loadKv()
  // Read from the leader: another replica may lack an id.
  return new Kvm(loadNats().jetstream(connection, { timeout: TIMEOUT_MS })).open(bucket, { allow_direct: false })
}

function toKey(batchId: string): string {
  return `delivered.${batchId}`
}
