/** Writes a line for each attempt, its reply, and each decision about retry, circuit, concurrency and isolation. */
import type { Batch } from '../batch/batch.js'
import type { Outcome } from '../batch/outcome.js'
import type { Sender } from '../batch/sender.js'
import type { DebugLog } from '../diagnostics/debug-log.js'
import { systemClock } from '../shared/clock.js'
import type { CircuitBreaker } from './retry/circuit-breaker.js'

/** What `Retryable.sendAs` says, in a line. */
const SEND_AS = { same: '', parts: ' in parts', separate: ' separately' } as const

interface DebugSenders {
  /** Wraps the sender of single attempts. */
  readonly attempts: (inner: Sender) => Sender
  /** Wraps the sender of batches and their parts. */
  readonly batches: (inner: Sender) => Sender
}

/** Attempts of a batch so far, and the time at which the latest ended. */
interface Attempts {
  count: number
  endedAt: number
}

export function createDebugSenders(log: DebugLog, breaker: CircuitBreaker): DebugSenders {
  const { now } = systemClock
  const { failures } = breaker
  const tried = new WeakMap<Batch, Attempts>()
  let concurrency = breaker.concurrency
  failures.subscribe({
    onFailure: (failure, ageMs, waitMs) =>
      log(`circuit open: ${describe(failure)}, failing for ${ms(ageMs)}, next attempt in ${ms(waitMs)}`),
    onRecovery: (ageMs) => log(`circuit closed after ${ms(ageMs)}`),
    onRetryAfter: (delayMs) => log(`wait ${ms(delayMs)}: Retry-After of the service`),
  })

  /** @returns how the batch is named in later lines of this attempt */
  function begin(batch: Batch): string {
    const attempts = tried.get(batch) ?? { count: 0, endedAt: 0 }
    tried.set(batch, attempts)
    attempts.count += 1
    const name = `batch ${batch.batchId}, attempt ${attempts.count}`
    if (concurrency !== (concurrency = breaker.concurrency)) log(`concurrency ${concurrency}`)
    const isProbe = failures.lastFailure !== undefined
    if (attempts.count > 1 || isProbe)
      log(
        `${name}: sent${attempts.count > 1 ? ` after ${ms(now() - attempts.endedAt)}` : ''}${isProbe ? ', probe of the half-open circuit' : ''}`,
      )
    return name
  }

  return {
    attempts: (inner) => ({
      async send(batch, signal) {
        const name = begin(batch)
        const startedAt = now()
        const outcome = await inner.send(batch, signal)
        const endedAt = now()
        log(`${name}: ${describe(outcome)}, took ${ms(endedAt - startedAt)}`)
        const attempts = tried.get(batch)
        if (attempts !== undefined) attempts.endedAt = endedAt
        return outcome
      },
    }),
    batches: (inner) => ({
      async send(batch, signal) {
        const { batchId, origin, count } = batch
        if (origin !== undefined) log(`batch ${batchId}: part of ${origin.batchId}, ${describeSize(batch)}`)
        const outcome = await inner.send(batch, signal)
        if (outcome.kind === 'refused')
          log(
            `batch ${batchId}: the service named ${outcome.rejected.length} of ${count} entries; ${count > 1 ? 'searching for the rejected ones' : 'sending the entry again to confirm'}`,
          )
        if (outcome.kind === 'retryable')
          log(`batch ${batchId}: failed while others may succeed, sent again${SEND_AS[outcome.sendAs ?? 'same']}`)
        return outcome
      },
    }),
  }
}

/** Entries and bytes of a batch, and where it is stored. */
export function describeSize({ count, body, place, acknowledgement }: Batch): string {
  const bytes = body.length === 0 ? 'body on disk only' : `${body.length} bytes`
  return `${count} ${count === 1 ? 'entry' : 'entries'}, ${bytes}, ${(place ?? acknowledgement) ? 'on disk' : 'in memory'}`
}

/** Without the text of a reply, which may quote an entry. */
function describe(outcome: Outcome): string {
  const status = 'status' in outcome && outcome.status !== undefined ? `status ${outcome.status}, ` : ''
  if (outcome.kind === 'delivered') return `${status}accepted ${outcome.accepted}, rejected ${outcome.rejected.length}`
  return status === '' && 'reason' in outcome ? `${outcome.kind}, ${outcome.reason}` : `${status}${outcome.kind}`
}

function ms(duration: number): string {
  return `${Math.round(duration)} ms`
}
