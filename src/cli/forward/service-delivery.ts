/** Delivers batches of one kind to the service, with the transport's own senders. */
import type { Batch, DeadLetter, Outcome, Sender } from '../../batch/sender.js'
import type { EndpointTarget } from '../../delivery/destination.js'
import { createGzipSender } from '../../delivery/gzip-sender.js'
import { createIsolationSender } from '../../delivery/isolation/isolation-sender.js'
import { CircuitBreaker } from '../../delivery/retry/circuit-breaker.js'
import { createFailureReporter } from '../../delivery/retry/failure-reporter.js'
import { createRetrySender } from '../../delivery/retry/retry-sender.js'
import { FAILURES_ON_DISK } from '../../delivery/shutdown-policy.js'
import type { EndpointReporter } from '../../diagnostics/reporter.js'
import type { BatchKind } from '../../nats/message.js'
import type { Settings } from '../../options/settings.js'
import type { Clock } from '../../shared/clock.js'
import { Signal } from '../../shared/signal.js'

export interface ServiceDeliveryOptions {
  readonly kind: BatchKind
  readonly settings: Settings
  readonly target: EndpointTarget
  readonly clock: Clock
  readonly report: EndpointReporter
  /** Removes secrets. */
  readonly mask: (text: string) => string
  /** Called after each attempt. */
  readonly onAttempt: (outcome: Outcome) => void
}

export interface DeliveryResult {
  readonly outcome: Outcome
  /** Entries that the service rejected. */
  readonly deadLetters: readonly DeadLetter[]
}

interface Running {
  readonly deadLetters: DeadLetter[]
  readonly maySend: () => boolean
  readonly abort: AbortController
  /** The service refused it without naming all bad entries. They are being searched, or the batch waits until another one is accepted. */
  isIsolated: boolean
  /** It is being sent or waits for the circuit breaker. */
  isSending: boolean
  isInFlight: boolean
}

export class ServiceDelivery {
  readonly breaker: CircuitBreaker
  /** The service sent a Retry-After. */
  readonly retryAfter = new Signal<[delayMs: number]>()
  readonly #options: ServiceDeliveryOptions
  readonly #sender: Sender
  readonly #endReports: () => void
  /** Batches in progress by id. */
  readonly #running = new Map<string, Running>()
  #isAborted = false

  constructor(options: ServiceDeliveryOptions) {
    this.#options = options
    const { kind, settings, target, clock, report } = options
    const failures = createFailureReporter(report, clock, { meanwhile: 'batches stay in the queue' })
    const breaker = new CircuitBreaker({
      ...settings,
      clock,
      onFailure: failures.onFailure,
      onRecovery: () => failures.onRecovery(),
      onRetryAfter: (delayMs) => this.retryAfter.emit(delayMs),
    })
    const { sender, encode = (inner) => inner } = target
    const retrying = createRetrySender(this.#createCountingSender(sender), breaker)
    const compressing = settings.compression === 'gzip' ? createGzipSender(retrying) : retrying
    this.#sender = createIsolationSender({
      inner: this.#createObservedSender(encode(compressing)),
      breaker,
      isShortenable: kind === 'logs',
      deadLetter: (letters) => this.#collect(letters),
    })
    this.breaker = breaker
    this.#endReports = failures.end
  }

  /**
   * Must not be called concurrently for the same batch id. Never rejects.
   * @param maySend called before each attempt; false abandons the batch
   */
  async deliver(batch: Batch, maySend: () => boolean): Promise<DeliveryResult> {
    const deadLetters: DeadLetter[] = []
    const abort = new AbortController()
    if (this.#isAborted) abort.abort()
    this.#running.set(batch.batchId, {
      deadLetters,
      maySend,
      abort,
      isIsolated: false,
      isSending: false,
      isInFlight: false,
    })
    const outcome = await this.#sender.send(batch, abort.signal)
    this.#running.delete(batch.batchId)
    return { outcome, deadLetters }
  }

  /** Number of batches in progress that the service refused. They may wait until it accepts another batch. */
  get isolated(): number {
    return [...this.#running.values()].filter(({ isIsolated }) => isIsolated).length
  }

  /**
   * Call periodically while isolated batches use all the room. Abandons the older half of them if all wait until another batch is accepted.
   */
  giveWay(): void {
    const isolated = [...this.#running.values()].filter(({ isIsolated, abort }) => isIsolated && !abort.signal.aborted)
    const sending = isolated.find(({ isSending }) => isSending)
    // A batch being sent can finish without other batches, except if the service seems to reject everything: then it waits for a probe.
    if (sending !== undefined && (sending.isInFlight || !this.breaker.failures.isRejectingAll)) return
    sending?.abort.abort()
    for (const { abort } of isolated.slice(0, Math.ceil(isolated.length / 2))) abort.abort()
  }

  /** Batches in flight may finish until `deadlineAt`. Batches that could only be sent later are abandoned. */
  startShutdown(deadlineAt: number): void {
    this.breaker.startShutdown(deadlineAt, FAILURES_ON_DISK)
    this.#endReports()
  }

  abort(): void {
    this.#isAborted = true
    for (const { abort } of this.#running.values()) abort.abort()
    // Cancels the breaker's timer, which would keep the process alive.
    this.breaker.retryNow()
  }

  #collect(letters: readonly DeadLetter[]): void {
    const collected = this.#running.get(letters[0]?.batchId ?? '')?.deadLetters
    if (collected === undefined)
      throw new Error('rejected entries of an unknown batch: this is a bug, please report it')
    const { mask } = this.#options
    // The service's texts may quote the key. The entry is left unchanged.
    for (const letter of letters)
      collected.push({ ...letter, code: mask(letter.code), field: mask(letter.field), reason: mask(letter.reason) })
  }

  #createCountingSender(inner: Sender): Sender {
    return {
      send: async (batch, signal): Promise<Outcome> => {
        const running = this.#find(batch)
        if (running?.maySend() === false)
          return { kind: 'abandoned', reason: 'JetStream may have delivered it to another forwarder' }
        if (running !== undefined) running.isInFlight = true
        const outcome = await inner.send(batch, signal)
        if (running !== undefined) running.isInFlight = false
        this.#options.onAttempt(outcome)
        return outcome
      },
    }
  }

  #createObservedSender(inner: Sender): Sender {
    return {
      send: async (batch, signal): Promise<Outcome> => {
        const running = this.#find(batch)
        if (running !== undefined) running.isSending = true
        const outcome = await inner.send(batch, signal)
        if (running !== undefined) {
          running.isSending = false
          running.isIsolated ||= outcome.kind === 'refused'
        }
        return outcome
      },
    }
  }

  #find(batch: Batch): Running | undefined {
    return this.#running.get((batch.origin ?? batch).batchId)
  }
}
