/** Filters over entries and request logs: typed, checked, and applied (pure). */
import { LEVELS } from '../../protocol/log-entry.js'
import type { Level, LogEntry } from '../../protocol/log-entry.js'
import { LazyFacts } from '../analytics/record-facts.js'
import type { EntryFacts, RequestFacts } from '../analytics/record-facts.js'
import { IngestServiceError } from '../ingest-service-error.js'

/** All of them must match. */
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
  /** Text found, whatever its case, in the message, the service, the action, the error or the metadata's JSON. */
  readonly q?: string
  /** Entries whose timestamp is at or after this, ISO 8601. */
  readonly since?: string
  /** Entries whose timestamp is before this, ISO 8601. */
  readonly until?: string
}

export interface EntryQuery extends EntryFilter {
  /** Default 100; over HTTP at most 1,000, in-process unbounded. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly cursor?: string
}

export const DEFAULT_LIMIT = 100

/** Filters over request logs; by their timestamp. */
export interface RequestFilter {
  readonly since?: string
  readonly until?: string
  readonly service?: string
  readonly environment?: string
}

/** One route, as `RouteStats` names it. */
export interface RouteQuery extends RequestFilter {
  readonly method: string
  readonly route: string
}

/** Filters that compare one field. */
export const EQUALITY_NAMES = ['service', 'environment', 'version', 'release_id', 'trace_id', 'request_id'] as const

export type EqualityFilter = (typeof EQUALITY_NAMES)[number]

/** A filter whose values were checked and brought into the form that is compared. */
export interface ParsedEntryFilter {
  readonly levels: readonly Level[] | undefined
  readonly equals: readonly (readonly [EqualityFilter, string])[]
  readonly tag: string | undefined
  readonly fingerprint: string | undefined
  /** Lower case. */
  readonly text: string | undefined
  readonly sinceMs: number | undefined
  readonly untilMs: number | undefined
}

/** @throws IngestServiceError `QUERY`. */
export function parseEntryFilter(filter: EntryFilter): ParsedEntryFilter {
  const levels = filter.level === undefined ? undefined : [filter.level].flat()
  const unknown = levels?.find((level) => !LEVELS.includes(level))
  if (unknown !== undefined) throw createQueryError('level', `one of ${LEVELS.join(', ')}`, unknown)
  const equals = EQUALITY_NAMES.flatMap((name): (readonly [EqualityFilter, string])[] => {
    const value = filter[name]
    return value === undefined ? [] : [[name, value]]
  })
  return {
    levels,
    equals,
    tag: filter.tag,
    fingerprint: filter.fingerprint,
    text: filter.q === undefined || filter.q === '' ? undefined : filter.q.toLowerCase(),
    sinceMs: timeOf('since', filter.since),
    untilMs: timeOf('until', filter.until),
  }
}

export function matches(filter: ParsedEntryFilter, entry: LogEntry): boolean {
  return matchesFacts(filter, new LazyFacts(entry))
}

/** In the order of what each costs. */
export function matchesFacts(filter: ParsedEntryFilter, facts: EntryFacts): boolean {
  if (filter.levels !== undefined && !filter.levels.includes(facts.level)) return false
  for (const [name, value] of filter.equals) if (facts[name] !== value) return false
  if (filter.tag !== undefined && !facts.tags?.includes(filter.tag)) return false
  if ((filter.sinceMs !== undefined || filter.untilMs !== undefined) && !isWithin(filter, facts.timeMs)) return false
  if (filter.fingerprint !== undefined && facts.group !== filter.fingerprint) return false
  return filter.text === undefined || facts.search.includes(filter.text)
}

/** From `sinceMs`, and before `untilMs`. */
export interface TimeBounds {
  readonly sinceMs: number | undefined
  readonly untilMs: number | undefined
}

export function isWithin({ sinceMs, untilMs }: TimeBounds, timeMs: number): boolean {
  return (sinceMs === undefined || timeMs >= sinceMs) && (untilMs === undefined || timeMs < untilMs)
}

export interface ParsedRequestFilter extends TimeBounds {
  readonly service: string | undefined
  readonly environment: string | undefined
}

/** @throws IngestServiceError `QUERY`. */
export function parseRequestFilter({ service, environment, since, until }: RequestFilter): ParsedRequestFilter {
  return { service, environment, sinceMs: timeOf('since', since), untilMs: timeOf('until', until) }
}

export function matchesRequest(filter: ParsedRequestFilter, facts: RequestFacts): boolean {
  if (filter.service !== undefined && facts.service !== filter.service) return false
  if (filter.environment !== undefined && facts.environment !== filter.environment) return false
  return isWithin(filter, facts.timeMs)
}

/** @throws IngestServiceError `QUERY`. */
export function parseCursor(cursor: string | undefined): number {
  if (cursor === undefined) return Infinity
  if (!/^\d{1,15}$/.test(cursor)) throw createCursorError(cursor)
  return Number(cursor)
}

/** @throws IngestServiceError `QUERY`. */
export function parseLimit(limit: number | undefined): number {
  if (limit === undefined) return DEFAULT_LIMIT
  if (!(limit >= 1) || !(Number.isInteger(limit) || limit === Infinity)) {
    throw createQueryError('limit', 'an integer from 1', String(limit))
  }
  return limit
}

export function createCursorError(cursor: string): IngestServiceError {
  return createQueryError('cursor', 'the "next" of an earlier page', cursor)
}

/** A date, or a date and a time with an offset; also with the six digits of a year that JavaScript writes. */
const ISO_TIME = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/

function timeOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  // What V8 reads beyond ISO 8601 is a filter that means nothing to who gave it.
  const ms = ISO_TIME.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(ms)) throw createQueryError(name, 'an ISO 8601 time, as 2026-01-31T08:00:00Z', value)
  return ms
}

export function createQueryError(name: string, rule: string, value: string): IngestServiceError {
  return new IngestServiceError('QUERY', `${name} must be ${rule}, got ${JSON.stringify(value.slice(0, 100))}`)
}
