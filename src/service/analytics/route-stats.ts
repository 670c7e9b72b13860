/** Statistics of request logs by service and route: counts, errors, percentiles (pure). */
import type { RouteStats } from '../query/api-types.js'
import type { IndexedRequest } from '../store/indexed-record.js'
import { compareTexts } from '../query/compare-texts.js'

const MAX_ROUTES = 1000

type Requests = readonly IndexedRequest[]

export function summarizeRoutes(requests: Requests): RouteStats[] {
  const sorted = groupByRoute(requests).toSorted(compareRoutes).slice(0, MAX_ROUTES)
  return sorted.map(toRouteStats)
}

/** Groups requests by service, route and method. No group is empty. */
export function groupByRoute(requests: Requests): IndexedRequest[][] {
  // Nested maps are faster than a joined key per request.
  const services = new Map<string | undefined, Map<string, Map<string, IndexedRequest[]>>>()
  for (const request of requests) {
    const routes = getOrAdd(services, request.service || undefined, createMap<Map<string, IndexedRequest[]>>)
    const methods = getOrAdd(routes, request.route, createMap<IndexedRequest[]>)
    getOrAdd(methods, request.method, createList).push(request)
  }
  return [...services.values()].flatMap((routes) => [...routes.values()].flatMap((methods) => [...methods.values()]))
}

function createMap<V>(): Map<string, V> {
  return new Map()
}

function createList(): IndexedRequest[] {
  return []
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const added = create()
  map.set(key, added)
  return added
}

function compareRoutes(a: Requests, b: Requests): number {
  return b.length - a.length || compareNames(nameOf(a[0] as IndexedRequest), nameOf(b[0] as IndexedRequest))
}

type RouteName = Pick<RouteStats, 'service' | 'method' | 'route'>

/** An empty service is none. */
export function nameOf({ service, method, route }: IndexedRequest): RouteName {
  return { service: service || null, method, route }
}

export function compareNames(a: RouteName, b: RouteName): number {
  return (
    compareTexts(a.route, b.route) || compareTexts(a.method, b.method) || compareTexts(a.service ?? '', b.service ?? '')
  )
}

function toRouteStats(requests: Requests): RouteStats {
  const durations = summarizeDurations(requests)
  let clientErrors = 0
  let maxMs = -Infinity
  let lastMs = -Infinity
  for (const { status, durationMs, timeMs } of requests) {
    if (status >= 400 && status < 500) clientErrors++
    if (durationMs > maxMs) maxMs = durationMs
    if (timeMs > lastMs) lastMs = timeMs
  }
  return {
    ...nameOf(requests[0] as IndexedRequest),
    ...durations,
    client_errors: clientErrors,
    error_rate: durations.errors / requests.length,
    max_ms: maxMs,
    last_seen: new Date(lastMs).toISOString(),
  }
}

type Durations = Pick<RouteStats, 'count' | 'errors' | 'p50_ms' | 'p95_ms' | 'p99_ms'>

/** Percentiles by nearest rank: each is a measured value. @param requests at least one */
export function summarizeDurations(requests: Requests): Durations {
  const durations = new Float64Array(requests.length)
  let errors = 0
  for (let n = 0; n < requests.length; n++) {
    const { durationMs, status } = requests[n] as IndexedRequest
    durations[n] = durationMs
    if (status >= 500 && status < 600) errors++
  }
  const sorted = durations.toSorted()
  const percentile = (percent: number): number => findPercentile(sorted, percent)
  return {
    count: requests.length,
    errors,
    p50_ms: percentile(50),
    p95_ms: percentile(95),
    p99_ms: percentile(99),
  }
}

/** Percentile by nearest rank. @param sorted not empty */
export function findPercentile(sorted: Float64Array, percent: number): number {
  return sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? Number.NaN
}
