/** Divides the time at shutdown, `shutdownTimeoutMs`, and limits what may start within it. */

/** Time for a release registration that is in progress at shutdown, but at most half of `shutdownTimeoutMs`. */
const MAX_RELEASE_MS = 1_000

export function toReleaseMs(shutdownTimeoutMs: number): number {
  return Math.min(MAX_RELEASE_MS, shutdownTimeoutMs / 2)
}

/**
 * How long after the app's last batch the entries of earlier processes are still sent. In the app's own thread a request
 * keeps the process alive, and a short script must not stay for a long backlog. In a worker: no limit.
 */
export function toRecoveryMs(shutdownTimeoutMs: number, isInProcess: boolean): number {
  return isInProcess ? shutdownTimeoutMs : Infinity
}

/** Time after the deadline for aborted requests to settle and be counted. */
export const ABORT_MS = 100

/** If all entries are on disk: one last attempt, and another one if the first used a connection that was already closed. */
export const FAILURES_ON_DISK = 2
/** If an attempt has succeeded: a single broken connection is not an outage. */
export const FAILURES_AFTER_SUCCESS = 3

/** Requests that have waited longer for a reply do not delay others. */
export const SILENCE_MS = 1_000

/**
 * An entry of an earlier process is sent only if the remaining time is this many times the slowest recent response time. A batch that
 * is sent but not acknowledged would arrive twice.
 */
export const REPLIES_LEFT = 2
