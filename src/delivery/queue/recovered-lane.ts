/** The lane of what earlier processes left: a little at a time, and never so much that it grows the app. */
import type { Clock } from '../../shared/clock.js'
import type { Batch } from '../../batch/sender.js'
import { REPLIES_LEFT } from '../shutdown-policy.js'
import { Fifo } from './fifo.js'

/** Batches that lie on disk alone. */
export interface DiskBacklog {
  /** Whether `next` may return a batch. False if the remaining batches cannot be read at present. */
  readonly hasMore: boolean
  /** Gives the next to `take`, in the same turn in which it leaves the backlog's own count. Never rejects. */
  next(take: (batch: Batch) => void): Promise<boolean>
}

export interface RecoveredLaneOptions {
  readonly recovery: DiskBacklog | undefined
  readonly clock: Clock
  /** Milliseconds since the app's last batch in which it goes on. */
  readonly forMs: number
  /** A batch came from disk. */
  readonly onRead: () => void
}

/** In memory before they are sent, and while they are: at least two batches, to keep the wire busy. */
const WAITING_BYTES = 512 * 1024
const IN_FLIGHT_BYTES = 1024 * 1024
const LEAST = 2
/** The slowest reply of late counts, with each further one less. */
const KEPT_SHARE = 0.9

export class RecoveredLane {
  readonly #options: RecoveredLaneOptions
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

  constructor(options: RecoveredLaneOptions) {
    this.#options = options
    this.#liveAt = options.clock.now()
  }

  /** In memory, and not sent. */
  get entries(): number {
    return this.#entries
  }

  /** The app has logged. */
  touch(): void {
    this.#liveAt = this.#options.clock.now()
  }

  shift(): Batch | undefined {
    const isFull = this.#inFlight >= LEAST && this.#inFlightBytes >= IN_FLIGHT_BYTES
    const batch = isFull || !this.#isOn ? undefined : this.#waiting.shift()
    if (batch === undefined) return undefined
    this.#waitingBytes -= batch.body.length
    this.#entries -= batch.count
    this.#inFlight += 1
    this.#inFlightBytes += batch.body.length
    return batch
  }

  /** What `shift` gave is settled. */
  settled(batch: Batch): void {
    this.#inFlight -= 1
    this.#inFlightBytes -= batch.body.length
    this.#look()
  }

  /** Whatever was sent, of this lane or not, took so long. */
  replied(tookMs: number): void {
    this.#replyMs = Math.max(tookMs, (this.#replyMs ?? 0) * KEPT_SHARE)
  }

  /** The app ends: goes on for as long as a reply will come in time, which is not known before there was one. The rest waits for the next start. */
  endWithin(timeoutMs: number): void {
    this.#endsAt = this.#options.clock.now() + timeoutMs
    this.#look()
  }

  /** Reads on from disk where there is room. */
  refill(): void {
    const { recovery, onRead } = this.#options
    const isFull = this.#waiting.length >= LEAST && this.#waitingBytes >= WAITING_BYTES
    if (recovery === undefined || !this.#isOn || this.#isReading || isFull || !recovery.hasMore) return
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

  /** Resolves when nothing of it is in flight, and nothing more is to be sent. Never rejects. */
  untilDone(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve)
      this.#look()
    })
  }

  /** @returns what was in memory */
  close(): Batch[] {
    this.#isClosed = true
    const rest: Batch[] = []
    for (let batch = this.#waiting.shift(); batch !== undefined; batch = this.#waiting.shift()) rest.push(batch)
    this.#waitingBytes = this.#entries = 0
    this.#look()
    return rest
  }

  #look(): void {
    const isComing = this.#isOn && (this.#isReading || this.#waiting.length > 0)
    if (this.#inFlight > 0 || isComing) return
    for (const resolve of this.#waiters.splice(0)) resolve()
  }

  get #isOn(): boolean {
    const now = this.#options.clock.now()
    const isInTime =
      this.#endsAt === Infinity || (this.#replyMs !== undefined && now + REPLIES_LEFT * this.#replyMs < this.#endsAt)
    return isInTime && !this.#isClosed && now - this.#liveAt <= this.#options.forMs
  }
}
