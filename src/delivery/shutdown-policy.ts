/** How the time at the app's end, `shutdownTimeoutMs`, is divided, and what may still begin in it. */

/** A release that is being registered at the end gets this long, but at most half of the time. */
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

/** After the deadline, for aborted requests to settle and be counted. */
export const ABORT_MS = 100

/** What is on disk needs no delivery now: one last attempt, and another if it met a connection that had been closed. */
export const FAILURES_ON_DISK = 2
/** After a success so many failures are allowed: a connection that breaks now is not an outage. */
export const FAILURES_AFTER_SUCCESS = 3

/** Requests without a reply for longer do not hold up others. */
export const SILENCE_MS = 1_000

/**
 * An entry of an earlier process is sent only if so many replies, each as slow as the slowest of late, fit into the time
 * that is left: a batch that is sent and not acknowledged arrives twice.
 */
export const REPLIES_LEFT = 2
