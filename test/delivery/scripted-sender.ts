/** Shared by the delivery tests: a sender with scripted outcomes, and a recording reporter. */
import { Account } from '../../src/diagnostics/account.js'
import type { DropReason } from '../../src/diagnostics/account.js'
import { Delivery } from '../../src/delivery/delivery.js'
import { createIsolationSender } from '../../src/delivery/isolation/isolation-sender.js'
import { CircuitBreaker } from '../../src/delivery/retry/circuit-breaker.js'
import type { CircuitBreakerOptions } from '../../src/delivery/retry/circuit-breaker.js'
import { createRetrySender } from '../../src/delivery/retry/retry-sender.js'
import type { Batch } from '../../src/batch/batch.js'
import type { Outcome } from '../../src/batch/outcome.js'
import type { Sender } from '../../src/batch/sender.js'
import { FakeClock } from '../fake-clock.js'

export const OK: Outcome = { kind: 'delivered', accepted: 1, rejected: [] }
export const DOWN: Outcome = { kind: 'retryable', status: 503, reason: '503 down' }
export const UNAUTHORIZED: Outcome = { kind: 'endpoint-rejected', status: 401, reason: '401 invalid key' }

export function busyFor(seconds: number): Outcome {
  return { kind: 'retryable', status: 503, reason: '503 busy', retryAfterMs: seconds * 1000 }
}

/** A batch takes 2,000 bytes: this body plus its overhead. */
export const BODY_BYTES = 976

export function batchOf(batchId: string, count = 1, bytes = BODY_BYTES): Batch {
  return { batchId, count, highestSeverity: 1, body: new Uint8Array(bytes) }
}

export interface Attempt {
  readonly batchId: string
  readonly at: number
  readonly signal: AbortSignal
  /** Ends the attempt if the script left it open. */
  readonly end: (outcome: Outcome) => void
}

/** Asks `script` for each attempt's outcome. If the script returns none, the test ends the attempt. */
export class ScriptedSender implements Sender {
  readonly attempts: Attempt[] = []
  inFlight = 0
  maxInFlight = 0
  readonly #clock: FakeClock
  readonly #script: (batch: Batch, attempt: number) => Outcome | undefined
  readonly #latencyMs: number

  constructor(clock: FakeClock, script: (batch: Batch, attempt: number) => Outcome | undefined, latencyMs = 0) {
    this.#clock = clock
    this.#script = script
    this.#latencyMs = latencyMs
  }

  send(batch: Batch, signal: AbortSignal): Promise<Outcome> {
    this.inFlight += 1
    this.maxInFlight = Math.max(this.maxInFlight, this.inFlight)
    return new Promise((resolve) => {
      const end = (outcome: Outcome) => {
        this.inFlight -= 1
        const whole = outcome.kind === 'delivered' && outcome.rejected.length === 0
        resolve(whole ? { ...outcome, accepted: batch.count } : outcome)
      }
      const attempt = this.attempts.push({ batchId: batch.batchId, at: this.#clock.now(), signal, end })
      const outcome = this.#script(batch, attempt)
      if (outcome === undefined) return
      if (this.#latencyMs === 0) end(outcome)
      else this.#clock.timer(this.#latencyMs, () => end(outcome))
    })
  }
}

export class RecordingReport {
  readonly deliveredIds: string[] = []
  readonly rejections: { count: number; reason: string }[] = []
  readonly drops: { count: number; reason: DropReason; detail: string }[] = []
  readonly problems: { code: string; message: string; status: number | undefined }[] = []
  readonly notes: string[] = []

  delivered(_count: number, batchId: string): void {
    this.deliveredIds.push(batchId)
  }

  rejected(count: number, _errors: unknown, reason: string): void {
    this.rejections.push({ count, reason })
  }

  dropped(count: number, reason: DropReason, detail: string): void {
    this.drops.push({ count, reason, detail })
  }

  problem(code: string, message: string, status?: number): void {
    this.problems.push({ code, message, status })
  }

  note(_kind: string, message: string): void {
    this.notes.push(message)
  }

  discard(): boolean {
    return false
  }
}

export interface SetupOptions extends Partial<CircuitBreakerOptions> {
  readonly maxBufferBytes?: number
  readonly latencyMs?: number
  /** Whether refused batches are isolated, as in the pipeline. Default false. */
  readonly isIsolating?: boolean
}

/** Delivery, retries and a scripted sender, connected as in the pipeline. The service has already answered once. */
export function setup(
  script: (batch: Batch, attempt: number) => Outcome | undefined,
  {
    maxBufferBytes = 1_000_000,
    latencyMs = 0,
    maxConcurrency = 8,
    isIsolating = false,
    ...gateOptions
  }: SetupOptions = {},
) {
  const clock = new FakeClock()
  const sender = new ScriptedSender(clock, script, latencyMs)
  const breaker = new CircuitBreaker({
    clock,
    maxConcurrency,
    initialConcurrency: maxConcurrency,
    retry: { minMs: 250, maxMs: 30_000 },
    ...gateOptions,
  })
  const account = new Account()
  const report = new RecordingReport()
  const retrying = createRetrySender(sender, breaker)
  const delivery = new Delivery({
    sender: isIsolating ? createIsolationSender({ inner: retrying, breaker }) : retrying,
    breaker,
    clock,
    maxBufferBytes,
    requestTimeoutMs: 10_000,
    account,
    report,
  })
  account.addStage(() => delivery.pendingEntries)
  const enqueue = (...batches: Batch[]) => {
    for (const batch of batches) {
      account.received += batch.count
      delivery.enqueue(batch)
    }
  }
  return { clock, sender, breaker, account, report, delivery, enqueue }
}

export function many(count: number, entries = 1, bytes = BODY_BYTES): Batch[] {
  return Array.from({ length: count }, (_, index) => batchOf(`b${index}`, entries, bytes))
}

/** Whether a promise is settled. */
export function watch(promise: Promise<unknown>): { done: boolean } {
  const state = { done: false }
  void promise.then(() => {
    state.done = true
  })
  return state
}
