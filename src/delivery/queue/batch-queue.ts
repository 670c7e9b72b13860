/**
 * The batches that wait. Four lanes: those that are on disk as well, which give up their memory when it gets short; those
 * that did, and are read back in order; those that are in memory alone, of which the oldest is lost when it gets short; and
 * what earlier processes left, a little at a time.
 *
 * After an outage what is logged now goes past what was kept, or it would wait as long as the outage was.
 */
import type { Batch } from '../../batch/sender.js'
import { EvictedLane } from './evicted-lane.js'
import type { BatchOnDisk } from './evicted-lane.js'
import { Fifo } from './fifo.js'
import { BATCH_OVERHEAD_BYTES, bytesOf } from './queued-batch.js'
import type { QueuedBatch, Watermark, QueueOptions } from './queued-batch.js'
import { RecoveredLane } from './recovered-lane.js'

/** What is on disk need not wait in memory for a service that is down; a little of it does, for when it is back. */
const SHARE_IN_OUTAGE = 1 / 4
/** New batches for one that was kept. */
const LIVE_SHARE = 3

export class BatchQueue {
  readonly #maxBytes: number
  readonly #isDown: () => boolean
  readonly #isOrdered: boolean
  readonly #onReadBack: () => void
  readonly #stored = new Fifo<QueuedBatch>()
  readonly #loose = new Fifo<QueuedBatch>()
  readonly #evicted: EvictedLane | undefined
  readonly #recovered: RecoveredLane
  #nextStored = 0
  #nextLoose = 0
  #bytes = 0
  #entries = 0
  /** Since one that was kept went. */
  #liveInARow = 0
  #isRecoveredNext = false
  /** On disk waits what an outage left there. */
  #hasOutageBacklog = false
  #isClosed = false

  constructor(
    { maxBufferBytes, disk, clock, recoverForMs = Infinity, isDown = () => false, maxConcurrency }: QueueOptions,
    onReadBack: () => void,
  ) {
    this.#maxBytes = maxBufferBytes
    this.#isDown = isDown
    this.#isOrdered = maxConcurrency === 1
    this.#evicted = disk && new EvictedLane(disk.evicted)
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
  get watermark(): Watermark {
    return { durable: this.#nextStored, memoryOnly: this.#nextLoose }
  }

  /** The oldest that waits, in each lane. */
  get oldest(): Watermark {
    return {
      durable: Math.min(this.#stored.first?.sequence ?? this.#nextStored, this.#evicted?.oldest ?? Infinity),
      memoryOnly: this.#loose.first?.sequence ?? this.#nextLoose,
    }
  }

  /**
   * Takes the batch in any case. @param inFlightBytes share the same memory
   * @returns what had to go: the oldest in memory alone, or the batch itself
   */
  push(batch: Batch, inFlightBytes: number): Batch[] {
    this.#recovered.touch()
    const { place } = batch
    if (place !== undefined && this.#evicted !== undefined) {
      this.#pushStored({ ...batch, place }, inFlightBytes, this.#evicted)
      return []
    }
    if (inFlightBytes + bytesOf(batch) > this.#maxBytes) return [batch]
    this.#add(this.#loose, { lane: 'loose', sequence: this.#nextLoose++, batch })
    return this.#shrink(inFlightBytes)
  }

  /** Whether a batch that is on disk waits there alone: there is no memory for it, or it is behind others that wait there. */
  waitsOnDisk(bodyBytes: number, inFlightBytes: number): boolean {
    const isBehind = this.#evicted?.isEmpty === false && (!this.#isBacklog || this.#isDown())
    const bound = this.#isDown() ? this.#maxBytes * SHARE_IN_OUTAGE : this.#maxBytes
    return isBehind || inFlightBytes + this.#bytes + bodyBytes + BATCH_OVERHEAD_BYTES > bound
  }

  /** Whether what is logged now goes past what waits on disk. When the service was only slow the order stays: that is not old. */
  get #isBacklog(): boolean {
    return this.#hasOutageBacklog && !this.#isOrdered
  }

  #pushStored(batch: BatchOnDisk, inFlightBytes: number, evicted: EvictedLane): void {
    const order = this.#nextStored++
    const wasEmpty = evicted.isEmpty
    // Without a body it was handed over as one that waits on disk, and memory may have become free since.
    if (batch.body.length === 0 || this.waitsOnDisk(batch.body.length, inFlightBytes)) {
      this.#hasOutageBacklog = this.#isDown() || (this.#hasOutageBacklog && !wasEmpty)
      evicted.push(order, batch)
    } else {
      if (!wasEmpty) evicted.pass(batch)
      this.#add(this.#stored, { lane: 'stored', sequence: order, batch })
    }
  }

  /** An outage is over: what is logged from now on goes past what waits in memory, too. */
  putAside(): void {
    if (this.#evicted === undefined || this.#isOrdered || this.#stored.length === 0) return
    this.#hasOutageBacklog = true
    const kept: QueuedBatch[] = []
    for (let held = this.#stored.shift(); held !== undefined; held = this.#stored.shift()) kept.push(held)
    this.#evicted.keep(kept)
  }

  /** The next to be sent. */
  shift(): QueuedBatch | undefined {
    const held =
      (this.#liveInARow >= LIVE_SHARE ? this.#shiftKept() : undefined) ?? this.#shiftLive() ?? this.#shiftKept()
    this.refill()
    return held
  }

  /** What `shift` gave is settled. */
  settled({ lane, batch }: QueuedBatch, tookMs: number): void {
    this.#recovered.replied(tookMs)
    if (lane === 'recovered') this.#recovered.settled(batch)
  }

  /** Reads on from disk where there is room. */
  refill(): void {
    this.#readBack()
    this.#recovered.refill()
  }

  /** The app ends: what of earlier processes cannot be sent in that time waits for the next start. */
  recoverWithin(timeoutMs: number): void {
    this.#recovered.endWithin(timeoutMs)
  }

  /** Resolves when all of that is settled, or was stopped. Never rejects. */
  untilRecovered(): Promise<void> {
    return this.#recovered.untilDone()
  }

  /** Ends it. @returns what was in memory */
  close(): QueuedBatch[] {
    this.#isClosed = true
    const all: QueuedBatch[] = []
    for (let held = this.#shiftReturned(); held !== undefined; held = this.#shiftReturned()) all.push(held)
    for (const lane of [this.#stored, this.#loose]) {
      for (let held = lane.shift(); held !== undefined; held = lane.shift()) all.push(held)
    }
    this.#bytes = this.#entries = 0
    return [...all, ...this.#recovered.close().map((batch) => this.#held(batch))]
  }

  #shiftLive(): QueuedBatch | undefined {
    const isReturnedNext =
      !this.#isBacklog && (this.#evicted?.firstReturned ?? Infinity) < (this.#stored.first?.sequence ?? Infinity)
    const held = isReturnedNext ? this.#shiftReturned() : (this.#shiftOf(this.#stored) ?? this.#shiftOf(this.#loose))
    if (held !== undefined) this.#liveInARow += 1
    return held
  }

  /** By turns of what this process and what earlier ones have left. */
  #shiftKept(): QueuedBatch | undefined {
    const own = (): QueuedBatch | undefined => (this.#isBacklog ? this.#shiftReturned() : undefined)
    const held = this.#isRecoveredNext ? (this.#shiftRecovered() ?? own()) : (own() ?? this.#shiftRecovered())
    if (held === undefined) return undefined
    this.#isRecoveredNext = held.lane !== 'recovered'
    this.#liveInARow = 0
    return held
  }

  #shiftOf(lane: Fifo<QueuedBatch>): QueuedBatch | undefined {
    const held = lane.shift()
    if (held !== undefined) this.#remove(held.batch)
    return held
  }

  #shiftReturned(): QueuedBatch | undefined {
    const returned = this.#evicted?.shift()
    if (returned === undefined) return undefined
    this.#remove(returned.batch)
    return { lane: 'stored', ...returned }
  }

  #shiftRecovered(): QueuedBatch | undefined {
    const batch = this.#recovered.shift()
    return batch === undefined ? undefined : this.#held(batch)
  }

  /** Nobody waits for it in order. */
  #held(batch: Batch): QueuedBatch {
    return { lane: 'recovered', sequence: 0, batch }
  }

  #add(lane: Fifo<QueuedBatch>, held: QueuedBatch): void {
    lane.push(held)
    this.#count(held.batch)
  }

  #count(batch: Batch): void {
    this.#bytes += bytesOf(batch)
    this.#entries += batch.count
  }

  #remove(batch: Batch): void {
    this.#bytes -= bytesOf(batch)
    this.#entries -= batch.count
  }

  /** First what the disk has too, the newest of it; then the oldest of the rest. */
  #shrink(inFlightBytes: number): Batch[] {
    const gone: Batch[] = []
    while (inFlightBytes + this.#bytes > this.#maxBytes) {
      const stored = this.#popStored()
      const batch = stored?.batch ?? this.#loose.shift()?.batch
      if (batch === undefined) break
      this.#remove(batch)
      if (stored !== undefined && batch.place !== undefined && batch.acknowledgement?.isDurable !== false)
        this.#evicted?.unshift(stored, batch.place)
      else gone.push(batch)
    }
    return gone
  }

  /** The one directly before those on disk, which are read from its place on: others between them would be met there. */
  #popStored(): QueuedBatch | undefined {
    const last = this.#stored.last
    if (last === undefined || this.#evicted?.isReading === true) return undefined
    if (last.batch.acknowledgement?.isDurable === false) return this.#stored.pop() // gone from the disk: it is lost, and in nobody's way
    return last.sequence + 1 === (this.#evicted?.firstSequence ?? this.#nextStored) ? this.#stored.pop() : undefined
  }

  #readBack(): void {
    const evicted = this.#evicted
    // Half of the memory is enough to keep all senders at work, and leaves room for what is in flight.
    if (evicted?.isReadable !== true || this.#isClosed) return
    // One of what was kept is always at hand: what is logged now may fill the memory for as long as it comes.
    const isWanted = this.#isBacklog && !this.#isDown() && evicted.firstReturned === undefined
    // While the service is down they are of no use here.
    if (this.#bytes > this.#maxBytes * (this.#isDown() ? SHARE_IN_OUTAGE : 1 / 2) && !isWanted) return
    void evicted
      .read(({ batch }) => this.#count(batch))
      .then(() => {
        this.#onReadBack()
        this.refill()
      })
  }
}
