/**
 * Measures response times of the service. A reply waits in the socket until the event loop reads it, and this time is
 * not the service's. The reply arrived after the event loop was last idle. If that was long ago, the response time is
 * unknown.
 */
import { performance } from 'node:perf_hooks'

export interface EventLoopSample {
  readonly now: number
  /** Total idle time of the event loop; 0 if the runtime does not report it. */
  readonly idleMs: number
}

/** An uncertainty below either of these is accepted: milliseconds, or a share of the response time. */
const UNSURE_MS = 3
const UNSURE_SHARE = 1 / 4
/** Share of a round's replies that counts; the fastest are used. */
const TYPICAL_SHARE = 3 / 4

export class ResponseTimeSampler {
  #now = -Infinity
  #idleMs = 0
  /** A reply read now arrived after this time. */
  #cameAfter = -Infinity

  /** Time of the latest call of `observe`. */
  get now(): number {
    return this.#now
  }

  /** Must be called at the start and at the end of each request. */
  observe({ now, idleMs }: EventLoopSample): void {
    if (idleMs === 0) this.#cameAfter = now
    else if (idleMs > this.#idleMs) this.#cameAfter = this.#now + idleMs - this.#idleMs
    this.#now = now
    this.#idleMs = idleMs
  }

  /** Response time of the reply read now. @returns undefined if it may have arrived much earlier */
  responseTimeMs(startedAt: number): number | undefined {
    const replyMs = this.#now - startedAt
    return this.#now - this.#cameAfter > Math.max(UNSURE_MS, replyMs * UNSURE_SHARE) ? undefined : replyMs
  }
}

/** Idle time of this thread's event loop. Bun and Deno do not report it. */
export function readEventLoopIdleMs(): number {
  const { eventLoopUtilization }: { readonly eventLoopUtilization?: () => { readonly idle?: number } } = performance
  return eventLoopUtilization?.().idle ?? 0
}

/** Mean without the slowest values. More stable than a median. */
export function computeTrimmedMean(values: readonly number[]): number {
  const kept = values.toSorted((a, b) => a - b).slice(0, Math.ceil(values.length * TYPICAL_SHARE))
  return kept.reduce((sum, value) => sum + value, 0) / kept.length
}
