/** Keeps batches until each is settled: accepted, rejected, left on disk at shutdown, or dropped at a limit. */
import { setMaxListeners } from 'node:events'
import { DROP_MESSAGES } from '../diagnostics/messages.js'
import { NO_FAILURE } from '../diagnostics/no-failure.js'
import { LOCAL_URL } from '../options/resolve-options.js'
import type { Clock } from '../shared/clock.js'
import type { Batch } from '../batch/batch.js'
import type { Outcome } from '../batch/outcome.js'
import type { Sender } from '../batch/sender.js'
import { OutcomeRecorder } from './outcome-recorder.js'
import type { OutcomeRecorderOptions } from './outcome-recorder.js'
import { FlushWaiters } from './queue/flush-waiters.js'
import type { FlushOutcome } from './queue/flush-waiters.js'
import type { CircuitBreaker } from './retry/circuit-breaker.js'
import { countBytes } from './queue/queued-batch.js'
import type { QueueDisk, QueuedBatch, QueueKind, Watermark } from './queue/queued-batch.js'
import { ABORT_MS, FAILURES_ON_DISK } from './shutdown-policy.js'
import { BatchQueue } from './queue/batch-queue.js'

export interface DeliveryOptions extends OutcomeRecorderOptions {
  /** Returns final outcomes: `delivered`, `refused` or `abandoned`. */
  readonly sender: Sender
  /** The circuit breaker of `sender`. Batches beyond its limit stay in the queue, where they can be dropped. */
  readonly breaker: Pick<
    CircuitBreaker,
    'failures' | 'limit' | 'retrySoon' | 'isFinished' | 'startShutdown' | 'onCapacity'
  >
  readonly clock: Clock
  /** Maximum bytes of all bodies that wait or are in flight. */
  readonly maxBufferBytes: number
  /** An outage of this age ends a flush of batches on disk. */
  readonly requestTimeoutMs: number
  /** The disk, where batches wait when memory is short. */
  readonly disk?: (QueueDisk & { readonly retainedEntries: number }) | undefined
  /** See `QueueOptions`. */
  readonly recoverForMs?: number | undefined
  /** The configured timeout, for the message at shutdown. Default: the timeout of `drain`. */
  readonly shutdownTimeoutMs?: number
}

/** Allowed in flight regardless of their size, because suspended batches must not block others. */
const ALWAYS_IN_FLIGHT = 40
const NOT_YET = Promise.resolve()

export class Delivery {
  readonly #options: DeliveryOptions
  readonly #abort = new AbortController()
  readonly #queue: BatchQueue
  readonly #inFlight = new Map<QueuedBatch, Promise<void>>()
  readonly #flushWaiters: FlushWaiters
  #inFlightEntries = 0
  #inFlightBytes = 0
  readonly #recorder: OutcomeRecorder
  #isMemoryOnly: boolean
  #drained: Promise<void> | undefined
  #closed = false

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#isMemoryOnly = options.disk === undefined
    this.#recorder = new OutcomeRecorder(options)
    this.#queue = new BatchQueue({ ...options, isDown: () => options.breaker.failures.lastFailure !== undefined })
    this.#flushWaiters = new FlushWaiters({
      ...options,
      hasKept: () => this.#recorder.keptEntries + (options.disk?.retainedEntries ?? 0) > 0,
      oldest: () => this.#oldest,
    })
    // Every batch in flight adds a listener.
    setMaxListeners(0, this.#abort.signal)
    // After an outage, new entries are sent before the backlog.
    options.breaker.failures.subscribe({ onRecovery: () => this.#queue.moveToBacklog() })
    options.breaker.onCapacity(() => this.#startWaiting())
    this.#queue.onReadBack(() => this.#startWaiting())
  }

  /** Entries in memory or in flight; after shutdown, the entries that stay on disk. */
  get pendingEntries(): number {
    return this.#queue.entries + this.#inFlightEntries + this.#recorder.keptEntries
  }

  /** Share of `maxBufferBytes` used by batches that wait or are in flight. */
  get usedShare(): number {
    return (this.#queue.bytes + this.#inFlightBytes) / this.#options.maxBufferBytes
  }

  /** Whether the newest batch is only in memory. */
  get isMemoryOnly(): boolean {
    return this.#isMemoryOnly
  }

  /** Whether a durable batch of this size would wait on disk only. */
  waitsOnDisk(bodyBytes: number): boolean {
    return this.#closed || this.#queue.waitsOnDisk(bodyBytes, this.#inFlightBytes)
  }

  /** Counts and reports an entry that was not admitted. */
  refuse(reason: 'buffer' | 'spool'): void {
    this.#recorder.recordRefusal(reason)
  }

  /** Always accepts the batch; never blocks and never throws. If memory is full, the batch waits on disk, or the oldest one is dropped. */
  enqueue(batch: Batch): void {
    if (this.#closed) {
      this.#recorder.recordAbandoned(batch, batch.count)
      return this.#recorder.reportLost(DROP_MESSAGES.loggedAfterClose.text())
    }
    this.#isMemoryOnly = batch.place === undefined
    const dropped = this.#queue.push(batch, this.#inFlightBytes)
    const { breaker, maxBufferBytes } = this.#options
    if (dropped.length > 0)
      this.#recorder.recordDropped(dropped, batch, { maxBufferBytes, lastFailure: breaker.failures.lastFailure })
    this.#startWaiting()
  }

  /** As `FlushWaiters.add`, for all batches enqueued before. @param timeoutMs time for which the caller waits */
  flush(timeoutMs = this.#options.requestTimeoutMs): Promise<FlushOutcome> {
    return this.#flushWaiters.add(this.#queue.watermark, timeoutMs)
  }

  /** Whether batches are no longer accepted. */
  get isClosed(): boolean {
    return this.#closed
  }

  /** Whether no batch of this process waits in memory only. */
  get isOnDisk(): boolean {
    return !this.#isMemoryOnly && this.#oldest.memoryOnly >= this.#queue.watermark.memoryOnly
  }

  /** Must be called when batches were found on disk. */
  wake(): void {
    this.#queue.refill()
  }

  /**
   * Called at shutdown. Waits at most `timeoutMs` until all batches are settled, then aborts the requests in flight.
   * The rest stays on disk, or is counted and reported as dropped. Never rejects; a second call returns the first
   * promise.
   */
  drain(timeoutMs: number): Promise<void> {
    this.#drained ??= this.#drain(timeoutMs)
    return this.#drained
  }

  /** Called if the process exits in this turn of the event loop. Does immediately what `drain` does at its deadline. */
  abandon(): void {
    this.#drained ??= Promise.resolve()
    this.#close(DROP_MESSAGES.processExited.text)
  }

  async #drain(timeoutMs: number): Promise<void> {
    const { clock, breaker } = this.#options
    this.#queue.recoverWithin(breaker.failures.lastFailure === undefined ? timeoutMs : 0)
    breaker.startShutdown(clock.now() + timeoutMs, this.#isMemoryOnly ? Infinity : FAILURES_ON_DISK)
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

  /**
   * Includes batches enqueued in the meantime and those of earlier processes, which short processes would never send
   * otherwise.
   */
  async #untilIdle(): Promise<void> {
    const isIdle = ({ durable, memoryOnly }: Watermark): boolean =>
      durable >= this.#queue.watermark.durable && memoryOnly >= this.#queue.watermark.memoryOnly
    while (!this.#closed && !this.#isFinished && !isIdle(this.#oldest)) {
      // Without a timeout, because in a long outage a flush with one resolves immediately, and this loop would block
      // the event loop.
      await this.#flushWaiters.add(this.#queue.watermark)
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
    for (const { batch } of left) this.#recorder.recordAbandoned(batch, batch.count)
    const { nobodyListens, lastFailure } = this.#options.breaker.failures
    this.#recorder.reportLost(
      nobodyListens ? DROP_MESSAGES.nobodyListens.text(LOCAL_URL) : describeLoss(lastFailure ?? NO_FAILURE),
    )
    this.#flushWaiters.end(this.#recorder.keptEntries > 0 ? 'spooled' : 'acknowledged')
  }

  /** The oldest unsettled batch of each kind. */
  get #oldest(): Watermark {
    const { durable, memoryOnly } = this.#queue.oldest
    const sequences = (kind: QueueKind): number[] =>
      [...this.#inFlight.keys()].filter((queued) => queued.kind === kind).map(({ sequence }) => sequence)
    return {
      durable: Math.min(durable, ...sequences('durable')),
      memoryOnly: Math.min(memoryOnly, ...sequences('memoryOnly')),
    }
  }

  /** Whether the last attempts failed, so batches on disk are no longer read back. */
  get #isFinished(): boolean {
    return this.#drained !== undefined && this.#options.breaker.isFinished
  }

  /** Limits the memory of large batches in flight to `maxBufferBytes`. */
  get #hasCapacity(): boolean {
    return this.#inFlight.size < ALWAYS_IN_FLIGHT || this.#inFlightBytes < this.#options.maxBufferBytes
  }

  #startWaiting(): void {
    if (this.#closed || this.#isFinished) return
    while (this.#queue.entries > 0 && this.#inFlight.size < this.#options.breaker.limit && this.#hasCapacity) {
      const queued = this.#queue.shift()
      if (queued === undefined) break
      this.#inFlightBytes += countBytes(queued.batch)
      this.#inFlightEntries += queued.batch.count
      this.#inFlight.set(queued, NOT_YET)
      const delivered = this.#deliver(queued)
      if (this.#inFlight.has(queued)) this.#inFlight.set(queued, delivered)
    }
    this.#queue.refill()
  }

  async #deliver(queued: QueuedBatch): Promise<void> {
    let outcome: Outcome
    const startedAt = this.#options.clock.now()
    try {
      outcome = await this.#options.sender.send(queued.batch, this.#abort.signal)
    } catch (bug) {
      // Must not happen. The entries are still counted and reported.
      outcome = { kind: 'abandoned', reason: String(bug) }
    }
    // Batches in flight at the deadline are already counted.
    if (!this.#inFlight.delete(queued)) return
    this.#inFlightBytes -= countBytes(queued.batch)
    this.#inFlightEntries -= queued.batch.count
    this.#queue.settled(queued, this.#options.clock.now() - startedAt)
    this.#recorder.record(queued.batch, outcome)
    // Losses at shutdown are reported in one line.
    if (this.#drained === undefined && 'reason' in outcome) this.#recorder.reportLost(outcome.reason)
    if (this.#drained !== undefined && this.#options.breaker.failures.lastFailure !== undefined)
      this.#queue.recoverWithin(0)
    this.#startWaiting()
    if (this.#isFinished) this.#flushWaiters.end('spooled')
    else this.#flushWaiters.check()
  }
}
