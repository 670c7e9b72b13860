/**
 * Opt-in types: after `import 'pino-ingest/augment'`, once in a program, pino's log calls check the types of the entry's fields.
 *
 * Opt-in because the types apply to the whole program: a field with one of these names and another type becomes a compile error.
 * Requires pino 9.9 or later, which reads fields from `LogFnFields`.
 */
import type {} from 'pino'
import type { LogEntry } from './protocol/log-entry.js'

/** The entry's fields that a record may have. Without `error` and `request`, which pino serializes itself. */
export interface IngestLogFields extends Partial<Omit<LogEntry, MadeByPino | 'user_id' | 'request_id'>> {
  user_id?: string | number
  request_id?: string | number
  /** As returned by `newEventId()`; on the entry it is `metadata.event_id`. */
  event_id?: string
  /** Route pattern of the request, for request analytics: `/orders/:id`. */
  route?: string
  trace_id?: string
  span_id?: string
  parent_span_id?: string
}

type MadeByPino = 'level' | 'message' | 'timestamp' | 'error' | 'request' | 'service' | 'environment' | 'version'

declare module 'pino' {
  interface LogFnFields extends IngestLogFields {}
}
