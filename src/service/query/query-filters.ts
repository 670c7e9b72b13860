/** Filters over entries and request logs, and the URL parameters of the API: types, validation, matching (pure). */
import { LEVELS } from '../../protocol/log-entry.js'
import type { Level } from '../../protocol/log-entry.js'
import { describeValue } from '../../shared/argument-checks.js'
import { IngestServiceError } from '../ingest-service-error.js'
import { parseChart } from './language/chart.js'
import type { Chart } from './language/chart.js'
import { parseTimeInterval } from './language/operands.js'
import { QueryProblemError } from './language/query-node.js'
import { quoteText } from './language/scanner.js'
import { compileEntryQuery, compileRequestQuery } from './matching/compile-query.js'
import type { Matcher } from './matching/compile-query.js'
import type { MatchMemo } from './matching/match-memo.js'
import type { IndexedEntry, IndexedRequest } from '../store/indexed-record.js'
import type { PageQuery } from '../store/stored-record.js'
import type { Timed } from '../store/time-index.js'

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
  /** A query in the query language (docs/query-language.md). */
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

/** Filters, order and page of request logs. */
export interface RequestQuery extends RequestFilter, PageQuery {
  /** `timestamp` (default): newest first, in pages. `duration`: the slowest first, without further pages. */
  readonly sort?: 'timestamp' | 'duration'
}

/** Filters that are compiled to the query language: `service: 'api'` is `service:("api")`. */
const FIELD_FILTERS = [
  ...(['level', 'service', 'environment', 'version', 'release_id'] as const),
  ...(['trace_id', 'request_id', 'tag', 'fingerprint'] as const),
]

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
export function createEntryMatcher(filter: EntryFilter, memo?: MatchMemo, patternMs?: number): Matcher<IndexedEntry> {
  return createMatcher(filter, (q) => compileEntryQuery(q, memo, patternMs))
}

/** @returns function that tests a request log @throws IngestServiceError `QUERY`. */
export function createRequestMatcher(filter: RequestFilter, memo?: MatchMemo): Matcher<IndexedRequest> {
  return createMatcher(filter, (q) => compileRequestQuery(q, memo))
}

function createMatcher<R extends Timed>(filter: EntryFilter, compile: (q: string) => Matcher<R>): Matcher<R> {
  const { q = '' } = filter
  if (typeof q !== 'string') throw createQueryError('q', 'text', q)
  const { sinceMs = -Infinity, untilMs = Infinity } = parseTimeBounds(filter)
  // Compiled apart, so that the position of a problem is the position in `q`.
  const [hasFields, matchesQuery] = [compile(toQueryText(filter)), compile(q)]
  return (record) => record.timeMs >= sinceMs && record.timeMs < untilMs && hasFields(record) && matchesQuery(record)
}

function toQueryText(filter: EntryFilter): string {
  const terms = FIELD_FILTERS.flatMap((name) => {
    const value: string | readonly string[] | undefined = filter[name]
    if (value === undefined) return []
    const texts = name === 'level' ? [value].flat() : [value]
    const isValid = (one: unknown): boolean =>
      name === 'level' ? (LEVELS as readonly unknown[]).includes(one) : typeof one === 'string'
    const wrong = texts.length === 0 ? 0 : texts.findIndex((one) => !isValid(one))
    if (wrong !== -1)
      throw createQueryError(name, name === 'level' ? `one of ${LEVELS.join(', ')}` : 'text', texts[wrong])
    return [`${name}:(${texts.map((one) => quoteText(one as string)).join()})`]
  })
  return terms.join(' ')
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

/** Parses the cursor of a list that is sorted by a number, which can have an exponent. @throws IngestServiceError `QUERY`. */
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
  if (sort !== undefined) parseChoice('sort', sort, known)
}

export function createCursorError(cursor: string): IngestServiceError {
  return createQueryError('cursor', 'the "next" of an earlier page', cursor)
}

function parseTime(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const span = typeof value === 'string' ? parseTimeInterval(value) : undefined
  if (span === undefined) throw createQueryError(name, 'a time such as 2026-01-31T08:00:00Z', value)
  return span.startMs
}

export function createMissingError(name: string, example: string): IngestServiceError {
  return new IngestServiceError('QUERY', `${name} is required, for example ${name}=${example}`)
}

export function createQueryError(name: string, rule: string, value: unknown): IngestServiceError {
  return new IngestServiceError('QUERY', `${name} must be ${rule}, got ${describeValue(value)}`)
}

export interface UrlParameters extends EntryQuery {
  readonly view?: 'summary'
  readonly buckets?: number
  readonly chart?: string
  /** For a stream, the `seq` after which it begins; for a comparison, the second version. */
  readonly after?: string
  readonly method?: string
  readonly route?: string
  readonly newer?: string
  readonly columns?: readonly string[]
  readonly format?: 'ndjson'
  readonly sort?: string
  readonly before?: string
  readonly kind?: 'entries' | 'requests'
  readonly field?: string
  readonly prefix?: string
}

export type ParameterName = keyof UrlParameters

export const ENTRY_FILTERS = [...FIELD_FILTERS, 'q', 'since', 'until'] as const
export const REQUEST_FILTERS = ['q', 'since', 'until', 'service', 'environment'] as const
export const PAGE = ['limit', 'cursor'] as const

const PARSERS: { readonly [name in ParameterName]?: (text: string) => unknown } = {
  level: (text) => text.split(',') as Level[],
  limit: (text) => parseInteger('limit', text, 1000),
  buckets: (text) => parseInteger('buckets', text, 500),
  columns: parseColumns,
  kind: (text) => parseChoice('kind', text, ['entries', 'requests']),
  view: (text) => parseChoice('view', text, ['summary']),
  format: (text) => parseChoice('format', text, ['ndjson']),
}

/**
 * Parses the parameters. Filters and cursors are validated by the queries, which also serve calls in-process.
 * @throws IngestServiceError `QUERY` for an unknown or repeated parameter, or an invalid value.
 */
export function readParameters<K extends ParameterName>(
  search: URLSearchParams,
  known: readonly K[],
): Pick<UrlParameters, K> {
  const values: Record<string, unknown> = {}
  for (const [name, text] of search) {
    const found = known.find((one) => one === name)
    if (found === undefined)
      throw createQueryError('parameter', known.length === 0 ? 'omitted' : `one of ${known.join(', ')}`, name)
    if (Object.hasOwn(values, name)) throw createQueryError(name, 'set only once', text)
    values[name] = PARSERS[found]?.(text) ?? text
  }
  return values as Pick<UrlParameters, K>
}

function parseInteger(name: string, text: string, max: number): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > max) throw createQueryError(name, `an integer from 1 to ${max}`, text)
  return value
}

function parseChoice(name: string, text: string, known: readonly string[]): string {
  if (!known.includes(text)) throw createQueryError(name, `one of ${known.join(', ')}`, text)
  return text
}

const MAX_COLUMNS = 100

/** Parses names separated by commas and quoted as in CSV. @throws IngestServiceError `QUERY`. */
function parseColumns(text: string): readonly string[] {
  const names: string[] = []
  const pattern = /("(?:[^"]|"")*"|[^",]*)(,|$)/gy
  for (let ended = false; !ended;) {
    const match = pattern.exec(text)
    const [, name = '', separator] = match ?? []
    if (match === null || name === '""' || name === '')
      throw createQueryError('columns', 'field names, separated by commas and quoted as in CSV', text)
    names.push(name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name)
    ended = separator === ''
  }
  const columns = [...new Set(names)]
  if (columns.length > MAX_COLUMNS) throw createQueryError('columns', `at most ${MAX_COLUMNS}`, columns.length)
  return columns
}
