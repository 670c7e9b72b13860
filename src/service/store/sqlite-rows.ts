/** What queries of every table have in common. */
import type { TimeRange } from '../analytics/time-buckets.js'
import type { Rows } from './sqlite-conditions.js'
import type { Database } from './sqlite-database.js'
import type { Page } from './store.js'

/** One row more than the limit is asked for, so that the last page says that it is the last. */
export function rowLimit(limit: number): number {
  return limit === Infinity ? -1 : limit + 1
}

/** Rows by `rowLimit`, whose `json` is read. */
export function newestFirst<T extends { readonly seq: number }>(
  rows: readonly Record<string, unknown>[],
  limit: number,
): Page<T> {
  const items = rows.slice(0, limit).map((row) => JSON.parse(String(row['json'])) as T)
  return { items, next: rows.length > limit ? String(items.at(-1)?.seq) : null }
}

/** Undefined where there is no row. */
export function timeRangeOf(db: Database, { sql, values }: Rows): TimeRange | undefined {
  const row = db.prepare(`select min(time_ms) as first, max(time_ms) as last ${sql}`).get(...values)
  const { first, last } = row ?? {}
  return typeof first === 'number' && typeof last === 'number' ? { firstMs: first, lastMs: last } : undefined
}

/**
 * The value of an expression, null or what JSON can say, for every row. SQLite sorts rows in order to group them; all of them in one piece, and
 * counted here, take a third of the time.
 */
export function eachOf<T>(db: Database, expression: string, { sql, values }: Rows): T[] {
  const row = db.prepare(`select json_group_array(${expression}) as list ${sql}`).get(...values)
  return JSON.parse(String(row?.['list'])) as T[]
}
