/** W3C Trace Context, as far as two services need it to log under one trace id. */
import { randomBytes } from 'node:crypto'

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/

/** Ids of a new span: a child of the span that the header names, or the first of a trace. */
export function startSpan(traceparent = '') {
  const [, traceId, parentSpanId] = TRACEPARENT.exec(traceparent) ?? []
  return {
    trace_id: traceId ?? randomBytes(16).toString('hex'),
    span_id: randomBytes(8).toString('hex'),
    ...(parentSpanId !== undefined && { parent_span_id: parentSpanId }),
  }
}

export function traceparentOf(span) {
  return `00-${span.trace_id}-${span.span_id}-01`
}
