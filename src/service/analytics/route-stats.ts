/** Durations and statuses of requests become statistics (pure). */
import type { RouteLatency, RouteStats } from '../query/api-types.js'
import type { Durations, RouteDurations } from '../store/store.js'
import { formatBucketStart } from './time-buckets.js'
import type { TimeBuckets } from './time-buckets.js'
import { compareCodePoints } from './code-point-order.js'
import { findPercentile } from './percentile.js'

export const MAX_ROUTES = 1000

/** Status 5xx. */
export function isServerError(status: number): boolean {
  return status >= 500 && status < 600
}

/** Status 4xx. */
export function isClientError(status: number): boolean {
  return status >= 400 && status < 500
}

/** The most frequent first, then by code point. */
export function compareFrequency(a: NamedRoute, b: NamedRoute): number {
  return b.count - a.count || compareCodePoints(a.route, b.route) || compareCodePoints(a.method, b.method)
}

type NamedRoute = Pick<RouteDurations, 'method' | 'route' | 'count'>

/** Of at least one request. */
export function summarizeDurations(ms: readonly number[], errors: number): Durations & { readonly maxMs: number } {
  // A typed array sorts numbers as numbers, without a function for each comparison.
  const sorted = Float64Array.from(ms).toSorted()
  const at = (percent: number): number => findPercentile(sorted, percent)
  return { count: ms.length, errors, p50Ms: at(50), p95Ms: at(95), p99Ms: at(99), maxMs: at(100) }
}

export function toRouteStats(found: RouteDurations): RouteStats {
  return {
    method: found.method,
    route: found.route,
    count: found.count,
    errors: found.errors,
    client_errors: found.clientErrors,
    error_rate: found.errors / found.count,
    p50_ms: found.p50Ms,
    p95_ms: found.p95Ms,
    p99_ms: found.p99Ms,
    max_ms: found.maxMs,
    last_seen: new Date(found.lastMs).toISOString(),
  }
}

export const NO_LATENCY: RouteLatency = { step_ms: 0, buckets: [] }

/** `durations` by bucket; one that is missing is empty. */
export function toRouteLatency(frame: TimeBuckets, durations: ReadonlyMap<number, Durations>): RouteLatency {
  const buckets = Array.from({ length: frame.count }, (_, bucket) => {
    const found = durations.get(bucket)
    return {
      at: formatBucketStart(frame, bucket),
      count: found?.count ?? 0,
      errors: found?.errors ?? 0,
      p50_ms: found?.p50Ms ?? null,
      p95_ms: found?.p95Ms ?? null,
      p99_ms: found?.p99Ms ?? null,
    }
  })
  return { step_ms: frame.stepMs, buckets }
}
