/** Batches that earlier processes left on disk. Only a few are in memory at a time. */
import type { Clock } from '../../shared/clock.js'
import type { Batch } from '../../batch/batch.js'
import { REPLIES_LEFT } from '../shutdown-policy.js'
import { Fifo } from './fifo.js'

/** Batches on disk only. */
export interface DiskBacklog {
  /** Whether `next` may return a batch. False if the remaining batches cannot be read at present. */
  readonly hasMore: boolean
  /** Whether the search for batches of earlier processes is in progress. Default false. */
  readonly isScanning?: boolean
  /** Passes the next batch to `take` in the same turn in which this backlog stops counting it. Never rejects. */
  next(take: (batch: Batch) => void): Promise<boolean>
}

export interface RecoveredQueueOptions {
  readonly recovery: DiskBacklog | undefined
  readonly clock: Clock
  /** Milliseconds after the application's latest batch in which this queue sends. */
  readonly forMs: number
  /** Called when a batch was read from disk. */
  readonly onRead: () => void
}

/** Limits of the batches in memory, waiting and in flight. Two batches are always allowed, to keep the connection busy. */
const WAITING_BYTES = 512 * 1024
const IN_FLIGHT_BYTES = 1024 * 1024
const LEAST = 2
/** Decay of the slowest response time per reply. */
const KEPT_SHARE = 0.9

export class RecoveredQueue {
  readonly #options: RecoveredQueueOptions
  readonly #waiting = new Fifo<Batch>()
  #waitingBytes = 0
  #entries = 0
  #inFlight = 0
  #inFlightBytes = 0
  #isReading = false
  #isClosed = false
  #replyMs: number | undefined
  #endsAt = Infinity
  #waiters: (() => void)[] = []
  #liveAt: number

  constructor(options: RecoveredQueueOptions) {
    this.#options = options
    this.#liveAt = options.clock.now()
  }

  /** Unsent entries in memory. */
  get entries(): number {
    return this.#entries
  }

  /** Called when the application logged a batch. */
  touch(): void {
    this.#liveAt = this.#options.clock.now()
  }

  shift(): Batch | undefined {
    if (this.#waiting.length === 0) return undefined
    const isFull = this.#inFlight >= LEAST && this.#inFlightBytes >= IN_FLIGHT_BYTES
    const batch = isFull || !this.#isOn ? undefined : this.#waiting.shift()
    if (batch === undefined) return undefined
    this.#waitingBytes -= batch.body.length
    this.#entries -= batch.count
    this.#inFlight += 1
    this.#inFlightBytes += batch.body.length
    return batch
  }

  /** Called when a batch from `shift` is settled. */
  settled(batch: Batch): void {
    this.#inFlight -= 1
    this.#inFlightBytes -= batch.body.length
    this.refill()
    this.#look()
  }

  /** Called when a batch of any kind was settled, with the time that it took. */
  replied(tookMs: number): void {
    this.#replyMs = Math.max(tookMs, (this.#replyMs ?? 0) * KEPT_SHARE)
  }

  /** Called at shutdown: batches are sent as long as a reply is expected in time. Before the first reply, one is. */
  endWithin(timeoutMs: number): void {
    this.#endsAt = this.#options.clock.now() + timeoutMs
    this.#look()
  }

  /** Reads more from disk if there is memory for it. */
  refill(): void {
    const { recovery, onRead } = this.#options
    if (recovery === undefined || this.#isReading || !recovery.hasMore || !this.#isOn) return this.#look()
    if (this.#waiting.length >= LEAST && this.#waitingBytes >= WAITING_BYTES) return
    this.#isReading = true
    const take = (batch: Batch): void => {
      this.#waiting.push(batch)
      this.#waitingBytes += batch.body.length
      this.#entries += batch.count
    }
    void recovery.next(take).then((hasTaken) => {
      this.#isReading = false
      if (hasTaken) {
        onRead()
        this.refill()
      }
      this.#look()
    })
  }

  /** Resolves when no batch of this queue is in flight or will be sent. Never rejects. */
  untilDone(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve)
      this.#look()
    })
  }

  /** @returns the batches in memory */
  close(): Batch[] {
    this.#isClosed = true
    const rest: Batch[] = []
    for (let batch = this.#waiting.shift(); batch !== undefined; batch = this.#waiting.shift()) rest.push(batch)
    this.#waitingBytes = this.#entries = 0
    this.#look()
    return rest
  }

  #look(): void {
    if (this.#waiters.length === 0 || this.#inFlight > 0) return
    const isSearching = this.#isReading || this.#options.recovery?.isScanning === true
    if (this.#isOn && (isSearching || this.#waiting.length > 0)) return
    for (const resolve of this.#waiters.splice(0)) resolve()
  }

  get #isOn(): boolean {
    const now = this.#options.clock.now()
    const isUnknown = this.#replyMs === undefined && this.#endsAt !== Infinity
    const isInTime = isUnknown
      ? this.#inFlight === 0 && now < this.#endsAt
      : now + REPLIES_LEFT * (this.#replyMs ?? 0) < this.#endsAt
    return isInTime && !this.#isClosed && now - this.#liveAt <= this.#options.forMs
  }
}
