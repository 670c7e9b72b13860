/**
 * The batches that wait. Three lanes: those that are on disk as well, which give up their memory when it gets short and
 * are read back in order; those that are in memory alone, of which the oldest is lost when it gets short; and what
 * earlier processes left, a little at a time.
 */
import type { Clock } from '../clock.js'
import type { Batch, Place } from '../sender.js'
import { Fifo } from './fifo.js'
import { RecoveredLane } from './recovered.js'
import type { Backlog } from './recovered.js'

export interface Disk {
  readonly evicted: Backlog & {
    readonly batches: number
    push(batch: Batch & { readonly place: Place }): void
    unshift(batch: Batch & { readonly place: Place }): void
  }
  readonly recovery: Backlog & { readonly hasMore: boolean }
}

export interface QueueOptions {
  /** Bytes of the app's own that wait or are in flight. */
  readonly maxBufferBytes: number
  readonly disk?: Disk | undefined
  readonly clock: Clock
  /** Whether the service fails at the moment. */
  readonly isDown?: () => boolean
  /**
   * What earlier processes left is sent for so long after the app's last batch. In the app's own thread a request keeps
   * the process alive, and a short script must not stay for a long backlog. Default: for ever.
   */
  readonly recoverForMs?: number | undefined
}

export type Lane = 'stored' | 'loose' | 'recovered'

export interface Held {
  readonly lane: Lane
  /** In its lane. */
  readonly order: number
  readonly batch: Batch
}

/** Up to which order in each lane of the app's own records. */
export interface Mark {
  readonly stored: number
  readonly loose: number
}

/** What a batch takes beside its body: buffer, promise, its place in the lines. Measured with batches of one entry. */
const BATCH_OVERHEAD_BYTES = 1_024
/** What is on disk need not wait in memory for a service that is down; a little of it does, for when it is back. */
const SHARE_IN_OUTAGE = 1 / 4
/** New batches for one of an earlier process. */
const LIVE_SHARE = 3

export function bytesOf({ body }: Batch): number {
  return body.length + BATCH_OVERHEAD_BYTES
}

export class Queue {
  readonly #maxBytes: number
  readonly #disk: Disk | undefined
  readonly #isDown: () => boolean
  readonly #onReadBack: () => void
  readonly #stored = new Fifo<Held>()
  readonly #loose = new Fifo<Held>()
  readonly #recovered: RecoveredLane
  #nextStored = 0
  #nextLoose = 0
  #bytes = 0
  #entries = 0
  /** Since one of an earlier process went. */
  #liveInARow = 0
  #readingBackFrom: number | undefined
  #isClosed = false

  constructor({ maxBufferBytes, disk, clock, recoverForMs = Infinity, isDown = () => false }: QueueOptions, onReadBack: () => void) {
    this.#maxBytes = maxBufferBytes
    this.#disk = disk
    this.#isDown = isDown
    this.#recovered = new RecoveredLane({ recovery: disk?.recovery, clock, forMs: recoverForMs, onRead: onReadBack })
    this.#onReadBack = onReadBack
  }

  /** Memory of the app's own that wait. */
  get bytes(): number {
    return this.#bytes
  }

  /** In memory, of all lanes. */
  get entries(): number {
    return this.#entries + this.#recovered.entries
  }

  /** Behind all that came. */
  get mark(): Mark {
    return { stored: this.#nextStored, loose: this.#nextLoose }
  }

  /** The oldest that waits, in each lane. */
  get oldest(): Mark {
    const onDisk = this.#nextStored - (this.#disk?.evicted.batches ?? 0)
    return {
      stored: Math.min(this.#stored.first?.order ?? onDisk, this.#readingBackFrom ?? Infinity),
      loose: this.#loose.first?.order ?? this.#nextLoose,
    }
  }

  /**
   * Takes the batch in any case. @param inFlightBytes share the same memory
   * @returns what had to go: the oldest in memory alone, or the batch itself
   */
  push(batch: Batch, inFlightBytes: number): Batch[] {
    this.#recovered.touch()
    const { place } = batch
    if (place !== undefined && this.#disk !== undefined) {
      this.#pushStored({ ...batch, place }, inFlightBytes, this.#disk)
      return []
    }
    if (inFlightBytes + bytesOf(batch) > this.#maxBytes) return [batch]
    this.#add(this.#loose, { lane: 'loose', order: this.#nextLoose++, batch })
    return this.#shrink(inFlightBytes)
  }

  /** Whether a batch that is on disk waits there alone: behind others that do there is no way into memory but theirs. */
  waitsOnDisk(bodyBytes: number, inFlightBytes: number): boolean {
    const isBehind = (this.#disk?.evicted.batches ?? 0) > 0 || this.#readingBackFrom !== undefined
    const bound = this.#isDown() ? this.#maxBytes * SHARE_IN_OUTAGE : this.#maxBytes
    return isBehind || inFlightBytes + this.#bytes + bodyBytes + BATCH_OVERHEAD_BYTES > bound
  }

  #pushStored(batch: Batch & { readonly place: Place }, inFlightBytes: number, { evicted }: Disk): void {
    const order = this.#nextStored++
    // Without a body it was handed over as one that waits on disk, and memory may have become free since.
    if (batch.body.length === 0 || this.waitsOnDisk(batch.body.length, inFlightBytes)) evicted.push(batch)
    else this.#add(this.#stored, { lane: 'stored', order, batch })
  }

  /** The next to be sent. */
  shift(): Held | undefined {
    const isRecoveredDue = this.#liveInARow >= LIVE_SHARE || (this.#stored.length === 0 && this.#loose.length === 0)
    const held = (isRecoveredDue ? this.#shiftRecovered() : undefined) ?? this.#shiftLive() ?? this.#shiftRecovered()
    this.refill()
    return held
  }

  /** What `shift` gave is settled. */
  settled({ lane, batch }: Held): void {
    if (lane === 'recovered') this.#recovered.settled(batch)
  }

  /** Reads on from disk where there is room. */
  refill(): void {
    this.#readBack()
    this.#recovered.refill()
  }

  /** What earlier processes left waits for the next start. */
  stopRecovering(): void {
    this.#recovered.stop()
  }

  /** Ends it. @returns what was in memory */
  close(): Held[] {
    this.#isClosed = true
    const all: Held[] = []
    for (const lane of [this.#stored, this.#loose]) {
      for (let held = lane.shift(); held !== undefined; held = lane.shift()) all.push(held)
    }
    this.#bytes = this.#entries = 0
    return [...all, ...this.#recovered.close().map((batch) => this.#held(batch))]
  }

  #shiftLive(): Held | undefined {
    const held = this.#stored.shift() ?? this.#loose.shift()
    if (held === undefined) return undefined
    this.#bytes -= bytesOf(held.batch)
    this.#entries -= held.batch.count
    this.#liveInARow += 1
    return held
  }

  #shiftRecovered(): Held | undefined {
    const batch = this.#recovered.shift()
    if (batch === undefined) return undefined
    this.#liveInARow = 0
    return this.#held(batch)
  }

  /** Nobody waits for it in order. */
  #held(batch: Batch): Held {
    return { lane: 'recovered', order: 0, batch }
  }

  #add(lane: Fifo<Held>, held: Held): void {
    lane.push(held)
    this.#bytes += bytesOf(held.batch)
    this.#entries += held.batch.count
  }

  /** First what the disk has too, the newest of it; then the oldest of the rest. */
  #shrink(inFlightBytes: number): Batch[] {
    const gone: Batch[] = []
    while (inFlightBytes + this.#bytes > this.#maxBytes) {
      const held = this.#popStored() ?? this.#loose.shift()
      if (held === undefined) break
      const { batch } = held
      this.#bytes -= bytesOf(batch)
      this.#entries -= batch.count
      if (held.lane === 'stored' && batch.place !== undefined && batch.custody?.isKept !== false) {
        this.#disk?.evicted.unshift({ ...batch, place: batch.place })
      } else gone.push(batch)
    }
    return gone
  }

  /** Not while the one behind it is being read: the order on disk would be broken. */
  #popStored(): Held | undefined {
    return this.#readingBackFrom === undefined ? this.#stored.pop() : undefined
  }

  #readBack(): void {
    const evicted = this.#disk?.evicted
    // Half of the memory is enough to keep all senders at work, and leaves room for what is in flight.
    if (evicted === undefined || this.#isClosed || this.#readingBackFrom !== undefined || evicted.batches === 0 || this.#bytes > this.#maxBytes / 2) return
    this.#readingBackFrom = this.#nextStored - evicted.batches
    const take = (batch: Batch): void => {
      // Some before it may have been lost.
      const order = this.#nextStored - evicted.batches - 1
      this.#add(this.#stored, { lane: 'stored', order, batch })
    }
    void evicted.next(take).then(() => {
      this.#readingBackFrom = undefined
      this.#onReadBack()
      this.refill()
    })
  }
}
