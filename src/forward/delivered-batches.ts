/**
 * Remembers the ids of batches that the service has accepted, in a key-value bucket shared by the forwarders. Every received batch is
 * looked up and not sent twice, since JetStream redelivers unacknowledged batches, forgets message IDs after its duplicate window or when
 * all servers restart, and can redeliver acknowledged batches after a server was killed.
 *
 * Forwarders work without the bucket, so its failures are reported and otherwise ignored. A value is the last message of its subject.
 * @see ADR-8 of NATS
 */
import { manageJetStream, publishToStream, STREAM_NOT_FOUND } from '../nats/jetstream-request.js'
import type { StreamNames } from '../nats/message.js'
import { describeNatsError, readErrorCode } from '../nats/nats-error.js'
import type { Clock } from '../shared/clock.js'
import { pause } from '../shared/pause.js'
import type { QueueConnection } from './queue-connection.js'
import type { QueueHealth } from './queue-health.js'

const TIMEOUT_MS = 1_000
/** Time after a failure during which batches do not wait for the bucket. */
const DISTRUST_MS = 5_000
const PART = 'the key-value bucket'
/** Ids kept in memory for outages of the bucket. */
const MAX_RECENT = 20_000
const MAX_UNSAVED = 2_000
const RETRY_MS = 500
/** The bucket's leader election can end up to 20 s after that of the queue. */
const PATIENCE_MS = 30_000
/** If the bucket does not exist: after a restart of all servers it can be ready later than the queue. */
const MISSING_PATIENCE_MS = 3_000
/**
 * After an outage of the bucket, unknown batches wait for this time: the other forwarders first save the ids of batches that they delivered
 * during the outage.
 */
const GRACE_MS = 3_000
/** A shorter failure, such as a single timeout, is not an outage. */
const OUTAGE_MS = 2_000

export interface DeliveredBatchesOptions {
  readonly connection: Pick<QueueConnection, 'current' | 'connected'>
  readonly bucket: StreamNames['bucket']
  readonly health: Pick<QueueHealth, 'failed' | 'works'>
  readonly clock: Clock
}

export class DeliveredBatches {
  readonly #options: DeliveredBatchesOptions
  readonly #recent = new Set<string>()
  /** Ids that may be missing from the bucket. */
  readonly #unsaved = new Set<string>()
  /** Time of the first failed lookup since the bucket last answered one or the connection was opened. */
  #failingSince: number | undefined
  #distrustedUntil = -Infinity
  /** JetStream has replied that the bucket does not exist. A publish without a reply is no evidence of that. */
  #isMissing = false
  #hasReconnected = false
  #isConnectedOnce = false
  #graceEndsAt = -Infinity

  constructor(options: DeliveredBatchesOptions) {
    this.#options = options
    options.connection.connected.on(() => {
      this.#failingSince = undefined
      this.#hasReconnected = this.#isConnectedOnce
      this.#isConnectedOnce = true
    })
  }

  /**
   * Waits up to 30 s if the bucket does not answer; then the batch is treated as not delivered. Never rejects.
   * @returns the stored note; undefined if the batch is not known as delivered
   */
  async find(batchId: string, signal: AbortSignal): Promise<string | undefined> {
    const { clock } = this.#options
    if (this.#recent.has(batchId)) return ''
    while (!signal.aborted) {
      // Otherwise a hanging bucket would delay each batch by 1 s.
      if (this.#isExhausted && this.#isDistrusted) return undefined
      const value = await this.#read(batchId)
      if (value !== undefined) {
        this.#noteAnswer()
        if (value !== null || clock.now() >= this.#graceEndsAt) return value ?? undefined
      } else {
        this.#failingSince ??= clock.now()
        if (this.#isExhausted) return undefined
      }
      await pause(clock, RETRY_MS, signal)
    }
    return undefined
  }

  /** Call after the service has accepted the batch and before it is acknowledged. Never rejects. */
  async add(batchId: string): Promise<void> {
    addBounded(this.#recent, batchId, MAX_RECENT)
    const isSaved = await this.#save(batchId)
    if (!isSaved) addBounded(this.#unsaved, batchId, MAX_UNSAVED)
    else if (this.#unsaved.size > 0) void this.saveRest()
  }

  /** Call if the service has accepted the batch, but this forwarder stops before the dead letters are stored. Never rejects. */
  async addUnfinished(batchId: string, note: string): Promise<void> {
    await this.#save(batchId, note)
  }

  /** Saves ids that could not be saved before: publishers may republish these batches after the same outage. Never rejects. */
  async saveRest(): Promise<void> {
    for (const batchId of [...this.#unsaved]) {
      this.#unsaved.delete(batchId)
      if (await this.#save(batchId)) continue
      this.#unsaved.add(batchId)
      return
    }
  }

  #noteAnswer(): void {
    const now = this.#options.clock.now()
    const wasOut = this.#failingSince !== undefined && now - this.#failingSince >= OUTAGE_MS
    if (wasOut || this.#hasReconnected) this.#graceEndsAt = now + GRACE_MS
    this.#failingSince = undefined
    this.#hasReconnected = false
    if (this.#unsaved.size > 0) void this.saveRest()
  }

  get #isExhausted(): boolean {
    const { connection, clock } = this.#options
    // Time without a connection does not count: after the outage, the bucket may need longer than the queue to elect a leader.
    if (this.#failingSince === undefined || connection.current === undefined) return false
    return clock.now() - this.#failingSince >= (this.#isMissing ? MISSING_PATIENCE_MS : PATIENCE_MS)
  }

  get #isDistrusted(): boolean {
    return this.#options.clock.now() < this.#distrustedUntil
  }

  /** @returns whether it is known that the bucket has the note */
  async #save(batchId: string, note = ''): Promise<boolean> {
    const isDistrusted = this.#isDistrusted
    const subject = this.#subject(batchId)
    const stored = this.#request((connection, stream) =>
      publishToStream(connection, { stream, subject }, { body: note, timeoutMs: TIMEOUT_MS }),
    )
    return !isDistrusted && (await stored) !== undefined
  }

  /**
   * Reads from the stream's leader: another replica may lack a stored value.
   * @returns null if there is no value, undefined if it cannot be read
   */
  #read(batchId: string): Promise<string | null | undefined> {
    return this.#request(async (connection, stream) => {
      const { streams } = await manageJetStream(connection, TIMEOUT_MS)
      const message = await streams.getMessage(stream, { last_by_subj: this.#subject(batchId) })
      // The deletion of a key is stored as a message.
      return message === null || message.header.has('KV-Operation') ? null : message.string()
    })
  }

  #subject(batchId: string): string {
    return `$KV.${this.#options.bucket}.delivered.${batchId}`
  }

  /** @returns undefined after a failure. Never rejects */
  async #request<T>(
    send: (connection: NonNullable<QueueConnection['current']>, stream: string) => Promise<T>,
  ): Promise<T | undefined> {
    const { connection, bucket, clock, health } = this.#options
    const { current } = connection
    if (current === undefined) return undefined
    try {
      const result = await send(current, `KV_${bucket}`)
      this.#distrustedUntil = -Infinity
      this.#isMissing = false
      health.works(PART)
      return result
    } catch (error) {
      // The connection was lost, which is reported elsewhere.
      if (connection.current === undefined) return undefined
      this.#distrustedUntil = clock.now() + DISTRUST_MS
      const code = readErrorCode(error)
      if (code !== undefined) this.#isMissing = code === STREAM_NOT_FOUND
      health.failed(PART, 'UNAVAILABLE', describeNatsError(error))
      return undefined
    }
  }
}

/** Deletes the oldest value above `max`. */
function addBounded(set: Set<string>, value: string, max: number): void {
  set.add(value)
  const { value: oldest } = set.values().next()
  if (set.size > max && oldest !== undefined) set.delete(oldest)
}
