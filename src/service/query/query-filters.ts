/** Filters over entries and request logs: types, validation, matching (pure). */
import { LEVELS } from '../../protocol/log-entry.js'
import type { Level } from '../../protocol/log-entry.js'
import { describeValue } from '../../shared/argument-checks.js'
import { IngestServiceError } from '../ingest-service-error.js'
import type { IndexedEntry, IndexedRequest } from '../store/indexed-record.js'
import type { PageQuery } from '../store/stored-record.js'

/** An entry must match all of them. */
export interface EntryFilter {
  readonly level?: Level | readonly Level[]
  readonly service?: string
  readonly environment?: string
  readonly version?: string
  readonly release_id?: string
  readonly trace_id?: string
  readonly request_id?: string
  readonly tag?: string
  /** The entry's own, or the one that was computed for an error. */
  readonly fingerprint?: string
  /** Text in the message, service, action, error or metadata, case-insensitive. */
  readonly q?: string
  /** Entries whose timestamp is at or after this, ISO 8601. */
  readonly since?: string
  /** Entries whose timestamp is before this, ISO 8601. */
  readonly until?: string
}

/** `limit` is 100 by default; over HTTP at most 1,000, in-process unlimited. */
export interface EntryQuery extends EntryFilter, PageQuery {}

/** Filters over request logs, by their timestamp. */
export type RequestFilter = Pick<EntryFilter, 'since' | 'until' | 'service' | 'environment'>

/** One route, as `RouteStats` names it. */
export interface RouteQuery extends RequestFilter {
  readonly method: string
  readonly route: string
}

/** Filters that compare one field. */
export const EQUALITY_NAMES = ['service', 'environment', 'version', 'release_id', 'trace_id', 'request_id'] as const

const TEXT_NAMES = [...EQUALITY_NAMES, 'tag', 'fingerprint', 'q'] as const

/** From `sinceMs`, and before `untilMs`. */
export interface TimeBounds {
  readonly sinceMs: number | undefined
  readonly untilMs: number | undefined
}

/** @throws IngestServiceError `QUERY`. */
export function parseTimeBounds({ since, until }: Pick<EntryFilter, 'since' | 'until'>): TimeBounds {
  return { sinceMs: parseTime('since', since), untilMs: parseTime('until', until) }
}

/** @returns whether an entry matches @throws IngestServiceError `QUERY`. */
export function createEntryMatcher(filter: EntryFilter): (entry: IndexedEntry) => boolean {
  for (const name of TEXT_NAMES)
    if (filter[name] !== undefined && typeof filter[name] !== 'string')
      throw createQueryError(name, 'text', filter[name])
  const { tag, fingerprint, q = '' } = filter
  const levels = filter.level === undefined ? undefined : [filter.level].flat()
  const unknown = levels?.find((level) => !LEVELS.includes(level))
  if (unknown !== undefined) throw createQueryError('level', `one of ${LEVELS.join(', ')}`, unknown)
  const equals = EQUALITY_NAMES.flatMap((name) => (filter[name] === undefined ? [] : [[name, filter[name]] as const]))
  const bounds = parseTimeBounds(filter)
  const text = q.toLowerCase()
  // The cheapest comparisons first.
  return (entry) =>
    (levels === undefined || levels.includes(entry.level)) &&
    equals.every(([name, value]) => entry[name] === value) &&
    (tag === undefined || entry.tags?.includes(tag) === true) &&
    isWithin(bounds, entry.timeMs) &&
    (fingerprint === undefined || entry.fingerprint === fingerprint) &&
    (text === '' || entry.search.includes(text))
}

/** @returns whether a request log matches @throws IngestServiceError `QUERY`. */
export function createRequestMatcher(filter: RequestFilter): (request: IndexedRequest) => boolean {
  const { service, environment } = filter
  const bounds = parseTimeBounds(filter)
  return (request) =>
    (service === undefined || request.service === service) &&
    (environment === undefined || request.environment === environment) &&
    isWithin(bounds, request.timeMs)
}

function isWithin({ sinceMs, untilMs }: TimeBounds, timeMs: number): boolean {
  return (sinceMs === undefined || timeMs >= sinceMs) && (untilMs === undefined || timeMs < untilMs)
}

/** @throws IngestServiceError `QUERY`. */
export function parseCursor(cursor: string | undefined): number {
  if (cursor === undefined) return Infinity
  if (typeof cursor !== 'string' || !/^\d{1,15}$/.test(cursor)) throw createCursorError(cursor)
  return Number(cursor)
}

/** @throws IngestServiceError `QUERY`. */
export function parseLimit(limit = 100): number {
  const isValid = typeof limit === 'number' && limit >= 1 && (Number.isInteger(limit) || limit === Infinity)
  if (!isValid) throw createQueryError('limit', 'an integer from 1', limit)
  return limit
}

export function createCursorError(cursor: string): IngestServiceError {
  return createQueryError('cursor', 'the "next" of an earlier page', cursor)
}

/** A date, or a date and a time with an offset; also with the six digits of a year that JavaScript writes. */
const ISO_TIME = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/

function parseTime(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  // V8 also parses texts that are not ISO 8601, with unexpected results.
  const ms = typeof value === 'string' && ISO_TIME.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(ms)) throw createQueryError(name, 'an ISO 8601 time, as 2026-01-31T08:00:00Z', value)
  return ms
}

export function createQueryError(name: string, rule: string, value: unknown): IngestServiceError {
  return new IngestServiceError('QUERY', `${name} must be ${rule}, got ${describeValue(value)}`)
}
