/** Headers with the ids of a trace: W3C Trace Context, B3 and AWS X-Ray. */
import type { EntryTrace, Json, JsonObject } from '../../protocol/log-entry.js'
import { toPlainText } from '../coerce.js'

/** W3C Trace Context, section 3.2: version (ff is none), trace-id, parent-id, flags; a later version may add to them. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/
/** openzipkin/b3-propagation, Single Header: trace, span, sampling state, parent span. */
const B3 = /^((?:[0-9a-f]{16}){1,2})-([0-9a-f]{16})(?:-[01d](?:-[0-9a-f]{16})?)?$/
/** AWS X-Ray, Tracing header, whose order varies; or the id of its root alone. */
const XRAY = /(?:^(?:Root=)?|; ?Root=)1-([0-9a-f]{8})-([0-9a-f]{24})(?=[;@]|$)/
const XRAY_PARENT = /(?:^|; ?)Parent=([0-9a-f]{16})(?=;|$)/
const NO_TRACE = /^0+$/

/** In lower case, as in Node's `request.headers`. */
export const TRACE_HEADERS = ['traceparent', 'b3', 'x-b3-traceid', 'x-b3-spanid', 'x-amzn-trace-id'] as const

/** The first header with the caller's ids, as one text. */
export function findTraceHeader(headers: JsonObject): Json | undefined {
  const [traceId, spanId] = [toPlainText(headers['x-b3-traceid']), toPlainText(headers['x-b3-spanid'])]
  const b3 = (traceId ?? spanId) === undefined ? undefined : `${traceId ?? ''}-${spanId ?? ''}`
  return [headers['traceparent'], headers['b3'], b3, headers['x-amzn-trace-id']].find(parseTraceHeader)
}

/**
 * The ids of the caller in the form of OpenTelemetry: the header has the caller's span, which is the parent of the span
 * that logs. As by OpenTelemetry's propagators, a trace id of B3 with 16 digits is padded.
 */
export function parseTraceHeader(header: Json | undefined): EntryTrace | undefined {
  if (typeof header !== 'string') return undefined
  const w3c = parseTraceparent(header)
  if (w3c !== undefined) return w3c
  const [, traceId, spanId] = B3.exec(header) ?? []
  if (traceId === undefined || spanId === undefined) return parseXRay(header)
  return NO_TRACE.test(traceId) ? undefined : { trace_id: traceId.padStart(32, '0'), parent_span_id: spanId }
}

export function parseTraceparent(header: string): { trace_id: string; parent_span_id: string } | undefined {
  const [, traceId, spanId] = TRACEPARENT.exec(header) ?? []
  return traceId === undefined || spanId === undefined ? undefined : { trace_id: traceId, parent_span_id: spanId }
}

export function parseXRay(text: string): (EntryTrace & { trace_id: string }) | undefined {
  const root = XRAY.exec(text)
  if (root === null) return undefined
  const parent = XRAY_PARENT.exec(text)?.[1]
  return { trace_id: `${root[1]}${root[2]}`, ...(parent !== undefined && { parent_span_id: parent }) }
}
