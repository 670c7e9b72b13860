/** Tries until the outcome is final. Waiting is the gate's: all batches share what one of them learnt. */
import type { Abandoned, Sender } from '../../batch/sender.js'
import type { CircuitBreaker } from './circuit-breaker.js'

/** There is no attempt limit; `signal` and the gate's deadline end it as `given-up`. */
export function createRetrySender(inner: Sender, gate: CircuitBreaker): Sender {
  return {
    async send(batch, signal) {
      const turn = gate.createRetryState()
      let reason = gate.lastFailure ?? 'not sent'
      for (;;) {
        const outcome = await gate.run(turn, signal, () => inner.send(batch, signal))
        if (outcome === undefined) return { kind: 'given-up', reason } satisfies Abandoned
        switch (outcome.kind) {
          case 'delivered':
          case 'refused':
          case 'given-up':
            return outcome
          case 'later':
          case 'misconfigured':
            reason = outcome.reason
        }
      }
    },
  }
}
