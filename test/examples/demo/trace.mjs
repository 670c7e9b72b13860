/** The part of W3C Trace Context that two services need to share a trace id. */
import { randomBytes } from 'node:crypto'

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/

/** Creates the ids of a new span: a child of the span in the header, or the root of a new trace. */
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
