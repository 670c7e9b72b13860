export const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const

/** Level of an entry (docs/protocol.md, Log entry), from lowest to highest. */
export type Level = (typeof LEVELS)[number]

/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | JsonObject

/** An object that JSON can represent. */
export interface JsonObject {
  [key: string]: Json
}

/** User that an entry is about (docs/protocol.md, Log entry: `user`). */
export interface EntryUser {
  /** Id of the user, as text. */
  id?: string
  /** The user's e-mail address. */
  email?: string
  /** The user's name. */
  name?: string
}

/** Error of an entry (docs/protocol.md, Log entry: `error`). */
export interface EntryError {
  /** Class of the error, such as `TypeError`. */
  type?: string
  /** Message of the error. */
  message?: string
  /** Stack of the error, with those of its causes. */
  stack?: string
}

/** HTTP request of an entry (docs/protocol.md, Log entry: `request`). */
export interface EntryRequest {
  /** HTTP method, such as `GET`. */
  method?: string
  /** URL of the request. */
  url?: string
  /** Path of the URL, without the query. */
  path?: string
  /** Integer. */
  status_code?: number
  /** Milliseconds. */
  duration_ms?: number
  /** IP address of the client. */
  ip?: string
  /** Header `User-Agent`. */
  user_agent?: string
}

/** Measurements of an entry (docs/protocol.md, Log entry: `perf`). */
export interface EntryPerf {
  /** Milliseconds. */
  duration_ms?: number
  /** Megabytes. */
  memory_mb?: number
  /** Number of database queries. */
  db_queries?: number
  /** Number of cache hits. */
  cache_hits?: number
}

/** Ids that link an entry to a distributed trace (docs/protocol.md, Log entry: `trace`). */
export interface EntryTrace {
  /** Id of the trace. */
  trace_id?: string
  /** Id of the span. */
  span_id?: string
  /** Id of the parent span. */
  parent_span_id?: string
}

/** Deployment that logged an entry (docs/protocol.md, Log entry: `deploy`). */
export interface EntryDeploy {
  /** Hash of the commit. */
  commit?: string
  /** Name of the branch. */
  branch?: string
  /** User or system that started the deployment. */
  deployed_by?: string
}

/** Event before an error (docs/protocol.md, Log entry: `breadcrumbs`). */
export interface Breadcrumb {
  /** Such as `navigation`, `http`, `query`, `user`. */
  type?: string
  /** Such as `auth`, `cart`, `db`. */
  category?: string
  /** Text of the breadcrumb. */
  message?: string
  /** Such as `info`, `warn`, `error`. */
  level?: string
  /** ISO 8601. */
  timestamp?: string
  /** Other values. */
  data?: JsonObject
}

/**
 * A log entry: an element of `logs` (docs/protocol.md, Log entry). The interface does not say which fields of nested objects are required,
 * so all of them are optional here.
 */
export interface LogEntry {
  /** One of `debug`, `info`, `warn`, `error`, `fatal`. */
  level: Level
  /** The log message. */
  message: string
  /** ISO 8601, UTC, with milliseconds. */
  timestamp: string
  /** Service name: the application that logged the entry. */
  service?: string
  /** Environment, such as `production`. */
  environment?: string
  /** Version of the application. */
  version?: string
  /** Id of the user, as text. */
  user_id?: string
  /** The user. */
  user?: EntryUser
  /** Free-form fields. */
  metadata?: JsonObject
  /** Tags. */
  tags?: string[]
  /** The error. */
  error?: EntryError
  /** The HTTP request. */
  request?: EntryRequest
  /** Measurements. */
  perf?: EntryPerf
  /** Ids of the trace. */
  trace?: EntryTrace
  /** The deployment. */
  deploy?: EntryDeploy
  /** Events before the entry. */
  breadcrumbs?: Breadcrumb[]
  /** Value that the log service uses for de-duplication. */
  fingerprint?: string
  /** Action of the user or the program. */
  action?: string
  /** Id of the session. */
  session_id?: string
  /** From the response of release registration. */
  release_id?: string
  /** Id of the request. */
  request_id?: string
  /** Code location of the origin. */
  source?: string
  /** Requests a notification. */
  notify?: boolean
  /** Channels to notify. The interface does not list them. */
  notify_channels?: string[]
}
