/**
 * Types only, opt-in: `import 'pino-ingest/augment'` once in a program, and pino's log calls know the entry's fields.
 *
 * The typing holds for the whole program, so it is never imposed: a field of another type under one of these names is
 * an error from then on. Needs pino 9.9 or later, which takes fields from `LogFnFields`.
 */
import type {} from 'pino'
import type { Breadcrumb, EntryDeploy, EntryPerf, EntryTrace, EntryUser, JsonObject } from './protocol/entry.js'

export interface IngestLogFields {
  user?: EntryUser
  user_id?: string | number
  session_id?: string
  request_id?: string | number
  release_id?: string
  tags?: string[]
  metadata?: JsonObject
  perf?: EntryPerf
  trace?: EntryTrace
  deploy?: EntryDeploy
  breadcrumbs?: Breadcrumb[]
  /** Value the service uses for de-duplication. */
  fingerprint?: string
  action?: string
  /** Code location of the origin. */
  source?: string
  /** Requests a notification. */
  notify?: boolean
  notify_channels?: string[]
}

declare module 'pino' {
  interface LogFnFields extends IngestLogFields {}
}
