/** Retries until the outcome is final. The circuit breaker, shared by all batches, decides when. */
import type { Abandoned, Sender } from '../../batch/sender.js'
import type { CircuitBreaker } from './circuit-breaker.js'

/** A batch that fails so often while others are accepted is halved, since one entry may be the cause. */
const FAILURES_BEFORE_HALVING = 5

/**
 * Returns `retryable` only for a batch that fails itself while others are accepted, and that can be halved. No limit of attempts.
 * `signal` and the deadline of the breaker end it as `abandoned`.
 */
export function createRetrySender(inner: Sender, breaker: CircuitBreaker): Sender {
  return {
    async send(batch, signal) {
      const turn = breaker.createRetryState(batch)
      let reason = breaker.failures.lastFailure ?? 'not sent'
      for (;;) {
        const outcome = await breaker.run(turn, signal, () => inner.send(batch, signal))
        if (outcome === undefined) return { kind: 'abandoned', reason } satisfies Abandoned
        switch (outcome.kind) {
          case 'delivered':
          case 'refused':
          case 'abandoned':
            return outcome
          case 'retryable':
            if (turn.failures >= FAILURES_BEFORE_HALVING && batch.count > 1) return outcome
            reason = outcome.reason
            break
          case 'endpoint-rejected':
            reason = outcome.reason
        }
      }
    },
  }
}
