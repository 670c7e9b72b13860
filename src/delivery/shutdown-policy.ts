/** Divides the time at shutdown, `shutdownTimeoutMs`, and limits the work started within it. */

/** Time for a release registration that is in progress at shutdown, but at most half of `shutdownTimeoutMs`. */
const MAX_RELEASE_MS = 1_000

export function toReleaseMs(shutdownTimeoutMs: number): number {
  return Math.min(MAX_RELEASE_MS, shutdownTimeoutMs / 2)
}

/**
 * Time after the application's last batch during which entries of earlier processes are still sent. In the
 * application's thread, a request keeps the process alive, and a long backlog must not keep a short script running. In
 * a worker: no limit.
 */
export function toRecoveryMs(shutdownTimeoutMs: number, isInProcess: boolean): number {
  return isInProcess ? shutdownTimeoutMs : Infinity
}

/** Time after the deadline for aborted requests to settle and be counted. */
export const ABORT_MS = 100

/**
 * Failures allowed if all entries are on disk: one last attempt, and another one if the first used a connection that
 * was already closed.
 */
export const FAILURES_ON_DISK = 2
/** Failures allowed if an attempt has succeeded, because a single broken connection is not an outage. */
export const FAILURES_AFTER_SUCCESS = 3

/** Requests that wait longer for a reply do not delay others. */
export const SILENCE_MS = 1_000

/**
 * An entry of an earlier process is sent only if the remaining time is at least this multiple of the slowest recent
 * response time. Entries that are sent but not acknowledged arrive twice.
 */
export const REPLIES_LEFT = 2
