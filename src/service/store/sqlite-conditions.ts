/** Filters as SQL (pure). Names are those of the tables; what the caller says is always bound, never written. */
import { levelCode } from '../analytics/level-counts.js'
import type { ParsedEntryFilter, ParsedRequestFilter, TimeBounds } from '../query/query-filters.js'
import type { SqlValue } from './sqlite-database.js'

/** Which rows a query reads, and the values that are bound in it. */
export interface Rows {
  /** `from ... where ...` */
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/** Rows of `entry`. */
export interface EntryRows extends Rows {
  /** The column that the scan runs along: what orders by it needs no sorting. */
  readonly seq: string
}

/** A condition beside those of the filter, and its values. */
export type Condition = readonly [string, ...SqlValue[]]

export interface Scope {
  /** Only those whose `seq` is above. */
  readonly above?: number
  /** Only those whose `seq` is below. */
  readonly below?: number
  /** With the column `json`. */
  readonly withRecord?: boolean
}

class Conditions {
  readonly #sql: string[] = []
  readonly values: SqlValue[] = []

  add(...[sql, ...values]: Condition): void {
    this.#sql.push(sql)
    this.values.push(...values)
  }

  addTimes({ sinceMs, untilMs }: TimeBounds): void {
    if (sinceMs !== undefined) this.add('time_ms >= ?', sinceMs)
    if (untilMs !== undefined) this.add('time_ms < ?', untilMs)
  }

  get sql(): string {
    return this.#sql.length === 0 ? 'true' : this.#sql.join(' and ')
  }
}

/** With a text the scan runs along `hit`, which must have been brought up to date: see `SqliteSearch`. */
export function entryRows(filter: ParsedEntryFilter, scope: Scope = {}, more: readonly Condition[] = []): EntryRows {
  const conditions = new Conditions()
  const seq = filter.text === undefined ? 'entry.seq' : 'hit.seq'
  if (scope.above !== undefined) conditions.add(`${seq} > ?`, scope.above)
  if (scope.below !== undefined) conditions.add(`${seq} < ?`, scope.below)
  if (filter.levels !== undefined) {
    conditions.add(`level in (${filter.levels.map(() => '?').join(', ')})`, ...filter.levels.map(levelCode))
  }
  for (const [name, value] of filter.equals) conditions.add(`${name} = ?`, value)
  if (filter.tag !== undefined) {
    // The first passes over most rows cheaply; it alone would find a tag `,` between two others.
    conditions.add('instr(tags, ?) > 0', JSON.stringify(filter.tag))
    conditions.add('exists (select 1 from json_each(tags) where value = ?)', filter.tag)
  }
  if (filter.fingerprint !== undefined) conditions.add('fingerprint = ?', filter.fingerprint)
  conditions.addTimes(filter)
  for (const one of more) conditions.add(...one)
  const first = filter.text === undefined ? 'entry' : 'hit cross join entry using (seq)'
  const from = scope.withRecord === true ? `${first} cross join record using (seq)` : first
  return { sql: `from ${from} where ${conditions.sql}`, values: conditions.values, seq }
}

export function requestRows(filter: ParsedRequestFilter, more: readonly Condition[] = []): Rows {
  const conditions = new Conditions()
  for (const one of more) conditions.add(...one)
  if (filter.service !== undefined) conditions.add('service = ?', filter.service)
  if (filter.environment !== undefined) conditions.add('environment = ?', filter.environment)
  conditions.addTimes(filter)
  return { sql: `from request where ${conditions.sql}`, values: conditions.values }
}
