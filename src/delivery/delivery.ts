/** Holds cut batches until each is settled: sent, refused, kept on disk, or dropped at a named bound. */
import { setMaxListeners } from 'node:events'
import { DROP_MESSAGES } from '../diagnostics/messages.js'
import type { Clock } from '../shared/clock.js'
import type { Batch, Outcome, Sender } from '../batch/sender.js'
import { OutcomeRecorder } from './outcome-recorder.js'
import type { OutcomeRecorderOptions } from './outcome-recorder.js'
import { FlushWaiters } from './queue/flush-waiters.js'
import type { FlushOutcome } from './queue/flush-waiters.js'
import type { CircuitBreaker } from './retry/circuit-breaker.js'
import { bytesOf } from './queue/queued-batch.js'
import type { QueueDisk, QueuedBatch, Lane, Watermark } from './queue/queued-batch.js'
import { ABORT_MS, FAILURES_ON_DISK } from './shutdown-policy.js'
import { BatchQueue } from './queue/batch-queue.js'

export interface DeliveryOptions extends OutcomeRecorderOptions {
  /** Gives a final outcome: `delivered`, `refused` or `given-up`. */
  readonly sender: Sender
  /** The gate that `sender` waits at. Batches that it would not let pass stay in the queue, where they can be dropped. */
  readonly gate: Pick<
    CircuitBreaker,
    | 'limit'
    | 'lastFailure'
    | 'outageAgeMs'
    | 'retryAfterLeftMs'
    | 'rejections'
    | 'retrySoon'
    | 'isFinished'
    | 'startShutdown'
    | 'onCapacity'
  >
  readonly clock: Clock
  /** Bytes of all bodies that wait or are in flight. */
  readonly maxBufferBytes: number
  /** An outage this long ends a `flush` of what is on disk. */
  readonly requestTimeoutMs: number
  /** Where batches wait when memory gets short. */
  readonly disk?: (QueueDisk & { readonly retainedEntries: number }) | undefined
  /** See `QueueOptions`. */
  readonly recoverForMs?: number | undefined
  /** For the message at the end: what was set, of which `drain` may get the rest. Default: what `drain` gets. */
  readonly shutdownTimeoutMs?: number
}

/** Whatever their size: those that wait for news of the service must leave room for what may bring it. */
const ALWAYS_IN_FLIGHT = 40
const NOT_YET = Promise.resolve()

export class Delivery {
  readonly #options: DeliveryOptions
  readonly #abort = new AbortController()
  readonly #queue: BatchQueue
  readonly #inFlight = new Map<QueuedBatch, Promise<void>>()
  readonly #flushes: FlushWaiters
  #inFlightEntries = 0
  #inFlightBytes = 0
  readonly #booking: OutcomeRecorder
  #isMemoryAlone: boolean
  #drained: Promise<void> | undefined
  #closed = false

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#isMemoryAlone = options.disk === undefined
    this.#booking = new OutcomeRecorder(options)
    this.#queue = new BatchQueue({ ...options, isDown: () => options.gate.lastFailure !== undefined }, () =>
      this.#startWaiting(),
    )
    this.#flushes = new FlushWaiters({
      ...options,
      hasKept: () => this.#booking.keptEntries + (options.disk?.retainedEntries ?? 0) > 0,
      oldest: () => this.#oldest,
    })
    options.gate.onCapacity(() => this.#startWaiting())
    // Every batch in flight listens to it.
    setMaxListeners(0, this.#abort.signal)
  }

  /** Entries that wait in memory or are in flight; after the end those that stay on disk. */
  get pendingEntries(): number {
    return this.#queue.entries + this.#inFlightEntries + this.#booking.keptEntries
  }

  /** Share of `maxBufferBytes` that the batches take which wait or are in flight. */
  get usedShare(): number {
    return (this.#queue.bytes + this.#inFlightBytes) / this.#options.maxBufferBytes
  }

  /** Whether the newest batch is in memory and not on disk. */
  get isMemoryOnly(): boolean {
    return this.#isMemoryAlone
  }

  /** Whether a batch of so many bytes, which is on disk, would be kept there alone. */
  waitsOnDisk(bodyBytes: number): boolean {
    return this.#closed || this.#queue.waitsOnDisk(bodyBytes, this.#inFlightBytes)
  }

  /** Counts and reports an entry that was not admitted. */
  refuse(reason: 'buffer' | 'spool'): void {
    this.#booking.recordRefusal(reason)
  }

  /** Takes the batch in any case; never blocks and never throws. What does not fit waits on disk, or costs the oldest. */
  enqueue(batch: Batch): void {
    if (this.#closed) {
      this.#booking.recordAbandoned(batch, batch.count)
      return this.#booking.reportLost(DROP_MESSAGES.loggedAfterClose.text())
    }
    this.#isMemoryAlone = batch.place === undefined
    const gone = this.#queue.push(batch, this.#inFlightBytes)
    const {
      gate: { lastFailure: trouble },
      maxBufferBytes,
    } = this.#options
    this.#booking.recordEvicted(gone, batch, { maxBufferBytes, trouble })
    this.#startWaiting()
  }

  /** The service is back: what is logged from now on goes past what has waited for it. */
  onServiceRecovered(): void {
    this.#queue.putAside()
  }

  /** As `Flushes.add`, of everything enqueued before. @param timeoutMs for how long the caller waits */
  flush(timeoutMs = this.#options.requestTimeoutMs): Promise<FlushOutcome> {
    return this.#flushes.add(this.#queue.watermark, timeoutMs)
  }

  /** Whether nothing is taken any more. */
  get isClosed(): boolean {
    return this.#closed
  }

  /** Whether none of the app's own waits in memory alone. */
  get isOnDisk(): boolean {
    return !this.#isMemoryAlone && this.#oldest.memoryOnly >= this.#queue.watermark.memoryOnly
  }

  /** More may have been found on disk. */
  wake(): void {
    this.#queue.refill()
  }

  /**
   * The app ends. Waits at most `timeoutMs` for everything to settle, then ends the requests in flight. What is left stays
   * on disk, or is counted and told as dropped. Nothing is taken afterwards. Never rejects; a second call joins the first.
   */
  drain(timeoutMs: number): Promise<void> {
    this.#drained ??= this.#drain(timeoutMs)
    return this.#drained
  }

  /** The process ends in this very turn: what `drain` does at its deadline, now. */
  abandon(): void {
    this.#drained ??= Promise.resolve()
    this.#close(DROP_MESSAGES.processExited.text)
  }

  async #drain(timeoutMs: number): Promise<void> {
    const { clock, gate } = this.#options
    this.#queue.recoverWithin(gate.lastFailure === undefined ? timeoutMs : 0)
    gate.startShutdown(clock.now() + timeoutMs, this.#isMemoryAlone ? Infinity : FAILURES_ON_DISK)
    await this.#within(timeoutMs, this.#untilIdle())
    this.#closed = true
    this.#abort.abort()
    if (this.#inFlight.size > 0) await this.#within(ABORT_MS, this.#untilNoneInFlight())
    const { shutdownTimeoutMs = timeoutMs } = this.#options
    this.#close((reason) => DROP_MESSAGES.notDelivered.text(shutdownTimeoutMs, reason))
  }

  #within(ms: number, done: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancelTimer = this.#options.clock.timer(ms, resolve)
      void done.then(cancelTimer).then(resolve)
    })
  }

  /** Also what is enqueued meanwhile; what earlier processes left while the service takes it: one short process after another would never send it. */
  async #untilIdle(): Promise<void> {
    const isIdle = ({ durable: stored, memoryOnly: loose }: Watermark): boolean =>
      stored >= this.#queue.watermark.durable && loose >= this.#queue.watermark.memoryOnly
    while (!this.#closed && !this.#isOver && !isIdle(this.#oldest)) {
      // In a long outage a flush is over at once: this loop would leave no turn to the attempts, nor to the timer that ends it.
      await this.#flushes.add(this.#queue.watermark)
    }
    await this.#queue.untilRecovered()
    await this.#untilNoneInFlight()
  }

  async #untilNoneInFlight(): Promise<void> {
    await Promise.all(this.#inFlight.values())
  }

  #close(describeLoss: (lastFailure: string) => string): void {
    this.#closed = true
    const left = [...this.#inFlight.keys(), ...this.#queue.close()]
    this.#inFlight.clear()
    this.#inFlightEntries = this.#inFlightBytes = 0
    this.#abort.abort()
    for (const { batch } of left) this.#booking.recordAbandoned(batch, batch.count)
    this.#booking.reportLost(describeLoss(this.#options.gate.lastFailure ?? 'none, a request was still in progress'))
    this.#flushes.end(this.#booking.keptEntries > 0 ? 'spooled' : 'acknowledged')
  }

  /** The oldest of the app's own that is not settled, in each lane. */
  get #oldest(): Watermark {
    const { durable: stored, memoryOnly: loose } = this.#queue.oldest
    const orders = (lane: Lane): number[] =>
      [...this.#inFlight.keys()].filter((held) => held.lane === lane).map(({ sequence: order }) => order)
    return { durable: Math.min(stored, ...orders('stored')), memoryOnly: Math.min(loose, ...orders('loose')) }
  }

  /** The last attempts failed: what is on disk need not be read back to be given up. */
  get #isOver(): boolean {
    return this.#drained !== undefined && this.#options.gate.isFinished
  }

  /** Large batches in as great a number as small ones would take far more than `maxBufferBytes`. */
  get #hasRoomInFlight(): boolean {
    return this.#inFlight.size < ALWAYS_IN_FLIGHT || this.#inFlightBytes < this.#options.maxBufferBytes
  }

  #startWaiting(): void {
    if (this.#closed || this.#isOver) return
    while (this.#inFlight.size < this.#options.gate.limit && this.#hasRoomInFlight) {
      const held = this.#queue.shift()
      if (held === undefined) break
      this.#inFlightBytes += bytesOf(held.batch)
      this.#inFlightEntries += held.batch.count
      this.#inFlight.set(held, NOT_YET)
      const delivered = this.#deliver(held)
      if (this.#inFlight.has(held)) this.#inFlight.set(held, delivered)
    }
    this.#queue.refill()
  }

  async #deliver(held: QueuedBatch): Promise<void> {
    let outcome: Outcome
    const startedAt = this.#options.clock.now()
    try {
      outcome = await this.#options.sender.send(held.batch, this.#abort.signal)
    } catch (bug) {
      // A sender never rejects; should one, the entries are counted and told all the same.
      outcome = { kind: 'given-up', reason: String(bug) }
    }
    // Counted at the deadline already.
    if (!this.#inFlight.delete(held)) return
    this.#inFlightBytes -= bytesOf(held.batch)
    this.#inFlightEntries -= held.batch.count
    this.#queue.settled(held, this.#options.clock.now() - startedAt)
    this.#booking.record(held.batch, outcome)
    // What an exit costs is told in one line at its end.
    if (this.#drained === undefined && 'reason' in outcome) this.#booking.reportLost(outcome.reason)
    if (this.#drained !== undefined && this.#options.gate.lastFailure !== undefined) this.#queue.recoverWithin(0)
    this.#startWaiting()
    if (this.#isOver) this.#flushes.end('spooled')
    else this.#flushes.check()
  }
}
