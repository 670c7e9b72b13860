/** Delivers batches of one kind to the service, with the transport's own senders. */
import type { Batch, BatchAcknowledgement, DeadLetter } from '../../batch/batch.js'
import type { Outcome } from '../../batch/outcome.js'
import type { Sender } from '../../batch/sender.js'
import type { EndpointTarget } from '../../delivery/destination.js'
import { CircuitBreaker } from '../../delivery/retry/circuit-breaker.js'
import { createFailureReporter } from '../../delivery/retry/failure-reporter.js'
import { createSenderChain } from '../../delivery/sender-chain.js'
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

/** The acknowledgement of a batch in progress and of all its parts. Its letters are stored when the batch is done. */
class RunningBatch implements BatchAcknowledgement {
  readonly deadLetters: DeadLetter[] = []
  readonly abort = new AbortController()
  readonly maySend: () => boolean
  /** The service refused it without naming all bad entries. They are being searched, or the batch waits until another one is accepted. */
  isIsolated = false
  /** It is being sent or waits for the circuit breaker. */
  isSending = false
  isInFlight = false

  constructor(maySend: () => boolean) {
    this.maySend = maySend
  }

  createPart(): this {
    return this
  }

  storeDeadLetters(letters: readonly DeadLetter[]): void {
    this.deadLetters.push(...letters)
  }

  /** The message is acknowledged when the whole batch is done. */
  acknowledge(): void {}
}

export class ServiceDelivery {
  readonly breaker: CircuitBreaker
  /** The service sent a Retry-After. */
  readonly retryAfter = new Signal<[delayMs: number]>()
  readonly #options: ServiceDeliveryOptions
  readonly #sender: Sender
  readonly #endReports: () => void
  readonly #running = new Set<RunningBatch>()
  /** Ids of batches and parts that were refused since the service last accepted entries or named bad ones. */
  readonly #refused = new Set<string>()
  #isAborted = false

  constructor(options: ServiceDeliveryOptions) {
    this.#options = options
    const { kind, settings, target, clock, report, mask } = options
    const failures = createFailureReporter(report, clock, { url: settings.url, meanwhile: 'batches stay in the queue' })
    const breaker = new CircuitBreaker({
      ...settings,
      clock,
      onFailure: failures.onFailure,
      onRecovery: () => failures.onRecovery(),
      onRetryAfter: (delayMs) => this.retryAfter.emit(delayMs),
    })
    this.#sender = createSenderChain({
      settings,
      target,
      breaker,
      mask,
      isShortenable: kind === 'logs',
      observeAttempts: (inner) => this.#createCountingSender(inner),
      observeBatches: createObservedSender,
    })
    this.breaker = breaker
    this.#endReports = failures.end
  }

  /**
   * Must not be called concurrently for the same batch id. Never rejects.
   * @param maySend called before each attempt; false abandons the batch
   */
  async deliver(batch: Batch, maySend: () => boolean): Promise<DeliveryResult> {
    const running = new RunningBatch(maySend)
    if (this.#isAborted) running.abort.abort()
    this.#running.add(running)
    const outcome = await this.#sender.send({ ...batch, acknowledgement: running }, running.abort.signal)
    this.#running.delete(running)
    return { outcome, deadLetters: running.deadLetters }
  }

  /** Whether the service was called. */
  get isUsed(): boolean {
    return this.breaker.failures.attempts.ended > 0
  }

  /** Whether the service refuses everything. A single refused payload is no evidence of that. */
  get isRefused(): boolean {
    return this.breaker.failures.rejections.mayRejectAll && this.#refused.size > 1
  }

  /** Number of batches in progress that the service refused. They may wait until it accepts another batch. */
  get isolated(): number {
    return [...this.#running].filter(({ isIsolated }) => isIsolated).length
  }

  /**
   * Call periodically while isolated batches use all the room. Abandons the older half of them if all wait until another batch is accepted.
   */
  giveWay(): void {
    const isolated = [...this.#running].filter(({ isIsolated, abort }) => isIsolated && !abort.signal.aborted)
    const sending = isolated.find(({ isSending }) => isSending)
    // A batch being sent can finish without other batches, except if the service seems to reject everything: then it waits for a probe.
    if (sending !== undefined && (sending.isInFlight || !this.breaker.failures.rejections.mayRejectAll)) return
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
    for (const { abort } of this.#running) abort.abort()
    // Cancels the breaker's timer, which would keep the process alive.
    this.breaker.retryNow()
  }

  #createCountingSender(inner: Sender): Sender {
    return {
      send: async (batch, signal): Promise<Outcome> => {
        const running = toRunning(batch)
        if (!running.maySend())
          return { kind: 'abandoned', reason: 'JetStream may have delivered it to another forwarder' }
        running.isInFlight = true
        const outcome = await inner.send(batch, signal)
        running.isInFlight = false
        const isHandled = outcome.kind === 'delivered' || (outcome.kind === 'refused' && outcome.rejected.length > 0)
        if (isHandled) this.#refused.clear()
        else if (outcome.kind === 'refused' || outcome.kind === 'endpoint-rejected') this.#refused.add(batch.batchId)
        this.#options.onAttempt(outcome)
        return outcome
      },
    }
  }
}

function createObservedSender(inner: Sender): Sender {
  return {
    async send(batch, signal): Promise<Outcome> {
      const running = toRunning(batch)
      running.isSending = true
      const outcome = await inner.send(batch, signal)
      running.isSending = false
      running.isIsolated ||= outcome.kind === 'refused'
      return outcome
    },
  }
}

/** `deliver` adds it to the batch, and each part has it. */
function toRunning({ acknowledgement }: Batch): RunningBatch {
  return acknowledgement as RunningBatch
}
