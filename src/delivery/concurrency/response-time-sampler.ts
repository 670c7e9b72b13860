/**
 * How long a service took to reply. A reply waits in the socket until this thread has time for it, which is no fault of the
 * service. When it came is known within bounds: not before the event loop last had nothing to do. Where that was long ago,
 * nothing is known.
 */
import { performance } from 'node:perf_hooks'

export interface EventLoopSample {
  readonly now: number
  /** For how long the event loop has had nothing to do, in all; 0 where that is not told. */
  readonly idleMs: number
}

/** Bounds closer than that are close enough, or than a share of the reply's time. */
const UNSURE_MS = 3
const UNSURE_SHARE = 1 / 4
/** Share of a round's replies that count, the fastest ones: a few slow replies are ignored. */
const TYPICAL_SHARE = 3 / 4

export class ResponseTimeSampler {
  #now = -Infinity
  #idleMs = 0
  /** What is read now came after that. */
  #cameAfter = -Infinity

  /** When it was last looked at. */
  get now(): number {
    return this.#now
  }

  /** At the begin and at the end of each request. */
  observe({ now, idleMs }: EventLoopSample): void {
    if (idleMs === 0) this.#cameAfter = now
    else if (idleMs > this.#idleMs) this.#cameAfter = this.#now + idleMs - this.#idleMs
    this.#now = now
    this.#idleMs = idleMs
  }

  /** Of the reply that is read now. @returns undefined where it may as well have come much earlier */
  responseTimeMs(startedAt: number): number | undefined {
    const replyMs = this.#now - startedAt
    return this.#now - this.#cameAfter > Math.max(UNSURE_MS, replyMs * UNSURE_SHARE) ? undefined : replyMs
  }
}

/** Of this thread. Bun and Deno do not tell. */
export function readEventLoopIdleMs(): number {
  const { eventLoopUtilization }: { readonly eventLoopUtilization?: () => { readonly idle?: number } } = performance
  return eventLoopUtilization?.().idle ?? 0
}

/** Mean without the slowest values. Steadier than a median, and ignores single slow replies. */
export function trimmedMean(values: readonly number[]): number {
  const kept = values.toSorted((a, b) => a - b).slice(0, Math.ceil(values.length * TYPICAL_SHARE))
  return kept.reduce((sum, value) => sum + value, 0) / kept.length
}
