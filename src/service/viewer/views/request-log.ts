/** Recognizes paths and ids of request logs (pure). */
import type { RouteStats } from '../../query/api-types.js'

/** Minimum number of routes for the hint. */
const MANY_ROUTES = 20
const FEW_REQUESTS = 1.5

/** Whether nearly every route has one request: the routes are then paths with ids instead of patterns. */
export function areMostlyPaths(routes: readonly Pick<RouteStats, 'count'>[]): boolean {
  const requests = routes.reduce((sum, { count }) => sum + count, 0)
  return routes.length > MANY_ROUTES && requests / routes.length < FEW_REQUESTS
}

/** Removes the process prefix that the transport adds to short ids for uniqueness; log entries have the id without it. */
export function findRequestId(requestId: string): string {
  return /^[0-9a-f]{12}-(.+)$/.exec(requestId)?.[1] ?? requestId
}
