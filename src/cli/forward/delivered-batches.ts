/**
 * Remembers the ids of batches that the service has accepted. Every received batch is looked up and not sent twice, since JetStream
 * redelivers unacknowledged batches, forgets message IDs after its duplicate window or when all servers restart, and can redeliver
 * acknowledged batches after a server was killed.
 */
import type { Clock } from '../../shared/clock.js'
import { pause } from './pause.js'
import type { StateBucket } from './state-bucket.js'

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

type Bucket = Pick<StateBucket, 'put' | 'get' | 'isConnected' | 'connected' | 'isDistrusted' | 'isMissing'>

export class DeliveredBatches {
  readonly #bucket: Bucket
  readonly #clock: Pick<Clock, 'now' | 'timer'>
  readonly #recent = new Set<string>()
  /** Ids that may be missing from the bucket. */
  readonly #unsaved = new Set<string>()

  /** Time of the first failure since the bucket last answered or the connection was opened. */
  #failingSince: number | undefined
  #hasReconnected = false
  #isConnectedOnce = false
  #graceEndsAt = -Infinity

  constructor(bucket: Bucket, clock: Pick<Clock, 'now' | 'timer'>) {
    this.#bucket = bucket
    this.#clock = clock
    bucket.connected.on(() => {
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
    if (this.#recent.has(batchId)) return ''
    while (!signal.aborted) {
      // Otherwise a hanging bucket would delay each batch by 1 s.
      if (this.#isExhausted && this.#bucket.isDistrusted) return undefined
      const value = await this.#bucket.get(toKey(batchId))
      if (value !== undefined) {
        this.#noteAnswer()
        if (value !== null || this.#clock.now() >= this.#graceEndsAt) return value?.text
      } else {
        this.#failingSince ??= this.#clock.now()
        if (this.#isExhausted) return undefined
      }
      await pause(this.#clock, RETRY_MS, signal)
    }
    return undefined
  }

  #noteAnswer(): void {
    const now = this.#clock.now()
    const wasOut = this.#failingSince !== undefined && now - this.#failingSince >= OUTAGE_MS
    if (wasOut || this.#hasReconnected) this.#graceEndsAt = now + GRACE_MS
    this.#failingSince = undefined
    this.#hasReconnected = false
    if (this.#unsaved.size > 0) void this.saveRest()
  }

  get #isExhausted(): boolean {
    // Time without a connection does not count: after the outage, the bucket may need longer than the queue to elect a leader.
    if (this.#failingSince === undefined || !this.#bucket.isConnected) return false
    const patienceMs = this.#bucket.isMissing ? MISSING_PATIENCE_MS : PATIENCE_MS
    return this.#clock.now() - this.#failingSince >= patienceMs
  }

  /** Call after the service has accepted the batch and before it is acknowledged. Never rejects. */
  async add(batchId: string): Promise<void> {
    addBounded(this.#recent, batchId, MAX_RECENT)
    const isSaved = await this.#bucket.put(toKey(batchId), '')
    if (!isSaved) addBounded(this.#unsaved, batchId, MAX_UNSAVED)
    else if (this.#unsaved.size > 0) void this.saveRest()
  }

  /** Call if the service has accepted the batch, but this forwarder stops before the dead letters are stored. Never rejects. */
  async addUnfinished(batchId: string, note: string): Promise<void> {
    await this.#bucket.put(toKey(batchId), note)
  }

  /** Saves ids that could not be saved before: publishers may republish these batches after the same outage. Never rejects. */
  async saveRest(): Promise<void> {
    for (const batchId of [...this.#unsaved]) {
      this.#unsaved.delete(batchId)
      if (await this.#bucket.put(toKey(batchId), '')) continue
      this.#unsaved.add(batchId)
      return
    }
  }
}

function toKey(batchId: string): string {
  return `delivered.${batchId}`
}

/** Deletes the oldest value above `max`. */
function addBounded(set: Set<string>, value: string, max: number): void {
  set.add(value)
  const { value: oldest } = set.values().next()
  if (set.size > max && oldest !== undefined) set.delete(oldest)
}
