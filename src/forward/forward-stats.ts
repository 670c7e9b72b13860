/** Counters of a forwarder for one kind of batches. */
import type { Outcome } from '../batch/outcome.js'

export type RequestOutcome = Outcome['kind']

export class ForwardStats {
  /** `forwarded`: accepted by the service. `rejected`: by the service. */
  readonly entries = { forwarded: 0, rejected: 0, duplicate: 0, redelivered: 0 }
  /** `invalid`: messages that are not batches, stored as dead letters. */
  readonly batches = { forwarded: 0, duplicate: 0, redelivered: 0, released: 0, invalid: 0 }
  readonly requests: Record<RequestOutcome, number> = {
    delivered: 0,
    refused: 0,
    retryable: 0,
    'endpoint-rejected': 0,
    abandoned: 0,
  }
  /** Milliseconds since the Unix epoch. */
  lastSuccessAtMs: number | undefined
}
