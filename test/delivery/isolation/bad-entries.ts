/** Poison isolation with retries and a service that rejects entries by their content, on a fake clock. */
import { setMaxListeners } from 'node:events'
import { CircuitBreaker } from '../../../src/delivery/retry/circuit-breaker.js'
import type { CircuitBreakerOptions } from '../../../src/delivery/retry/circuit-breaker.js'
import { createIsolationSender } from '../../../src/delivery/isolation/isolation-sender.js'
import { createRetrySender } from '../../../src/delivery/retry/retry-sender.js'
import { createBatchBody, parseBatchEntries } from '../../../src/batch/sub-batch.js'
import type { Batch, BatchAcknowledgement, DeadLetter } from '../../../src/batch/batch.js'
import type { Retryable, Outcome, Refused } from '../../../src/batch/outcome.js'
import { FakeClock } from '../../fake-clock.js'

export type Entry = { readonly message: string; readonly [key: string]: unknown }

export interface Request {
  readonly batch: Batch
  readonly entries: readonly string[]
  readonly at: number
}

export const nameless = (status = 400): Refused => ({
  kind: 'refused',
  status,
  reason: `status ${status}: bad request`,
  rejected: [],
})

export function batchWith(batchId: string, entries: readonly Entry[]): Batch {
  return {
    batchId,
    count: entries.length,
    highestSeverity: 1,
    body: createBatchBody(
      batchId,
      entries.map((entry) => JSON.stringify(entry)),
    ),
  }
}

/** Entries `a0`, `a1`, …; those at `bad` contain the word poison. */
export function batchFrom(batchId: string, count: number, bad: readonly number[] = []): Batch {
  return batchWith(
    batchId,
    Array.from({ length: count }, (_, index) => ({
      message: `${bad.includes(index) ? 'poison ' : ''}${batchId} ${index}`,
    })),
  )
}

export const isBadEntry = (entry: string): boolean => entry.includes('poison')

/** Rejects requests with a bad entry completely, without naming it. */
export function judging(entries: readonly string[]): Outcome {
  return entries.some(isBadEntry) ? nameless() : { kind: 'delivered', accepted: entries.length, rejected: [] }
}

/** Records settled entries, and checks that no entry is settled twice or is in two sub-batches at once. */
export class Ledger {
  readonly settled: string[] = []
  readonly parts: string[][] = []

  createAcknowledgement(entries: readonly string[]): BatchAcknowledgement {
    return {
      createPart: (positions) => {
        const part = positions.map((at) => entries[at] as string)
        this.parts.push(part)
        return this.createAcknowledgement(part)
      },
      acknowledge: (positions) =>
        void this.settled.push(...(positions ?? entries.map((_, at) => at)).map((at) => entries[at] as string)),
    }
  }
}

export interface IsolationSetupOptions extends Partial<CircuitBreakerOptions> {
  readonly latencyMs?: number
}

export function setUpIsolation(
  service: (entries: readonly string[], request: Request) => Outcome = judging,
  { latencyMs = 25, maxConcurrency = 8, ...gateOptions }: IsolationSetupOptions = {},
) {
  const clock = new FakeClock()
  const failures: Parameters<NonNullable<CircuitBreakerOptions['onFailure']>>[] = []
  const recoveries: number[] = []
  const breaker = new CircuitBreaker({
    clock,
    maxConcurrency,
    initialConcurrency: maxConcurrency,
    retry: { minMs: 250, maxMs: 30_000 },
    onFailure: (...failure) => void failures.push(failure),
    onRecovery: (age) => void recoveries.push(age),
    ...gateOptions,
  })
  const requests: Request[] = []
  const accepted: string[] = []
  const letters: DeadLetter[] = []
  const ledger = new Ledger()
  /** The events, in order. */
  const events: string[] = []
  let inFlight = 0
  const innermost = {
    send: async (batch: Batch): Promise<Outcome> => {
      const request = { batch, entries: parseBatchEntries(batch.body), at: clock.now() }
      requests.push(request)
      inFlight += 1
      // The service decides when the request arrives; the reply takes the remaining time.
      const outcome = service(request.entries, request)
      if (outcome.kind === 'delivered') {
        const named = new Set(outcome.rejected.map(({ index }) => index))
        accepted.push(...request.entries.filter((_, at) => !named.has(at)))
      }
      await new Promise<void>((resolve) => void clock.timer(latencyMs, resolve))
      inFlight -= 1
      return outcome
    },
  }
  const sender = createIsolationSender({
    inner: createRetrySender(innermost, breaker),
    breaker,
    random: () => 0,
    deadLetter: (those) => {
      letters.push(...those)
      events.push(...those.map(({ entry }) => `letter ${entry}`))
    },
  })
  const abort = new AbortController()
  setMaxListeners(0, abort.signal)
  const outcomes = new Map<string, Outcome>()
  const send = (...batches: Batch[]): void => {
    for (const batch of batches) {
      const acknowledgement = ledger.createAcknowledgement(parseBatchEntries(batch.body))
      void sender
        .send({ ...batch, acknowledgement }, abort.signal)
        .then((outcome) => outcomes.set(batch.batchId, outcome))
    }
  }
  return {
    clock,
    breaker,
    sender,
    send,
    requests,
    accepted,
    letters,
    ledger,
    events,
    outcomes,
    abort,
    failures,
    recoveries,
    inFlight: () => inFlight,
  }
}

export const busy = (seconds?: number): Retryable => ({
  kind: 'retryable',
  status: 503,
  reason: '503 down',
  ...(seconds !== undefined && { retryAfterMs: seconds * 1000 }),
})

export const messages = (entries: readonly string[]): string[] =>
  entries.map((entry) => (JSON.parse(entry) as Entry).message)
