/** The answers about request logs, asked of the database. Durations come as text: see the layout. */
import type { TimeBuckets, TimeRange } from '../analytics/time-buckets.js'
import { summarizeDurations } from '../analytics/route-stats.js'
import { parseRequestFilter } from '../query/query-filters.js'
import type { RequestFilter, RouteQuery } from '../query/query-filters.js'
import { requestRows } from './sqlite-conditions.js'
import type { Rows } from './sqlite-conditions.js'
import type { Database } from './sqlite-database.js'
import { timeRangeOf } from './sqlite-rows.js'
import type { Durations, RouteDurations } from './store.js'

const COLUMNS = `count(*) as count, count(*) filter (where status between 500 and 599) as errors,
  count(*) filter (where status between 400 and 499) as client_errors, max(time_ms) as last, group_concat(ms, ' ') as ms`

export function routes(db: Database, filter: RequestFilter, limit: number): RouteDurations[] {
  const { sql, values } = requestRows(parseRequestFilter(filter))
  const order = 'group by method, route order by count desc, route, method limit ?'
  const rows = db.prepare(`select method, route, ${COLUMNS} ${sql} ${order}`).all(...values, limit)
  return rows.map((row) => ({
    method: String(row['method']),
    route: String(row['route']),
    clientErrors: Number(row['client_errors']),
    lastMs: Number(row['last']),
    ...durationsIn(row),
  }))
}

export function routeTimeRange(db: Database, query: RouteQuery): TimeRange | undefined {
  return timeRangeOf(db, rowsOfRoute(query))
}

export function routeDurations(
  db: Database,
  query: RouteQuery,
  { sinceMs, stepMs }: TimeBuckets,
): Map<number, Durations> {
  const { sql, values } = rowsOfRoute(query)
  const bucket = '(time_ms - cast(? as integer)) / cast(? as integer) as bucket'
  const rows = db.prepare(`select ${bucket}, ${COLUMNS} ${sql} group by 1`).all(sinceMs, stepMs, ...values)
  return new Map(rows.map((row) => [Number(row['bucket']), durationsIn(row)]))
}

function rowsOfRoute({ method, route, ...filter }: RouteQuery): Rows {
  return requestRows(parseRequestFilter(filter), [
    ['method = ?', method],
    ['route = ?', route],
  ])
}

function durationsIn(row: Record<string, unknown>): Durations & { readonly maxMs: number } {
  return summarizeDurations(String(row['ms']).split(' ').map(Number), Number(row['errors']))
}
