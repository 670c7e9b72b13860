/**
 * Reads all trace ids from the first source that has any, because ids from two sources may belong to different traces.
 */
import type { EntryTrace, Json, JsonObject } from '../../protocol/log-entry.js'
import { toIdText, isObject, take } from '../coerce.js'
import { takeDialectTrace } from './dialect-fields.js'
import type { DialectRecord } from './dialects.js'

/** The fields of `trace` with the keys that they are read from. */
export const TRACE_FIELDS = [
  ['trace_id', ['trace_id', 'traceId']],
  ['span_id', ['span_id', 'spanId']],
  ['parent_span_id', ['parent_span_id', 'parentSpanId']],
] as const

/** W3C Trace Context, section 3.2: version, trace-id, parent-id, flags. */
export const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/
const NO_TRACE = /^0+$/

export interface TraceParts {
  readonly trace: EntryTrace | undefined
  /** The `traceparent` of the request, if any. */
  readonly traceparent: Json | undefined
}

/** Removes the ids from `record`. @param header the request's `traceparent` */
export function takeTrace(record: JsonObject, dialect: DialectRecord, header: Json | undefined): TraceParts {
  const own =
    takeIds(record) ?? (isObject(record['trace']) ? takeIds(record['trace']) : undefined) ?? takeDialectTrace(dialect)
  const traceparent =
    header ??
    (own === undefined
      ? dialect.resolve('traceparent', undefined, (value) => (parseTraceparent(value) ? value : undefined))
      : undefined)
  const trace = own ?? parseTraceparent(traceparent) ?? (isObject(record['dd']) ? takeIds(record['dd']) : undefined)
  return { trace, traceparent }
}

function takeIds(from: JsonObject): EntryTrace | undefined {
  const ids: EntryTrace = {}
  for (const [field, keys] of TRACE_FIELDS) {
    const id = take(from, keys, toIdText)
    if (id !== undefined) ids[field] = id
  }
  return Object.keys(ids).length > 0 ? ids : undefined
}

/** The header has the caller's span, which is the parent of the span that logs. */
export function parseTraceparent(traceparent: Json | undefined): EntryTrace | undefined {
  const ids = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null
  if (ids === null || NO_TRACE.test(ids[1] as string)) return undefined
  return { trace_id: ids[1] as string, parent_span_id: ids[2] as string }
}

/** Whether these ids are from the header, without a span id. */
export function isCallersTrace(trace: EntryTrace | undefined, traceparent: Json | undefined): boolean {
  const callers = trace === undefined || trace.span_id !== undefined ? undefined : parseTraceparent(traceparent)
  return (
    callers !== undefined && callers.trace_id === trace?.trace_id && callers.parent_span_id === trace?.parent_span_id
  )
}
