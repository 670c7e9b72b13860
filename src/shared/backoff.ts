/** Computes the delay before the next attempt. */

export interface BackoffInput {
  /** Failed attempts so far, from 1. */
  readonly attempt: number
  /** Milliseconds since the first of the failures. */
  readonly outageAgeMs: number
  readonly retry: { readonly maxMs: number }
  /** In [0, 1). */
  readonly random: () => number
}

/** Cap of a delay as a share of the outage's age, so retries do not prolong a short outage. */
const OUTAGE_SHARE = 1 / 4
const LEAST_CAP_MS = 5_000
const FIRST_STEP_MS = 250

/** The first exponential step in milliseconds. */
export function firstStepMs({ maxMs }: BackoffInput['retry']): number {
  return Math.min(FIRST_STEP_MS, maxMs)
}

/**
 * Full jitter: a random delay between 0 and the exponential step spreads the retries of many clients. The cap is a
 * quarter of the outage's age, at least 5 s, at most `retry.maxMs`.
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function computeDelayMs({ attempt, outageAgeMs, retry, random }: BackoffInput): number {
  const capMs = Math.min(retry.maxMs, Math.max(LEAST_CAP_MS, outageAgeMs * OUTAGE_SHARE))
  return random() * Math.min(capMs, firstStepMs(retry) * 2 ** Math.min(Math.max(attempt, 1) - 1, 52))
}
