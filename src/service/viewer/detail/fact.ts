/** Names and values for the lists of the panel, with their fields in the query language (pure). */
import type { LogEntry } from '../../../protocol/log-entry.js'
import { formatDuration } from '../view-format.js'
import type { Path } from './tree.js'

/** A value that the query language can compare. */
export type FieldValue = string | number | boolean | null

export interface Fact {
  readonly name: string
  /** Field of the query language; null if filters cannot use the value. */
  readonly field: string | null
  readonly value: FieldValue
  readonly text?: string | undefined
}

type Row = readonly [name: string, field: string | null, value: FieldValue | undefined, text?: string | undefined]

/**
 * Lists the facts that the entry has, by section. Ids of the request and the trace are in the panel's head.
 * @param group computed fingerprint of an entry that was sent without one
 */
export function listFacts(entry: LogEntry, group?: string): Readonly<Record<string, readonly Fact[]>> {
  const { request, user, perf, trace, deploy, fingerprint } = entry
  return {
    Request: createFacts([
      ['Method', 'method', request?.method],
      ['Path', 'path', request?.path],
      ['URL', 'url', request?.url === request?.path ? undefined : request?.url],
      ['Status', 'status', request?.status_code],
      ['Duration', 'duration', request?.duration_ms, formatOptional(request?.duration_ms)],
      ['IP', 'ip', request?.ip],
      ['User agent', 'user_agent', request?.user_agent],
    ]),
    User: createFacts([
      ['Id', 'user', user?.id],
      ['User id', 'user', entry.user_id === user?.id ? undefined : entry.user_id],
      ['Name', 'user.name', user?.name],
      ['E-mail', 'user.email', user?.email],
      ['Session', 'session_id', entry.session_id],
    ]),
    Performance: createFacts([
      ['Duration', 'perf.duration_ms', perf?.duration_ms, formatOptional(perf?.duration_ms)],
      ['Memory', 'perf.memory_mb', perf?.memory_mb, perf?.memory_mb === undefined ? undefined : `${perf.memory_mb} MB`],
      ['Database queries', 'perf.db_queries', perf?.db_queries],
      ['Cache hits', 'perf.cache_hits', perf?.cache_hits],
    ]),
    Context: createFacts([
      ['Action', 'action', entry.action],
      ['Source', 'source', entry.source],
      ['Span id', 'span_id', trace?.span_id],
      ['Parent span', 'parent_span_id', trace?.parent_span_id],
      [fingerprint === undefined ? 'Error group' : 'Fingerprint', 'fingerprint', fingerprint ?? group],
      ['Commit', 'deploy.commit', deploy?.commit],
      ['Branch', 'deploy.branch', deploy?.branch],
      ['Deployed by', 'deploy.deployed_by', deploy?.deployed_by],
      ['Notify', null, formatNotify(entry)],
    ]),
  }
}

function createFacts(rows: readonly Row[]): readonly Fact[] {
  return rows.flatMap(([name, field, value, text]) =>
    value === undefined || value === '' ? [] : [{ name, field, value, text }],
  )
}

function formatOptional(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatDuration(ms)
}

function formatNotify({ notify, notify_channels: channels }: LogEntry): string | undefined {
  if (notify === undefined && channels === undefined) return undefined
  const names = channels === undefined || channels.length === 0 ? '' : `: ${channels.slice(0, 20).join(', ')}`
  return `${notify === false ? 'not requested' : 'requested'}${names}`
}

/** Longer values do not fit into a URL. */
export const MAX_FILTER_CHARS = 500

export function isFilterable(value: FieldValue): boolean {
  return typeof value !== 'string' || (value !== '' && value.length <= MAX_FILTER_CHARS)
}

/** Omits indices, because a term matches any element of an array. */
export function toMetadataField(path: Path): string {
  return ['metadata', ...path.filter((key) => typeof key === 'string')].join('.')
}

/** Fields whose values are too long for a column. */
const LONG_FIELDS = ['breadcrumbs', 'error.message', 'error.stack']

export function isColumnName(field: string): boolean {
  return field !== '' && !LONG_FIELDS.includes(field)
}

export function toggleColumn(columns: readonly string[], field: string): readonly string[] {
  return columns.includes(field) ? columns.filter((one) => one !== field) : [...columns, field]
}
