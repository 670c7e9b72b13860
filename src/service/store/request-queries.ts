/** The answers about request logs from all that are in memory, one pass over them each. */
import { bucketIndex } from '../analytics/time-buckets.js'
import type { TimeBuckets, TimeRange } from '../analytics/time-buckets.js'
import { compareFrequency, summarizeDurations, isClientError, isServerError } from '../analytics/route-stats.js'
import { parseRequestFilter, matchesRequest } from '../query/query-filters.js'
import type { RequestFilter, RouteQuery } from '../query/query-filters.js'
import type { IndexedRequest } from './indexed-record.js'
import { findTimeRange } from './entry-queries.js'
import type { Durations, RouteDurations } from './store.js'

type Requests = readonly IndexedRequest[]

interface Route {
  readonly method: string
  readonly route: string
  readonly ms: number[]
  errors: number
  clientErrors: number
  lastMs: number
}

function matching(requests: Requests, filter: RequestFilter): Requests {
  const checked = parseRequestFilter(filter)
  return requests.filter((kept) => matchesRequest(checked, kept))
}

function ofRoute(requests: Requests, { method, route, ...filter }: RouteQuery): Requests {
  return matching(requests, filter).filter((kept) => kept.method === method && kept.route === route)
}

export function summarizeRoutes(requests: Requests, filter: RequestFilter, limit: number): RouteDurations[] {
  const methods = new Map<string, Map<string, Route>>()
  for (const kept of matching(requests, filter)) {
    const route = routeIn(methods, kept.method, kept.route)
    route.ms.push(kept.ms)
    if (isServerError(kept.status)) route.errors++
    if (isClientError(kept.status)) route.clientErrors++
    if (kept.timeMs > route.lastMs) route.lastMs = kept.timeMs
  }
  const all = [...methods.values()].flatMap((ofMethod) => [...ofMethod.values()])
  const named = all.map((found) => ({ ...found, count: found.ms.length })).toSorted(compareFrequency)
  return named.slice(0, limit).map(({ ms, ...found }) => ({ ...found, ...summarizeDurations(ms, found.errors) }))
}

function routeIn(methods: Map<string, Map<string, Route>>, method: string, route: string): Route {
  let ofMethod = methods.get(method)
  if (ofMethod === undefined) methods.set(method, (ofMethod = new Map()))
  let found = ofMethod.get(route)
  if (found === undefined) {
    found = { method, route, ms: [], errors: 0, clientErrors: 0, lastMs: -Infinity }
    ofMethod.set(route, found)
  }
  return found
}

export function findRouteTimeRange(requests: Requests, query: RouteQuery): TimeRange | undefined {
  return findTimeRange(ofRoute(requests, query))
}

export function summarizeRouteBuckets(
  requests: Requests,
  query: RouteQuery,
  frame: TimeBuckets,
): Map<number, Durations> {
  const buckets = new Map<number, { errors: number; ms: number[] }>()
  for (const { timeMs, status, ms } of ofRoute(requests, query)) {
    const at = bucketIndex(frame, timeMs)
    const bucket = buckets.get(at) ?? { errors: 0, ms: [] }
    buckets.set(at, bucket)
    bucket.ms.push(ms)
    if (isServerError(status)) bucket.errors++
  }
  return new Map([...buckets].map(([at, { errors, ms }]) => [at, summarizeDurations(ms, errors)]))
}
