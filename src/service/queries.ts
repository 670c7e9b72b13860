/** Filters over entries: typed, read from a URL's query, and applied to an entry (pure). */
import { LEVELS } from '../protocol/entry.js'
import type { Level, LogEntry } from '../protocol/entry.js'
import { IngestServiceError } from './errors.js'

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
const MAX_HTTP_LIMIT = 1000

/** Filters that compare one field of the entry, and where it stands. */
export const EQUALITY_FILTERS = {
  service: (entry: LogEntry) => entry.service,
  environment: (entry: LogEntry) => entry.environment,
  version: (entry: LogEntry) => entry.version,
  release_id: (entry: LogEntry) => entry.release_id,
  trace_id: (entry: LogEntry) => entry.trace?.trace_id,
  request_id: (entry: LogEntry) => entry.request_id,
} as const

export type EqualityFilter = keyof typeof EQUALITY_FILTERS

const EQUALITY_NAMES = Object.keys(EQUALITY_FILTERS) as EqualityFilter[]

/** A filter whose values were checked and brought into the form that is compared. */
export interface CheckedFilter {
  readonly levels: readonly Level[] | undefined
  readonly equals: readonly (readonly [EqualityFilter, string])[]
  readonly tag: string | undefined
  /** Lower case. */
  readonly text: string | undefined
  readonly sinceMs: number | undefined
  readonly untilMs: number | undefined
}

/** @throws IngestServiceError `QUERY`. */
export function checkFilter(filter: EntryFilter): CheckedFilter {
  const levels = filter.level === undefined ? undefined : [filter.level].flat()
  const unknown = levels?.find((level) => !LEVELS.includes(level))
  if (unknown !== undefined) throw wrong('level', `one of ${LEVELS.join(', ')}`, unknown)
  const equals = EQUALITY_NAMES.flatMap((name): (readonly [EqualityFilter, string])[] => {
    const value = filter[name]
    return value === undefined ? [] : [[name, value]]
  })
  return {
    levels,
    equals,
    tag: filter.tag,
    text: filter.q === undefined || filter.q === '' ? undefined : filter.q.toLowerCase(),
    sinceMs: timeOf('since', filter.since),
    untilMs: timeOf('until', filter.until),
  }
}

export function matches(filter: CheckedFilter, entry: LogEntry): boolean {
  if (filter.levels !== undefined && !filter.levels.includes(entry.level)) return false
  for (const [name, value] of filter.equals) if (EQUALITY_FILTERS[name](entry) !== value) return false
  if (filter.tag !== undefined && !entry.tags?.includes(filter.tag)) return false
  if (filter.sinceMs !== undefined && Date.parse(entry.timestamp) < filter.sinceMs) return false
  if (filter.untilMs !== undefined && Date.parse(entry.timestamp) >= filter.untilMs) return false
  return filter.text === undefined || searchText(entry).includes(filter.text)
}

/** Parts are kept apart by U+001F, so that a text is not found across two of them. */
export function searchText(entry: LogEntry): string {
  const { message, service, action, error, metadata } = entry
  const parts = [message, service, action, error?.type, error?.message, error?.stack]
  if (metadata !== undefined) parts.push(JSON.stringify(metadata))
  return parts.join('\u001f').toLowerCase()
}

/** The event id under which feedback names an entry: the service's interface does not show where it stands. */
export function eventIdOf(entry: LogEntry): string | undefined {
  const id = entry.metadata?.['event_id']
  return typeof id === 'string' ? id : undefined
}

/** @throws IngestServiceError `QUERY`. */
export function cursorSeq(cursor: string | undefined): number {
  if (cursor === undefined) return Infinity
  if (!/^\d{1,15}$/.test(cursor)) throw wrong('cursor', 'the "next" of an earlier page', cursor)
  return Number(cursor)
}

/** @throws IngestServiceError `QUERY`. */
export function limitOf(limit: number | undefined): number {
  if (limit === undefined) return DEFAULT_LIMIT
  if (!(limit >= 1) || !(Number.isInteger(limit) || limit === Infinity)) {
    throw wrong('limit', 'an integer from 1', String(limit))
  }
  return limit
}

const FILTER_PARAMETERS = ['level', ...EQUALITY_NAMES, 'tag', 'q', 'since', 'until']
const PAGE_PARAMETERS = ['limit', 'cursor']

/** @throws IngestServiceError `QUERY` for an unknown or repeated parameter, or a wrong value. */
export function entryQueryOf(parameters: URLSearchParams): EntryQuery {
  const values = singleValues(parameters, [...FILTER_PARAMETERS, ...PAGE_PARAMETERS])
  const { level, limit, ...rest } = values
  return {
    ...rest,
    ...(level === undefined ? {} : { level: level.split(',') as Level[] }),
    ...httpLimit(limit),
  }
}

/** @throws IngestServiceError as `entryQueryOf`. */
export function pageQueryOf(parameters: URLSearchParams): { limit?: number; cursor?: string } {
  const { limit, ...rest } = singleValues(parameters, PAGE_PARAMETERS)
  return { ...rest, ...httpLimit(limit) }
}

function singleValues(parameters: URLSearchParams, known: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, value] of parameters) {
    if (!known.includes(name)) throw wrong('parameter', `one of ${known.join(', ')}`, name)
    if (Object.hasOwn(values, name)) throw wrong(name, 'given once', value)
    values[name] = value
  }
  return values
}

function httpLimit(limit: string | undefined): { limit?: number } {
  if (limit === undefined) return {}
  const value = /^\d{1,6}$/.test(limit) ? Number(limit) : 0
  if (value < 1 || value > MAX_HTTP_LIMIT) throw wrong('limit', `an integer from 1 to ${MAX_HTTP_LIMIT}`, limit)
  return { limit: value }
}

function timeOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = Date.parse(value)
  if (Number.isNaN(ms)) throw wrong(name, 'an ISO 8601 time', value)
  return ms
}

function wrong(name: string, rule: string, value: string): IngestServiceError {
  return new IngestServiceError('QUERY', `${name} must be ${rule}, got ${JSON.stringify(value.slice(0, 100))}`)
}
