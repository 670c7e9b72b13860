/** Parses and formats a route for the address: `GET /orders/:id` (pure). */
import type { RouteStats } from '../../query/api-types.js'
import type { View } from '../view.js'

export interface RouteName {
  /** Null for all services, `NO_SERVICE` for requests without one. */
  readonly service: string | null
  readonly method: string
  readonly route: string
}

/** In the address: requests without a service. */
export const NO_SERVICE = '(none)'

export function formatRoute({ method, route }: Pick<RouteName, 'method' | 'route'>): string {
  return `${method} ${route}`
}

/** Splits at the first space, because methods contain none. Null if the text is not a route. */
export function parseRouteName({ route: text, service }: Pick<View, 'route' | 'service'>): RouteName | null {
  const at = text === null ? -1 : text.indexOf(' ')
  return text === null || at < 0 ? null : { service, method: text.slice(0, at), route: text.slice(at + 1) }
}

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
