/** The resources other than log entries (docs/protocol.md). */

/** Element of `requests` in `POST /ingest/requests`. The array's limit is not shown. */
export interface RequestLog {
  /** HTTP method, such as `GET`. */
  method: string
  /** Path of the request. */
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
  /** Service name: the application that logged the request. */
  service?: string
  /** Environment, such as `production`. */
  environment?: string
}

export interface RequestLogs {
  requests: RequestLog[]
}

/** Body of `POST /feedback`. */
export interface Feedback {
  /** Id of the log entry that the feedback attaches to. */
  event_id: string
  /** Text of the user. */
  comments: string
  /** The user's name. */
  name?: string
  /** The user's e-mail address. */
  email?: string
}

/** Body of `POST /releases/register`. */
export interface Release {
  /** Version of the release. */
  version: string
  /** Hash of the commit. */
  commit_hash?: string
  /** Name of the branch. */
  branch?: string
  /** User or system that started the deployment. */
  deployed_by?: string
  /** Changes, as text for readers. */
  changelog?: string
}

/** Response of `POST /releases/register`; its other fields are not shown. */
export interface RegisteredRelease {
  /** Value of `release_id` in later log entries, which links them to the release. */
  release_id: string
}
