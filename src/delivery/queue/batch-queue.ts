/**
 * The waiting batches in four queues: durable batches in memory, which are spilled when memory is short; spilled
 * batches, which are read back in order; batches only in memory, the oldest of which is dropped when memory is short;
 * and batches that earlier processes left on disk, a few at a time.
 *
 * After an outage, new batches are sent before the backlog, because otherwise they would wait as long as the outage
 * lasted.
 */
import type { Batch } from '../../batch/batch.js'
import { SpilledQueue } from './spilled-queue.js'
import type { BatchOnDisk } from './spilled-queue.js'
import { Fifo } from './fifo.js'
import { BATCH_OVERHEAD_BYTES, countBytes } from './queued-batch.js'
import type { QueuedBatch, Watermark, QueueOptions } from './queued-batch.js'
import { RecoveredQueue } from './recovered-queue.js'

/**
 * Memory for durable batches during an outage, and for batches read back: more are read while these are sent. During a
 * ramp-up, more batches would wait so long that they would reach the old generation before their memory is freed.
 */
const READY_BYTES = 256 * 1024
const READY_SHARE = 1 / 8
/** New batches per batch of a backlog. */
const LIVE_SHARE = 3

export class BatchQueue {
  readonly #maxBytes: number
  readonly #readyBytes: number
  readonly #isDown: () => boolean
  readonly #isOrdered: boolean
  #onReadBack: () => void = () => {}
  readonly #durable = new Fifo<QueuedBatch>()
  readonly #memoryOnly = new Fifo<QueuedBatch>()
  readonly #spilled: SpilledQueue | undefined
  readonly #recovered: RecoveredQueue
  #nextDurable = 0
  #nextMemoryOnly = 0
  #bytes = 0
  #entries = 0
  /** New batches since the latest batch of a backlog. */
  #liveInARow = 0
  #isRecoveredNext = false
  /** Whether spilled batches are from an outage. */
  #hasOutageBacklog = false
  #isClosed = false

  constructor({
    maxBufferBytes,
    disk,
    clock,
    recoverForMs = Infinity,
    isDown = () => false,
    maxConcurrency,
  }: QueueOptions) {
    this.#maxBytes = maxBufferBytes
    this.#readyBytes = Math.min(READY_BYTES, maxBufferBytes * READY_SHARE)
    this.#isDown = isDown
    this.#isOrdered = maxConcurrency === 1
    this.#spilled = disk && new SpilledQueue(disk.spilled)
    this.#recovered = new RecoveredQueue({
      recovery: disk?.recovery,
      clock,
      forMs: recoverForMs,
      onRead: () => this.#onReadBack(),
    })
  }

  /** Calls `listener` when a batch was read from disk. One listener. */
  onReadBack(listener: () => void): void {
    this.#onReadBack = listener
  }

  /** Memory of the waiting batches of this process. */
  get bytes(): number {
    return this.#bytes
  }

  /** Entries in memory, of all queues. */
  get entries(): number {
    return this.#entries + this.#recovered.entries
  }

  /** Watermark after all batches so far. */
  get watermark(): Watermark {
    return { durable: this.#nextDurable, memoryOnly: this.#nextMemoryOnly }
  }

  /** The oldest waiting batch of each kind. */
  get oldest(): Watermark {
    return {
      durable: Math.min(this.#durable.first?.sequence ?? this.#nextDurable, this.#spilled?.oldest ?? Infinity),
      memoryOnly: this.#memoryOnly.first?.sequence ?? this.#nextMemoryOnly,
    }
  }

  /**
   * Always accepts the batch.
   * @param inFlightBytes bytes in flight, which use the same memory
   * @returns the dropped batches: the oldest ones that are only in memory, or the batch itself
   */
  push(batch: Batch, inFlightBytes: number): Batch[] {
    this.#recovered.touch()
    const { place } = batch
    if (place !== undefined && this.#spilled !== undefined) {
      this.#pushStored({ ...batch, place }, inFlightBytes, this.#spilled)
      return []
    }
    if (inFlightBytes + countBytes(batch) > this.#maxBytes) return [batch]
    this.#add(this.#memoryOnly, { kind: 'memoryOnly', sequence: this.#nextMemoryOnly++, batch })
    return this.#shrink(inFlightBytes)
  }

  /** Whether a durable batch waits on disk only, because there is no memory for it or earlier batches wait there. */
  waitsOnDisk(bodyBytes: number, inFlightBytes: number): boolean {
    const isBehind = this.#spilled?.isEmpty === false && (!this.#isBacklog || this.#isDown())
    const bound = this.#isDown() ? this.#readyBytes : this.#maxBytes
    return isBehind || inFlightBytes + this.#bytes + bodyBytes + BATCH_OVERHEAD_BYTES > bound
  }

  /** Whether new batches are sent before spilled ones. If the service was only slow, the order is kept. */
  get #isBacklog(): boolean {
    return this.#hasOutageBacklog && !this.#isOrdered
  }

  #pushStored(batch: BatchOnDisk, inFlightBytes: number, spilled: SpilledQueue): void {
    const sequence = this.#nextDurable++
    const wasEmpty = spilled.isEmpty
    // A batch without a body waits on disk, even if memory is free again.
    if (batch.body.length === 0 || this.waitsOnDisk(batch.body.length, inFlightBytes)) {
      this.#hasOutageBacklog = this.#isDown() || (this.#hasOutageBacklog && !wasEmpty)
      spilled.push(sequence, batch)
    } else {
      if (!wasEmpty) spilled.pass(batch)
      this.#add(this.#durable, { kind: 'durable', sequence, batch })
    }
  }

  /** Called after an outage: new batches are then also sent before those in memory. */
  moveToBacklog(): void {
    if (this.#spilled === undefined || this.#isOrdered || this.#durable.length === 0) return
    this.#hasOutageBacklog = true
    const kept: QueuedBatch[] = []
    for (let queued = this.#durable.shift(); queued !== undefined; queued = this.#durable.shift()) kept.push(queued)
    this.#spilled.keep(kept)
  }

  /** The next batch to send. */
  shift(): QueuedBatch | undefined {
    const queued =
      (this.#liveInARow >= LIVE_SHARE ? this.#shiftKept() : undefined) ?? this.#shiftLive() ?? this.#shiftKept()
    this.refill()
    return queued
  }

  /** Called when a batch from `shift` is settled. */
  settled({ kind, batch }: QueuedBatch, tookMs: number): void {
    this.#recovered.replied(tookMs)
    if (kind === 'recovered') this.#recovered.settled(batch)
  }

  /** Reads more from disk if there is memory for it. */
  refill(): void {
    this.#readBack()
    this.#recovered.refill()
  }

  /** Called at shutdown: batches of earlier processes that cannot be sent within this time wait for the next start. */
  recoverWithin(timeoutMs: number): void {
    this.#recovered.endWithin(timeoutMs)
  }

  /** Resolves when batches of earlier processes are settled, or no more of them are sent. Never rejects. */
  untilRecovered(): Promise<void> {
    return this.#recovered.untilDone()
  }

  /** @returns the batches in memory */
  close(): QueuedBatch[] {
    this.#isClosed = true
    const all: QueuedBatch[] = []
    for (let queued = this.#shiftReturned(); queued !== undefined; queued = this.#shiftReturned()) all.push(queued)
    for (const queue of [this.#durable, this.#memoryOnly]) {
      for (let queued = queue.shift(); queued !== undefined; queued = queue.shift()) all.push(queued)
    }
    this.#bytes = this.#entries = 0
    return [...all, ...this.#recovered.close().map((batch) => this.#queued(batch))]
  }

  #shiftLive(): QueuedBatch | undefined {
    const isReturnedNext =
      !this.#isBacklog && (this.#spilled?.firstReturned ?? Infinity) < (this.#durable.first?.sequence ?? Infinity)
    const queued = isReturnedNext
      ? this.#shiftReturned()
      : (this.#shiftOf(this.#durable) ?? this.#shiftOf(this.#memoryOnly))
    if (queued !== undefined) this.#liveInARow += 1
    return queued
  }

  /** Alternates between the backlog of this process and that of earlier ones. */
  #shiftKept(): QueuedBatch | undefined {
    const own = (): QueuedBatch | undefined => (this.#isBacklog ? this.#shiftReturned() : undefined)
    const queued = this.#isRecoveredNext ? (this.#shiftRecovered() ?? own()) : (own() ?? this.#shiftRecovered())
    if (queued === undefined) return undefined
    this.#isRecoveredNext = queued.kind !== 'recovered'
    this.#liveInARow = 0
    return queued
  }

  #shiftOf(queue: Fifo<QueuedBatch>): QueuedBatch | undefined {
    const queued = queue.shift()
    if (queued !== undefined) this.#remove(queued.batch)
    return queued
  }

  #shiftReturned(): QueuedBatch | undefined {
    const returned = this.#spilled?.shift()
    if (returned === undefined) return undefined
    this.#remove(returned.batch)
    return { kind: 'durable', ...returned }
  }

  #shiftRecovered(): QueuedBatch | undefined {
    const batch = this.#recovered.shift()
    return batch === undefined ? undefined : this.#queued(batch)
  }

  /** Wraps a batch of an earlier process; these have no order. */
  #queued(batch: Batch): QueuedBatch {
    return { kind: 'recovered', sequence: 0, batch }
  }

  #add(queue: Fifo<QueuedBatch>, queued: QueuedBatch): void {
    queue.push(queued)
    this.#count(queued.batch)
  }

  #count(batch: Batch): void {
    this.#bytes += countBytes(batch)
    this.#entries += batch.count
  }

  #remove(batch: Batch): void {
    this.#bytes -= countBytes(batch)
    this.#entries -= batch.count
  }

  /** Spills the newest durable batches, then drops the oldest of the others. */
  #shrink(inFlightBytes: number): Batch[] {
    const dropped: Batch[] = []
    while (inFlightBytes + this.#bytes > this.#maxBytes) {
      const stored = this.#popStored()
      const batch = stored?.batch ?? this.#memoryOnly.shift()?.batch
      if (batch === undefined) break
      this.#remove(batch)
      if (stored !== undefined && batch.place !== undefined && batch.acknowledgement?.isDurable !== false)
        this.#spilled?.unshift(stored, batch.place)
      else dropped.push(batch)
    }
    return dropped
  }

  /**
   * Pops only the batch directly before the spilled ones. They are read from its position on, so batches in between
   * would be read again.
   */
  #popStored(): QueuedBatch | undefined {
    const last = this.#durable.last
    if (last === undefined || this.#spilled?.isReading === true) return undefined
    if (last.batch.acknowledgement?.isDurable === false) return this.#durable.pop() // dropped from the disk
    return last.sequence + 1 === (this.#spilled?.firstSequence ?? this.#nextDurable) ? this.#durable.pop() : undefined
  }

  #readBack(): void {
    const spilled = this.#spilled
    if (spilled?.isReadable !== true || this.#isClosed) return
    // One batch of the backlog is always in memory, even if new batches fill the memory.
    const isWanted = this.#isBacklog && !this.#isDown() && spilled.firstReturned === undefined
    if (this.#bytes > this.#readyBytes && !isWanted) return
    void spilled
      .read(({ batch }) => this.#count(batch))
      .then(() => {
        this.#onReadBack()
        this.refill()
      })
  }
}
