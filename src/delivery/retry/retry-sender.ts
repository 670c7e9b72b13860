/** Retries until the outcome is final. The circuit breaker, shared by all batches, decides when. */
import type { Abandoned } from '../../batch/outcome.js'
import type { Sender } from '../../batch/sender.js'
import type { CircuitBreaker } from './circuit-breaker.js'

/**
 * Returns `retryable` only for a batch that isolation sends in another way (`sendAs`). No limit of attempts. `signal` and the deadline of the
 * breaker end it as `abandoned`.
 */
export function createRetrySender(inner: Sender, breaker: CircuitBreaker): Sender {
  return {
    async send(batch, signal) {
      const retryState = breaker.createRetryState(batch)
      let reason = breaker.failures.lastFailure ?? 'not sent'
      for (;;) {
        const outcome = await breaker.run(retryState, signal, () => inner.send(batch, signal))
        if (outcome === undefined) return { kind: 'abandoned', reason } satisfies Abandoned
        switch (outcome.kind) {
          case 'delivered':
          case 'abandoned':
            return outcome
          case 'refused':
            if (!breaker.scheduleRepeat(retryState)) return outcome
            reason = outcome.reason
            break
          case 'retryable': {
            const sendAs = breaker.isolationAfter(retryState)
            if (sendAs !== undefined) return { ...outcome, sendAs }
            reason = outcome.reason
            break
          }
          case 'endpoint-rejected':
            reason = outcome.reason
        }
      }
    },
  }
}
