/**
 * Reads all trace ids from the first source that has any, because ids from two sources may belong to different traces.
 */
import type { EntryTrace, Json, JsonObject } from '../../protocol/log-entry.js'
import { toIdText, isObject, take } from '../coerce.js'
import { takeDialectTrace } from './dialect-fields.js'
import type { DialectRecord } from './dialects.js'
import { findTraceHeader, parseTraceHeader, parseXRay } from './trace-header.js'

/** The fields of `trace` with the keys that they are read from. */
export const TRACE_FIELDS = [
  ['trace_id', ['trace_id', 'traceId']],
  ['span_id', ['span_id', 'spanId']],
  ['parent_span_id', ['parent_span_id', 'parentSpanId']],
] as const

export interface TraceParts {
  readonly trace: EntryTrace | undefined
  /** The header with the ids of the request's caller, if any. */
  readonly header: Json | undefined
}

/** Removes the ids from `record`. @param requestHeader as returned by `findTraceHeader` for the request's headers */
export function takeTrace(record: JsonObject, dialect: DialectRecord, requestHeader: Json | undefined): TraceParts {
  const own =
    takeIds(record) ?? (isObject(record['trace']) ? takeIds(record['trace']) : undefined) ?? takeDialectTrace(dialect)
  let header = requestHeader
  // The headers themselves are not sent.
  dialect.resolve(
    'headers',
    undefined,
    (value) => void (header ??= isObject(value) ? findTraceHeader(value) : undefined),
  )
  if (own === undefined)
    header ??= dialect.resolve('traceparent', undefined, (value) => (parseTraceHeader(value) ? value : undefined))
  return { trace: own ?? parseTraceHeader(header), header }
}

function takeIds(from: JsonObject): EntryTrace | undefined {
  const ids: EntryTrace = {}
  for (const [field, keys] of TRACE_FIELDS) {
    const id = take(from, keys, toIdText)
    if (id !== undefined) ids[field] = id
  }
  const header = ids.trace_id === undefined ? undefined : parseXRay(ids.trace_id)
  if (header !== undefined) return { ...header, ...ids, trace_id: header.trace_id }
  return Object.keys(ids).length > 0 ? ids : undefined
}

/** Whether these ids are from the header, without a span id. */
export function isCallersTrace(trace: EntryTrace | undefined, header: Json | undefined): boolean {
  const callers = trace === undefined || trace.span_id !== undefined ? undefined : parseTraceHeader(header)
  return (
    callers !== undefined && callers.trace_id === trace?.trace_id && callers.parent_span_id === trace?.parent_span_id
  )
}
