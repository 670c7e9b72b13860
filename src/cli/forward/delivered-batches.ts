/**
 * Ids of batches that the service has accepted, so that one which comes again is not sent again: JetStream redelivers what was not
 * acknowledged, forgets ids after its duplicate window, or when all servers are restarted, and may give out again what was acknowledged
 * when a server was killed. So every batch is looked up.
 */
import type { Clock } from '../../shared/clock.js'
import { pause } from './pause.js'
import type { StateBucket } from './state-bucket.js'

/** Ids in memory, for when the bucket fails. */
const MAX_RECENT = 20_000
const MAX_UNSAVED = 2_000
const RETRY_MS = 500
/** The bucket's election may end later than that of the queue: up to 20 s. */
const PATIENCE_MS = 30_000
/** Nobody has created it, or after a restart of all servers it is ready a little later than the queue. */
const MISSING_PATIENCE_MS = 3_000
/**
 * After an outage of the bucket the other forwarders save, as soon as they can, what they delivered meanwhile. A batch that was given out
 * again is not sent before.
 */
const GRACE_MS = 3_000
/** A single request that times out is no outage. */
const OUTAGE_MS = 2_000

type Bucket = Pick<StateBucket, 'put' | 'get' | 'isConnected' | 'connected' | 'isDistrusted' | 'isMissing'>

export class DeliveredBatches {
  readonly #bucket: Bucket
  readonly #clock: Pick<Clock, 'now' | 'timer'>
  readonly #recent = new Set<string>()
  /** Ids that the bucket may not have. */
  readonly #unsaved = new Set<string>()

  /** The first failure since the bucket answered, or since the connection was made. */
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
   * Never rejects. If the bucket does not answer, waits for it, but not for long: without it, batches are delivered.
   * @returns what was noted with it; undefined if it was not delivered, as far as is known
   */
  async find(batchId: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#recent.has(batchId)) return ''
    while (!signal.aborted) {
      // A bucket that hangs would otherwise take a second of each batch.
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
    // An outage of the connection must not use up the time: after it, the bucket may elect a leader for longer than the queue.
    if (this.#failingSince === undefined || !this.#bucket.isConnected) return false
    const patienceMs = this.#bucket.isMissing ? MISSING_PATIENCE_MS : PATIENCE_MS
    return this.#clock.now() - this.#failingSince >= patienceMs
  }

  /** Call after the service has accepted it, and before it is acknowledged. Never rejects. */
  async add(batchId: string): Promise<void> {
    addBounded(this.#recent, batchId, MAX_RECENT)
    const isSaved = await this.#bucket.put(toKey(batchId), '')
    if (!isSaved) addBounded(this.#unsaved, batchId, MAX_UNSAVED)
    else if (this.#unsaved.size > 0) void this.saveRest()
  }

  /** Call if the service has accepted it, and this forwarder ends before everything else is done. Never rejects. */
  async addUnfinished(batchId: string, note: string): Promise<void> {
    await this.#bucket.put(toKey(batchId), note)
  }

  /** Saves what could not be saved: a publisher that lost its acknowledgement in the same outage sends such a batch again. Never rejects. */
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

/** The oldest is forgotten. */
function addBounded(set: Set<string>, value: string, max: number): void {
  set.add(value)
  const { value: oldest } = set.values().next()
  if (set.size > max && oldest !== undefined) set.delete(oldest)
}
