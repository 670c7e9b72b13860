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
/** For a bucket that does not answer: its leader election can end up to 20 s after that of the queue. */
const PATIENCE_MS = 30_000
/** For one that refuses: after a restart of all servers it can exist later than the queue. */
const REFUSED_PATIENCE_MS = 3_000
/** After an outage of the bucket, the other forwarders save the ids of batches that they delivered before, within their next attempt. */
const GRACE_MS = TIMEOUT_MS + 2 * RETRY_MS
const PART = 'the key-value bucket'

export interface DeliveredBatchesOptions {
  readonly connection: Pick<QueueConnection, 'current'>
  readonly bucket: StreamNames['bucket']
  readonly health: Pick<QueueHealth, 'failed' | 'works'>
  readonly clock: Clock
  /** Default: by `@nats-io/kv`. */
  readonly open?: (connection: NatsConnection, bucket: string) => Promise<Pick<KV, 'get' | 'create'>>
}

export class DeliveredBatches {
  readonly #options: DeliveredBatchesOptions
  /** The bucket, opened once for each connection. */
  #opened: { readonly connection: NatsConnection; readonly bucket: Promise<Pick<KV, 'get' | 'create'>> } | undefined
  #graceEndsAt = -Infinity
  /** Whether the latest wait for the bucket timed out. Later calls then try once. */
  #hasTimedOut = false

  constructor(options: DeliveredBatchesOptions) {
    this.#options = options
  }

  /** Whether the service has accepted the batch; false if the bucket does not answer within 30 s. Never rejects. */
  async has(batchId: string, signal: AbortSignal): Promise<boolean> {
    const isStored = async (): Promise<boolean> => {
      const entry = await this.#ask((bucket) => bucket.get(toKey(batchId)), signal)
      // The deletion of a key is stored as an entry.
      return entry?.operation === 'PUT'
    }
    if (await isStored()) return true
    const graceMs = this.#graceEndsAt - this.#options.clock.now()
    if (graceMs <= 0) return false
    await pause(this.#options.clock, graceMs, signal)
    return isStored()
  }

  /** Call after the service has accepted the batch. Never rejects. */
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

  /** @returns undefined after a limited time without an answer */
  async #ask<T>(
    request: (bucket: Pick<KV, 'get' | 'create'>) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const { connection, bucket, health, clock, open = openBucket } = this.#options
    let failingSince: number | undefined
    let wasOut = false
    for (; !signal.aborted; await pause(clock, RETRY_MS, signal)) {
      const { current } = connection
      wasOut ||= current === undefined || failingSince !== undefined
      try {
        if (current !== undefined) {
          if (this.#opened?.connection !== current)
            this.#opened = { connection: current, bucket: open(current, bucket) }
          const answer = await request(await this.#opened.bucket)
          this.#hasTimedOut = false
          if (wasOut) this.#graceEndsAt = clock.now() + GRACE_MS
          health.works(PART)
          return answer
        }
      } catch (error) {
        if (connection.current !== undefined) {
          health.failed(PART, 'UNAVAILABLE', describeNatsError(error))
          failingSince ??= clock.now()
          const isRefused = readErrorCode(error) !== undefined || isPermissionError(error)
          this.#hasTimedOut ||= clock.now() - failingSince >= (isRefused ? REFUSED_PATIENCE_MS : PATIENCE_MS)
          if (this.#hasTimedOut) return undefined
          continue
        }
      }
      // A lost connection is reported elsewhere, and its time does not count.
      failingSince = undefined
    }
    return undefined
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
