/** The resources other than log entries (interface: Request log, Feedback, Release, Endpoints). */

/** Element of `requests` in `POST /ingest/requests`. The array's limit is not shown. */
export interface RequestLog {
  method: string
  path: string
  /** Integer. */
  status_code: number
  /** Milliseconds. */
  duration_ms: number
  /** Unique. */
  request_id: string
  /** ISO 8601. */
  timestamp: string
  /** Route pattern, for example with a `:id` placeholder. */
  route?: string
  /** Server hostname. */
  host?: string
  service?: string
  environment?: string
}

export interface RequestLogs {
  requests: RequestLog[]
}

/** Body of `POST /feedback`. */
export interface Feedback {
  /** Id of the log entry that the feedback attaches to. */
  event_id: string
  comments: string
  name?: string
  email?: string
}

/** Body of `POST /releases/register`. */
export interface Release {
  version: string
  commit_hash?: string
  branch?: string
  deployed_by?: string
  changelog?: string
}

/** Response of `POST /releases/register`; its other fields are not shown. */
export interface RegisteredRelease {
  release_id: string
}
