/** Delivers batches of one kind to their endpoint with the transport's own senders, until a deadline. */
import { setMaxListeners } from 'node:events'
import type { Batch, BatchAcknowledgement, DeadLetter } from '../../batch/batch.js'
import type { Outcome } from '../../batch/outcome.js'
import type { Sender } from '../../batch/sender.js'
import { createDestination } from '../../delivery/destination.js'
import type { Destination } from '../../delivery/destination.js'
import { CircuitBreaker } from '../../delivery/retry/circuit-breaker.js'
import { createSenderChain } from '../../delivery/sender-chain.js'
import type { Settings } from '../../options/resolve-options.js'
import { systemClock } from '../../shared/clock.js'
import type { ItemKind } from './item-kind.js'

export interface StoredBatch {
  readonly batch: Batch
  /**
   * Keeps the rejected entries that the service did not name. Without it, they are lost.
   * @param hasUnnamedRejections whether there are any
   */
  readonly onOutcome?: (hasUnnamedRejections: boolean) => void
}

export interface ReplayJob extends StoredBatch {
  /** Stores rejected entries. If it throws, the batch is not acknowledged. */
  readonly deadLetter: (letters: readonly DeadLetter[]) => void
}

export interface ReplayDeliveryOptions {
  readonly kind: ItemKind
  readonly settings: Settings
  /** On the monotonic clock. */
  readonly deadlineAt: number
  /** Removes secrets. */
  readonly mask: (text: string) => string
}

export class ReplayDelivery {
  readonly kind: ItemKind
  accepted = 0
  rejected = 0
  /** Number of the rejected items that are neither dead letters nor kept, since the service did not name them. */
  unstored = 0
  readonly #options: ReplayDeliveryOptions
  readonly #abort = new AbortController()
  readonly #destination: Destination
  readonly #breaker: CircuitBreaker
  readonly #sender: Sender
  #attempts = 0
  #onRetryAfter: (delayMs: number) => void = () => {}
  /** The circuit breaker allows no attempt before the deadline. Attempts in progress may still succeed. */
  #isHopeless = false
  #lastFailure: string | undefined

  constructor(options: ReplayDeliveryOptions) {
    this.#options = options
    const { kind, settings, deadlineAt, mask } = options
    this.kind = kind
    // Every batch in progress adds a listener.
    setMaxListeners(0, this.#abort.signal)
    const clock = systemClock
    const destination = (this.#destination = createDestination({ settings, clock, mask }))
    const breaker = (this.#breaker = new CircuitBreaker({
      ...settings,
      clock,
      onRetryAfter: (delayMs) => this.#onRetryAfter(delayMs),
      onFailure: ({ reason }, _ageMs, waitMs) => {
        this.#lastFailure = reason
        if (clock.now() + waitMs < deadlineAt) return
        this.#isHopeless = true
        this.#stopIfIdle()
      },
      onRecovery: () => {
        this.#lastFailure = undefined
      },
    }))
    const isEntries = kind === 'entries'
    this.#sender = createSenderChain({
      settings,
      target: isEntries ? destination.entries : destination.requestLogs,
      breaker,
      mask,
      isShortenable: isEntries,
      observeAttempts: (inner) => this.#createCountingSender(inner),
    })
  }

  /** Reason of the last failure, until the service recovers. */
  get lastFailure(): string | undefined {
    return this.#lastFailure
  }

  /** Sets the listener for a Retry-After of the service. It replaces the previous listener. */
  onRetryAfter(listener: (delayMs: number) => void): void {
    this.#onRetryAfter = listener
  }

  /** Applies a Retry-After that the other endpoint sent. */
  applyRetryAfter(delayMs: number): void {
    this.#breaker.applyRetryAfter(delayMs)
  }

  /** Ends the delivery now. Batches in progress are abandoned. */
  stop(): void {
    this.#abort.abort()
  }

  /** Sends all jobs, or as many as the deadline permits. Must be called once. @param jobs must not reject */
  async sendAll(jobs: AsyncGenerator<ReplayJob, void>): Promise<void> {
    const { settings, deadlineAt } = this.#options
    const { signal } = this.#abort
    const cancelDeadline = systemClock.timer(deadlineAt - systemClock.now(), () => this.stop())
    let isExhausted = false
    const work = async (): Promise<void> => {
      while (!signal.aborted && !isExhausted) {
        const { value: job } = await jobs.next()
        if (job !== undefined) await this.#send(job)
        else if (!isExhausted) {
          isExhausted = true
          // No further batch could be accepted and end an outage.
          this.#breaker.startShutdown(deadlineAt)
        }
      }
    }
    await Promise.all(Array.from({ length: settings.maxConcurrency }, work))
    cancelDeadline()
    // Cancels the breaker's timer, which would keep the process alive.
    this.#breaker.retryNow()
    await this.#destination.close()
    if (systemClock.now() >= deadlineAt) this.#lastFailure ??= 'timed out (--timeout)'
  }

  async #send({ batch, deadLetter, onOutcome }: ReplayJob): Promise<void> {
    let stored = 0
    const store = (letters: readonly DeadLetter[]): void => {
      deadLetter(letters)
      stored += letters.length
    }
    const acknowledgement = new ReplayAcknowledgement(batch.acknowledgement, store)
    const outcome = await this.#sender.send({ ...batch, acknowledgement }, this.#abort.signal)
    if (outcome.kind !== 'delivered' && outcome.kind !== 'abandoned') return
    const rejected = outcome.rejected?.length ?? 0
    this.accepted += outcome.accepted ?? 0
    this.rejected += rejected
    if (onOutcome === undefined) this.unstored += rejected - stored
    else onOutcome(rejected > stored)
  }

  #stopIfIdle(): void {
    if (this.#attempts === 0) this.stop()
  }

  #createCountingSender(inner: Sender): Sender {
    return {
      send: async (batch, signal): Promise<Outcome> => {
        this.#attempts += 1
        try {
          return await inner.send(batch, signal)
        } finally {
          this.#attempts -= 1
          if (this.#isHopeless) this.#stopIfIdle()
        }
      },
    }
  }
}

/** Stores dead letters in the file of the job's destination. */
class ReplayAcknowledgement implements BatchAcknowledgement {
  readonly #inner: BatchAcknowledgement | undefined
  readonly storeDeadLetters: (letters: readonly DeadLetter[]) => void

  constructor(inner: BatchAcknowledgement | undefined, storeDeadLetters: (letters: readonly DeadLetter[]) => void) {
    this.#inner = inner
    this.storeDeadLetters = storeDeadLetters
  }

  createPart(positions: readonly number[]): BatchAcknowledgement {
    return new ReplayAcknowledgement(this.#inner?.createPart(positions), this.storeDeadLetters)
  }

  acknowledge(positions?: readonly number[]): void {
    this.#inner?.acknowledge(positions)
  }
}
