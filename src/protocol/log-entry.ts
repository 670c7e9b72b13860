/** A log entry: an element of `logs` (interface: Log entry). */

export const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const

export type Level = (typeof LEVELS)[number]

/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | JsonObject

export interface JsonObject {
  [key: string]: Json
}

export interface EntryUser {
  id?: string
  email?: string
  name?: string
}

export interface EntryError {
  type?: string
  message?: string
  stack?: string
}

export interface EntryRequest {
  method?: string
  url?: string
  path?: string
  /** Integer. */
  status_code?: number
  /** Milliseconds. */
  duration_ms?: number
  ip?: string
  user_agent?: string
}

export interface EntryPerf {
  /** Milliseconds. */
  duration_ms?: number
  /** Megabytes. */
  memory_mb?: number
  db_queries?: number
  cache_hits?: number
}

export interface EntryTrace {
  trace_id?: string
  span_id?: string
  parent_span_id?: string
}

export interface EntryDeploy {
  commit?: string
  branch?: string
  deployed_by?: string
}

export interface Breadcrumb {
  type?: string
  category?: string
  message?: string
  level?: string
  /** ISO 8601. */
  timestamp?: string
  data?: JsonObject
}

/** Which fields inside the nested objects are required is not shown; none is required here. */
export interface LogEntry {
  level: Level
  message: string
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string
  service?: string
  environment?: string
  version?: string
  user_id?: string
  user?: EntryUser
  metadata?: JsonObject
  tags?: string[]
  error?: EntryError
  request?: EntryRequest
  perf?: EntryPerf
  trace?: EntryTrace
  deploy?: EntryDeploy
  breadcrumbs?: Breadcrumb[]
  /** Value the service uses for de-duplication. */
  fingerprint?: string
  action?: string
  session_id?: string
  /** From the response of release registration. */
  release_id?: string
  request_id?: string
  /** Code location of the origin. */
  source?: string
  /** Requests a notification. */
  notify?: boolean
  notify_channels?: string[]
}
