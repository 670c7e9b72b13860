/** Computes the delay before the next attempt. */

export interface BackoffInput {
  /** Failed attempts so far, from 1. */
  readonly attempt: number
  /** Milliseconds since the first of the failures. */
  readonly outageAgeMs: number
  readonly retry: { readonly minMs: number; readonly maxMs: number }
  /** In [0, 1). */
  readonly random: () => number
}

/** Cap of a delay as a share of the outage's age, so retries do not prolong a short outage. */
const OUTAGE_SHARE = 1 / 4
const LEAST_CAP_MS = 5_000

/**
 * Full jitter: a random delay between 0 and the exponential step spreads the retries of many clients. The cap is a
 * quarter of the outage's age, at least 5 s or the first step, at most `retry.maxMs`.
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function computeDelayMs({ attempt, outageAgeMs, retry: { minMs, maxMs }, random }: BackoffInput): number {
  const capMs = Math.min(maxMs, Math.max(LEAST_CAP_MS, minMs, outageAgeMs * OUTAGE_SHARE))
  return random() * Math.min(capMs, minMs * 2 ** Math.min(Math.max(attempt, 1) - 1, 52))
}
