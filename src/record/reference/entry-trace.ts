/**
 * Reads all trace ids from the first source that has any, because ids from two sources may belong to different traces.
 */
import type { EntryTrace, JsonObject } from '../../protocol/log-entry.js'
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
  /** The ids of the request's caller, if any. */
  readonly callers: EntryTrace | undefined
}

/** Removes the ids from `record`. @param requestCallers in the headers of the request */
export function takeTrace(
  record: JsonObject,
  dialect: DialectRecord,
  requestCallers: EntryTrace | undefined,
): TraceParts {
  const own =
    takeIds(record) ?? (isObject(record['trace']) ? takeIds(record['trace']) : undefined) ?? takeDialectTrace(dialect)
  let callers = requestCallers
  // The headers themselves are not sent.
  dialect.resolve(
    'headers',
    undefined,
    (value) => void (callers ??= isObject(value) ? parseTraceHeader(findTraceHeader(value)) : undefined),
  )
  if (own === undefined)
    callers ??= parseTraceHeader(dialect.resolve('traceparent', undefined, (value) => parseTraceHeader(value) && value))
  return { trace: own ?? callers, callers }
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
