/** Queries read from the parameters of a URL: the one place that knows their names and bounds over HTTP. */
import type { Level } from '../../protocol/log-entry.js'
import { VALUE_FIELDS } from './api-types.js'
import type { ValueField } from './api-types.js'
import { EQUALITY_NAMES, createQueryError } from './query-filters.js'
import type { EntryFilter, EntryQuery, RequestFilter, RouteQuery } from './query-filters.js'
import type { PageQuery } from '../store/store.js'

const FILTERS = ['level', ...EQUALITY_NAMES, 'tag', 'fingerprint', 'q', 'since', 'until']
const PAGE = ['limit', 'cursor']
const REQUEST_FILTERS = ['since', 'until', 'service', 'environment']

const MAX_LIMIT = 1000
const MAX_BUCKETS = 500
const DEFAULT_VALUES = 100
const DEFAULT_BUCKETS = 60

/*
 * Each of these throws IngestServiceError `QUERY` for an unknown or repeated parameter, or a wrong value. What only
 * a store can judge (a level, a time, a cursor) is judged there, so that a query in-process meets the same check.
 */

/** `GET /local/entries`. */
export function readEntryListQuery(parameters: URLSearchParams): { query: EntryQuery; isBrief: boolean } {
  const { view, ...rest } = singleValues(parameters, [...FILTERS, ...PAGE, 'view'])
  if (view !== undefined && view !== 'brief') throw createQueryError('view', 'brief, or left out', view)
  return { query: entryQuery(rest), isBrief: view === 'brief' }
}

/** `GET /local/counts`. */
export function readEntryFilter(parameters: URLSearchParams): EntryFilter {
  return entryFilter(singleValues(parameters, FILTERS))
}

/** `GET /local/histogram`. */
export function readHistogramQuery(parameters: URLSearchParams): { filter: EntryFilter; maxBuckets: number } {
  const { buckets, ...rest } = singleValues(parameters, [...FILTERS, 'buckets'])
  return { filter: entryFilter(rest), maxBuckets: bucketsOf(buckets) }
}

/** `GET /local/values/{field}`. */
export function readValuesQuery(parameters: URLSearchParams): { filter: EntryFilter; limit: number } {
  const { limit, ...rest } = singleValues(parameters, [...FILTERS, 'limit'])
  return { filter: entryFilter(rest), limit: limitOf(limit) ?? DEFAULT_VALUES }
}

/** The field in the path of `GET /local/values/{field}`. */
export function readValueField(name: string): ValueField {
  const field = VALUE_FIELDS.find((known) => known === name)
  if (field === undefined) throw createQueryError('field', `one of ${VALUE_FIELDS.join(', ')}`, name)
  return field
}

/** `GET /local/error-groups`. */
export function readErrorGroupsQuery(parameters: URLSearchParams): EntryQuery {
  return entryQuery(singleValues(parameters, [...FILTERS, ...PAGE]))
}

/** `GET /local/routes`. */
export function readRequestFilter(parameters: URLSearchParams): RequestFilter {
  return singleValues(parameters, REQUEST_FILTERS)
}

/** `GET /local/routes/latency`. */
export function readLatencyQuery(parameters: URLSearchParams): { query: RouteQuery; maxBuckets: number } {
  const values = singleValues(parameters, [...REQUEST_FILTERS, 'method', 'route', 'buckets'])
  const { method, route, buckets, ...filter } = values
  if (method === undefined) throw createQueryError('method', 'given, as GET', '')
  if (route === undefined) throw createQueryError('route', 'given, as /orders/:id', '')
  return { query: { ...filter, method, route }, maxBuckets: bucketsOf(buckets) }
}

/** Lists without filters. */
export function readPageQuery(parameters: URLSearchParams): PageQuery {
  const { limit, ...rest } = singleValues(parameters, PAGE)
  return { ...rest, ...pageLimit(limit) }
}

/** `GET /local/stream`. */
export function readStreamQuery(parameters: URLSearchParams): { filter: EntryFilter; afterSeq: number | undefined } {
  const { after, ...rest } = singleValues(parameters, [...FILTERS, 'after'])
  if (after !== undefined && !/^\d{1,15}$/.test(after)) throw createQueryError('after', 'the seq of an entry', after)
  return { filter: entryFilter(rest), afterSeq: after === undefined ? undefined : Number(after) }
}

function entryQuery({ limit, cursor, ...rest }: Record<string, string>): EntryQuery {
  return { ...entryFilter(rest), ...(cursor === undefined ? {} : { cursor }), ...pageLimit(limit) }
}

function entryFilter({ level, ...rest }: Record<string, string>): EntryFilter {
  return level === undefined ? rest : { ...rest, level: level.split(',') as Level[] }
}

function pageLimit(limit: string | undefined): { limit?: number } {
  const value = limitOf(limit)
  return value === undefined ? {} : { limit: value }
}

function limitOf(limit: string | undefined): number | undefined {
  return limit === undefined ? undefined : integerOf('limit', limit, MAX_LIMIT)
}

function bucketsOf(buckets: string | undefined): number {
  return buckets === undefined ? DEFAULT_BUCKETS : integerOf('buckets', buckets, MAX_BUCKETS)
}

function integerOf(name: string, text: string, max: number): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > max) throw createQueryError(name, `an integer from 1 to ${max}`, text)
  return value
}

function singleValues(parameters: URLSearchParams, known: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, value] of parameters) {
    if (!known.includes(name)) throw createQueryError('parameter', `one of ${known.join(', ')}`, name)
    if (Object.hasOwn(values, name)) throw createQueryError(name, 'given once', value)
    values[name] = value
  }
  return values
}
