/**
 * Types only, opt-in: `import 'pino-ingest/augment'` once in a program, and pino's log calls know the entry's fields.
 *
 * The typing holds for the whole program, so it is never imposed: a field of another type under one of these names is
 * an error from then on. Needs pino 9.9 or later, which takes fields from `LogFnFields`.
 */
import type {} from 'pino'
import type { LogEntry } from './protocol/log-entry.js'

/** The entry's fields as a record may carry them. An error and a request are pino's own to serialize. */
export interface IngestLogFields extends Partial<Omit<LogEntry, MadeByPino | 'user_id' | 'request_id'>> {
  user_id?: string | number
  request_id?: string | number
  /** As `newEventId()` gives it; on the entry it is `metadata.event_id`. */
  event_id?: string
  /** The pattern that the request matched, for request analytics: `/orders/:id`. */
  route?: string
  trace_id?: string
  span_id?: string
  parent_span_id?: string
}

type MadeByPino = 'level' | 'message' | 'timestamp' | 'error' | 'request' | 'service' | 'environment' | 'version'

declare module 'pino' {
  interface LogFnFields extends IngestLogFields {}
}
