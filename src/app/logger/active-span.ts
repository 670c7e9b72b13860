/**
 * [main] Reads the ids of OpenTelemetry's active span, if the application uses OpenTelemetry.
 *
 * Its API stores registrations under a symbol of the global object, which all its copies use (`global-utils` of
 * `@opentelemetry/api`); the context has the span under another symbol. Both names are fixed for major version 1.
 * Reading them needs no import, finds the copy that the application uses, and costs nothing without OpenTelemetry.
 */
import type { ScopeTrace } from '../scope/app-state.js'

const API = Symbol.for('opentelemetry.js.api.1')
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN')

interface Span {
  spanContext(): { readonly traceId?: unknown; readonly spanId?: unknown }
}

interface Registered {
  readonly context?: { active(): { getValue(key: symbol): Span | undefined } }
}

const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/
const SPAN_ID = /^(?!0{16})[0-9a-f]{16}$/

/** `undefined` if no span is active, its ids are invalid (OpenTelemetry, Trace API: IsValid), or the app's SDK throws. */
export function findActiveSpanIds(): ScopeTrace | undefined {
  const context = (globalThis as { [API]?: Registered })[API]?.context
  if (context === undefined) return undefined
  try {
    const { traceId, spanId } = context.active().getValue(SPAN)?.spanContext() ?? {}
    if (typeof traceId !== 'string' || typeof spanId !== 'string' || !TRACE_ID.test(traceId) || !SPAN_ID.test(spanId))
      return undefined
    return { trace_id: traceId, span_id: spanId }
  } catch {
    return undefined // a log call must not fail because of tracing
  }
}
