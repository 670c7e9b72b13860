/** Filters over entries and request logs: types, validation, matching (pure). */
import { LEVELS } from '../../protocol/log-entry.js'
import type { Level } from '../../protocol/log-entry.js'
import { describeValue } from '../../shared/argument-checks.js'
import { IngestServiceError } from '../ingest-service-error.js'
import { parseChart } from './language/chart.js'
import type { Chart } from './language/chart.js'
import { isDay } from './language/operands.js'
import { QueryProblemError } from './language/query-node.js'
import { compileEntryQuery, compileRequestQuery } from './matching/compile-query.js'
import type { MatchMemo } from './matching/match-memo.js'
import { createEqualsText } from './matching/value-predicates.js'
import type { IndexedEntry, IndexedRequest } from '../store/indexed-record.js'
import type { PageQuery } from '../store/stored-record.js'

/** An entry must match all of them. */
export interface EntryFilter {
  /** Level, or one of several. */
  readonly level?: Level | readonly Level[]
  /** The entry's `service`. */
  readonly service?: string
  /** The entry's `environment`. */
  readonly environment?: string
  /** The entry's `version`. */
  readonly version?: string
  /** The entry's `release_id`. */
  readonly release_id?: string
  /** The entry's `trace.trace_id`. */
  readonly trace_id?: string
  /** The entry's `request_id`. */
  readonly request_id?: string
  /** One of the tags. */
  readonly tag?: string
  /** The entry's own, or the one that was computed for an error. */
  readonly fingerprint?: string
  /** A query in the query language (docs/local-service.md: Query language). */
  readonly q?: string
  /** Entries whose timestamp is at or after this, ISO 8601. */
  readonly since?: string
  /** Entries whose timestamp is before this, ISO 8601. */
  readonly until?: string
}

/** `limit` is 100 by default; over HTTP at most 1,000, in-process unlimited. */
export interface EntryQuery extends EntryFilter, PageQuery {}

/** Filters over request logs. `since` and `until` are by their timestamp. */
export type RequestFilter = Pick<EntryFilter, 'q' | 'since' | 'until' | 'service' | 'environment'>

/** One route, as `RouteStats` names it. */
export interface RouteQuery extends RequestFilter {
  readonly method: string
  readonly route: string
}

/** Filters that compare one field for equality. */
export const EQUALITY_NAMES = ['service', 'environment', 'version', 'release_id', 'trace_id', 'request_id'] as const

const TEXT_NAMES = [...EQUALITY_NAMES, 'tag', 'fingerprint', 'q'] as const

/** `sinceMs` is inclusive, `untilMs` is exclusive. */
export interface TimeBounds {
  readonly sinceMs: number | undefined
  readonly untilMs: number | undefined
}

/** @throws IngestServiceError `QUERY`. */
export function parseTimeBounds({ since, until }: Pick<EntryFilter, 'since' | 'until'>): TimeBounds {
  return { sinceMs: parseTime('since', since), untilMs: parseTime('until', until) }
}

/**
 * @param memo see `compileEntryQuery`
 * @param patternMs time limit for regular expressions in milliseconds; default 2000
 * @returns function that tests an entry; it throws `QUERY` if regular expressions exceed the time limit
 * @throws IngestServiceError `QUERY` for an invalid filter.
 */
export function createEntryMatcher(
  filter: EntryFilter,
  memo?: MatchMemo,
  patternMs?: number,
): (entry: IndexedEntry) => boolean {
  checkTexts(filter)
  const { tag, fingerprint, q = '' } = filter
  const levels = filter.level === undefined ? undefined : [filter.level].flat()
  const unknown = levels?.find((level) => !LEVELS.includes(level))
  if (unknown !== undefined) throw createQueryError('level', `one of ${LEVELS.join(', ')}`, unknown)
  const equals = EQUALITY_NAMES.flatMap((name) => {
    const value = filter[name]
    return value === undefined ? [] : [[name, createEqualsText(value)] as const]
  })
  const [equalsTag, equalsFingerprint] = [tag, fingerprint].map((text) =>
    text === undefined ? undefined : createEqualsText(text),
  )
  const bounds = parseTimeBounds(filter)
  const matchesQuery = compileEntryQuery(q, memo, patternMs)
  // Cheapest comparisons first.
  return (entry) =>
    (levels === undefined || levels.includes(entry.level)) &&
    isWithin(bounds, entry.timeMs) &&
    equals.every(([name, equalsText]) => hasText(entry[name], equalsText)) &&
    (equalsTag === undefined || entry.tags?.some(equalsTag) === true) &&
    (equalsFingerprint === undefined || hasText(entry.fingerprint, equalsFingerprint)) &&
    matchesQuery(entry)
}

/** @returns function that tests a request log @throws IngestServiceError `QUERY`. */
export function createRequestMatcher(filter: RequestFilter, memo?: MatchMemo): (request: IndexedRequest) => boolean {
  checkTexts(filter)
  const { q = '' } = filter
  const equals = (['service', 'environment'] as const).flatMap((name) => {
    const value = filter[name]
    return value === undefined ? [] : [[name, createEqualsText(value)] as const]
  })
  const bounds = parseTimeBounds(filter)
  const matchesQuery = compileRequestQuery(q, memo)
  return (request) =>
    isWithin(bounds, request.timeMs) &&
    equals.every(([name, equalsText]) => hasText(request[name], equalsText)) &&
    matchesQuery(request)
}

function checkTexts(filter: EntryFilter): void {
  for (const name of TEXT_NAMES)
    if (filter[name] !== undefined && typeof filter[name] !== 'string')
      throw createQueryError(name, 'text', filter[name])
}

function hasText(value: string | undefined, equalsText: (text: string) => boolean): boolean {
  return value !== undefined && equalsText(value)
}

function isWithin({ sinceMs, untilMs }: TimeBounds, timeMs: number): boolean {
  return (sinceMs === undefined || timeMs >= sinceMs) && (untilMs === undefined || timeMs < untilMs)
}

/** @throws IngestServiceError `QUERY`. */
export function parseChartText(text: string): Chart {
  try {
    return parseChart(text)
  } catch (error) {
    if (!(error instanceof QueryProblemError)) throw error
    throw new IngestServiceError('QUERY', `chart: ${error.problem.message}, got ${describeValue(text)}`)
  }
}

/** @throws IngestServiceError `QUERY`. */
export function parseCursor(cursor: string | undefined): number {
  if (cursor === undefined) return Infinity
  if (typeof cursor !== 'string' || !/^\d{1,15}$/.test(cursor)) throw createCursorError(cursor)
  return Number(cursor)
}

/** Parses the cursor of a list that is sorted by a number; the number can have an exponent. @throws IngestServiceError `QUERY`. */
export function parseNumberCursor(cursor: string): { readonly value: number; readonly seq: number } {
  const [, number, seq] = (typeof cursor === 'string' && /^(-?\d[\d.e+-]{0,30})_(\d{1,16})$/.exec(cursor)) || []
  const value = Number(number)
  if (!Number.isFinite(value) || seq === undefined) throw createCursorError(cursor)
  return { value, seq: Number(seq) }
}

/** @throws IngestServiceError `QUERY`. */
export function parseLimit(limit = 100): number {
  const isValid = typeof limit === 'number' && limit >= 1 && (Number.isInteger(limit) || limit === Infinity)
  if (!isValid) throw createQueryError('limit', 'an integer from 1', limit)
  return limit
}

/** @throws IngestServiceError `QUERY`. */
export function checkSort(sort: string | undefined, known: readonly string[]): void {
  if (sort !== undefined && !known.includes(sort)) throw createQueryError('sort', `one of ${known.join(', ')}`, sort)
}

export function createCursorError(cursor: string): IngestServiceError {
  return createQueryError('cursor', 'the "next" of an earlier page', cursor)
}

/** A date, or a date and time with an offset; the year can have six digits as in `toISOString()`. */
const ISO_TIME = /^((?:\d{4}|[+-]\d{6})-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/

function parseTime(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  // The expression is necessary because V8 also parses other formats, with unexpected results.
  const date = typeof value === 'string' ? ISO_TIME.exec(value)?.[1] : undefined
  const ms = date !== undefined && isDay(date) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(ms)) throw createQueryError(name, 'an ISO 8601 time such as 2026-01-31T08:00:00Z', value)
  return ms
}

export function createMissingError(name: string, example: string): IngestServiceError {
  return new IngestServiceError('QUERY', `${name} is required, for example ${name}=${example}`)
}

export function createQueryError(name: string, rule: string, value: unknown): IngestServiceError {
  return new IngestServiceError('QUERY', `${name} must be ${rule}, got ${describeValue(value)}`)
}
