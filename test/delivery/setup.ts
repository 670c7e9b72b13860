/** Delivery on a fake clock: a scheduler, a scripted service, and records of what happened. */
import { Account } from '../../src/diagnostics/account.js'
import type { DropReason } from '../../src/diagnostics/account.js'
import type { Batch, BatchAcknowledgement, DeadLetter } from '../../src/batch/batch.js'
import type { Outcome, Refused } from '../../src/batch/outcome.js'
import { createBatchBody, parseBatchEntries } from '../../src/batch/sub-batch.js'
import type { DeliveryEvent } from '../../src/delivery/delivery-event.js'
import { Scheduler } from '../../src/delivery/scheduler.js'
import type { SchedulerOptions } from '../../src/delivery/scheduler.js'
import { Settlement } from '../../src/delivery/settlement.js'
import { systemClock } from '../../src/shared/clock.js'
import { KeyPause } from '../../src/shared/key-pause.js'
import { Signal } from '../../src/shared/signal.js'
import { FakeClock } from '../fake-clock.js'

export const OK: Outcome = { kind: 'delivered', accepted: 1, rejected: [] }
export const DOWN: Outcome = { kind: 'retryable', status: 503, reason: '503 down', mayConcernContent: true }
export const NO_DESCRIPTOR: Outcome = { kind: 'retryable', reason: 'EMFILE', processFailure: 'descriptors' }
export const UNAUTHORIZED: Outcome = { kind: 'endpoint-rejected', status: 401, reason: '401 invalid key' }
export const RESET: Outcome = { kind: 'retryable', reason: 'socket hang up', mayConcernContent: true }
/** The service stored the batch, but the gateway did not wait for its reply. */
export const LATE_REPLY: Outcome = { kind: 'retryable', status: 504, reason: 'status 504', mayBeStored: true }

export function busyFor(seconds: number): Outcome {
  return { kind: 'retryable', status: 503, reason: '503 busy', retryAfterMs: seconds * 1_000, mayConcernContent: true }
}

export const nameless = (status = 400): Refused => ({
  kind: 'refused',
  status,
  reason: `status ${status}: bad request`,
  rejected: [],
})

/** A reply that names no entry: 400, 413 and 422 concern the content, the others perhaps the key or the URL. */
export function refused(status: number): Outcome {
  if (status === 400 || status === 413) return nameless(status)
  return { kind: 'endpoint-rejected', status, reason: `status ${status}` }
}

/** The same sequence in every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A batch takes 2,000 bytes: this body plus its overhead. */
export const BODY_BYTES = 976

export function batchOf(batchId: string, count = 1, bytes = BODY_BYTES): Batch {
  return { batchId, count, highestSeverity: 1, body: new Uint8Array(bytes) }
}

export function many(count: number, entries = 1, bytes = BODY_BYTES): Batch[] {
  return Array.from({ length: count }, (_, index) => batchOf(`b${index}`, entries, bytes))
}

export function batchWith(batchId: string, messages: readonly string[]): Batch {
  const body = createBatchBody(
    batchId,
    messages.map((message) => JSON.stringify({ message })),
  )
  return { batchId, count: messages.length, highestSeverity: 1, body }
}

/** Entries `ID 0`, `ID 1`, …; those at `bad` contain the word poison. */
export function batchFrom(batchId: string, count: number, bad: readonly number[] = []): Batch {
  return batchWith(
    batchId,
    Array.from({ length: count }, (_, index) => `${bad.includes(index) ? 'poison ' : ''}${batchId} ${index}`),
  )
}

export const isBadEntry = (entry: string): boolean => entry.includes('poison')

export class RecordingReport {
  readonly deliveredIds: string[] = []
  readonly rejections: { count: number; reason: string; indexes: number[] }[] = []
  readonly drops: { count: number; reason: DropReason; detail: string }[] = []
  readonly problems: { code: string; message: string; status: number | undefined }[] = []
  readonly notes: string[] = []

  delivered(_count: number, batchId: string): void {
    this.deliveredIds.push(batchId)
  }

  rejected(count: number, errors: readonly { index: number }[], reason: string): void {
    this.rejections.push({ count, reason, indexes: errors.map(({ index }) => index) })
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

export interface Request {
  readonly batch: Batch
  readonly batchId: string
  /** As JSON. */
  readonly entries: readonly string[]
  /** Number, from 1. */
  readonly number: number
  readonly at: number
  readonly inFlight: number
  readonly signal: AbortSignal
  /** Ends the request if the service left it open. */
  readonly end: (outcome: Outcome) => void
}

/** @returns the outcome; undefined leaves the request open. `OK` accepts all entries */
export type Service = (request: Request) => Outcome | undefined

export interface SetupOptions extends Partial<SchedulerOptions> {
  /** Milliseconds until the reply. Default 25. */
  readonly latencyMs?: number | ((request: Request) => number)
  readonly clock?: FakeClock
  /** Whether entries are acknowledged by a record that finds entries that are settled twice. */
  readonly isTracked?: boolean
  readonly deadLetter?: (letters: readonly DeadLetter[]) => void
  readonly mask?: (text: string) => string
}

export function setup(service: Service, options: SetupOptions = {}) {
  const { latencyMs = 25, clock = new FakeClock(), deadLetter, mask, ...given } = options
  const requests: Request[] = []
  /** Accepted entries, in order. */
  const stored: string[] = []
  const letters: DeadLetter[] = []
  /** Entries that were settled. */
  const settled: string[] = []
  const events: DeliveryEvent[] = []
  const account = new Account()
  const report = new RecordingReport()
  const counts = { inFlight: 0, maxInFlight: 0 }
  const sender = {
    send: (batch: Batch, signal: AbortSignal): Promise<Outcome> =>
      new Promise((resolve) => {
        counts.inFlight += 1
        counts.maxInFlight = Math.max(counts.maxInFlight, counts.inFlight)
        const end = (outcome: Outcome): void => {
          counts.inFlight -= 1
          const isWhole = outcome.kind === 'delivered' && outcome.rejected.length === 0 && outcome.accepted === 1
          resolve(isWhole ? { ...outcome, accepted: batch.count } : outcome)
        }
        const entries = parseBatchEntries(batch.body)
        const { inFlight } = counts
        const { batchId } = batch
        const request = { batch, batchId, entries, number: requests.length + 1, at: clock.now(), inFlight, signal, end }
        requests.push(request)
        // The service decides when the request arrives; the reply takes the remaining time.
        const outcome = service(request)
        if (outcome === undefined) return
        if (outcome.kind === 'delivered') {
          const named = new Set(outcome.rejected.map(({ index }) => index))
          stored.push(...entries.filter((_, at) => !named.has(at)))
        }
        const ms = typeof latencyMs === 'number' ? latencyMs : latencyMs(request)
        if (ms === 0) end(outcome)
        else clock.timer(ms, () => end(outcome))
      }),
  }
  const signal = new Signal<[DeliveryEvent]>()
  signal.on((event) => events.push(event))
  const settlement = new Settlement({
    account,
    report,
    events: signal,
    mask,
    deadLetter: (those) => {
      deadLetter?.(those)
      letters.push(...those)
    },
  })
  const scheduler = new Scheduler({
    sender,
    settlement,
    pause: new KeyPause(clock, given.random),
    clock,
    retry: { maxMs: 30_000 },
    maxConcurrency: 8,
    maxBufferBytes: 8 << 20,
    requestTimeoutMs: 10_000,
    events: signal,
    ...given,
  })
  account.addStage(() => scheduler.pendingEntries)
  const track = (entries: readonly string[]): BatchAcknowledgement => ({
    createPart: (positions) => track(positions.map((at) => entries[at] as string)),
    acknowledge: (positions) =>
      void settled.push(...(positions ?? entries.map((_, at) => at)).map((at) => entries[at] as string)),
  })
  const enqueue = (...batches: Batch[]): void => {
    for (const batch of batches) {
      account.received += batch.count
      const acknowledgement = options.isTracked === true ? track(parseBatchEntries(batch.body)) : undefined
      scheduler.enqueue({ ...batch, ...(acknowledgement && { acknowledgement }) })
    }
  }
  const failed = (): Extract<DeliveryEvent, { kind: 'failed' }>[] => events.filter((event) => event.kind === 'failed')
  const goodLetters = (): string[] => letters.map(({ entry }) => entry).filter((entry) => !isBadEntry(entry))
  return {
    clock,
    scheduler,
    enqueue,
    requests,
    stored,
    letters,
    goodLetters,
    settled,
    events,
    failed,
    account,
    report,
    counts,
  }
}

export type Setup = ReturnType<typeof setup>

/** A service that refuses requests with a bad entry completely, without naming it. */
export const refusingBad =
  (outcome: Outcome): Service =>
  ({ entries }) =>
    entries.some(isBadEntry) ? outcome : OK

/** Whether a promise is settled. */
export function watch(promise: Promise<unknown>): { done: boolean } {
  const state = { done: false }
  void promise.then(() => (state.done = true))
  return state
}

/** Delivery by a sender that makes real requests. */
export function setupReal(sender: SchedulerOptions['sender'], given: Partial<SchedulerOptions> = {}) {
  const letters: DeadLetter[] = []
  const account = new Account()
  const report = new RecordingReport()
  const events = new Signal<[DeliveryEvent]>()
  const settlement = new Settlement({ account, report, events, deadLetter: (those) => void letters.push(...those) })
  const clock = given.clock ?? systemClock
  const scheduler = new Scheduler({
    sender,
    settlement,
    pause: new KeyPause(clock),
    clock,
    retry: { maxMs: 5 },
    maxConcurrency: 4,
    maxBufferBytes: 8 << 20,
    requestTimeoutMs: 10_000,
    events,
    ...given,
  })
  return { scheduler, letters, account, report, events }
}
