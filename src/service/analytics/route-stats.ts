/** Request logs by route: counts, errors, percentiles (pure). */
import type { RouteLatency, RouteStats } from '../query/api-types.js'
import type { IndexedRequest } from '../store/indexed-record.js'
import { bucketIndex, formatBucketStart } from './time-buckets.js'
import type { TimeBuckets } from './time-buckets.js'
import { compareTexts } from './value-counts.js'

const MAX_ROUTES = 1000

const NO_DURATIONS = { count: 0, errors: 0, p50_ms: null, p95_ms: null, p99_ms: null }

type Requests = readonly IndexedRequest[]

/** The most frequent first. */
export function summarizeRoutes(requests: Requests): RouteStats[] {
  const routes = new Map<string, IndexedRequest[]>()
  for (const request of requests) {
    // No text that the service accepts contains NUL.
    const key = `${request.method}\0${request.route}`
    const members = routes.get(key)
    if (members === undefined) routes.set(key, [request])
    else members.push(request)
  }
  const sorted = [...routes.values()].toSorted(compareRoutes).slice(0, MAX_ROUTES)
  return sorted.map(toRouteStats)
}

function compareRoutes(a: Requests, b: Requests): number {
  const [left, right] = [a[0] as IndexedRequest, b[0] as IndexedRequest]
  return b.length - a.length || compareTexts(left.route, right.route) || compareTexts(left.method, right.method)
}

function toRouteStats(requests: Requests): RouteStats {
  const { method, route } = requests[0] as IndexedRequest
  const durations = summarizeDurations(requests)
  const clientErrors = requests.filter(({ status }) => status >= 400 && status < 500).length
  const lastMs = requests.reduce((latest, { timeMs }) => Math.max(latest, timeMs), -Infinity)
  return {
    method,
    route,
    ...durations,
    client_errors: clientErrors,
    error_rate: durations.errors / requests.length,
    max_ms: requests.reduce((longest, { durationMs }) => Math.max(longest, durationMs), -Infinity),
    last_seen: new Date(lastMs).toISOString(),
  }
}

type Durations = Pick<RouteStats, 'count' | 'errors' | 'p50_ms' | 'p95_ms' | 'p99_ms'>

/** Percentiles by nearest rank, so each is a measured value. @param requests at least one */
function summarizeDurations(requests: Requests): Durations {
  const sorted = new Float64Array(requests.map(({ durationMs }) => durationMs)).toSorted()
  const percentile = (percent: number): number => sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? Number.NaN
  const errors = requests.filter(({ status }) => status >= 500 && status < 600).length
  return {
    count: requests.length,
    errors,
    p50_ms: percentile(50),
    p95_ms: percentile(95),
    p99_ms: percentile(99),
  }
}

/** Requests of one route over time. @param buckets undefined if there is no request */
export function toRouteLatency(requests: Requests, buckets: TimeBuckets | undefined): RouteLatency {
  if (buckets === undefined) return { step_ms: 0, buckets: [] }
  const members: IndexedRequest[][] = Array.from({ length: buckets.count }, () => [])
  for (const request of requests) members[bucketIndex(buckets, request.timeMs)]?.push(request)
  return {
    step_ms: buckets.stepMs,
    buckets: members.map((found, n) => ({
      at: formatBucketStart(buckets, n),
      ...(found.length === 0 ? NO_DURATIONS : summarizeDurations(found)),
    })),
  }
}
