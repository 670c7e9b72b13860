/** The reply to `POST /ingest` (docs/protocol.md, Replies). */
import type { LogEntry } from './log-entry.js'

/** Body of `POST /ingest`. */
export interface IngestBatch {
  /** UUID or free-form string. */
  batch_id: string
  /** At most 100. */
  logs: LogEntry[]
}

/** One per rejected entry. */
export interface IngestResultError {
  /** Position in the submitted array. */
  index: number
  /** Code of the error, such as `VALIDATION_ERROR`. */
  code: string
  /** Name of the field that is wrong. */
  field: string
  /** Why the entry was rejected. */
  message: string
}

/** The code shown for items of `errors`; other codes are not shown. */
export const VALIDATION_ERROR = 'VALIDATION_ERROR'

/** Reply to `POST /ingest` (docs/protocol.md, Replies). */
export interface IngestResult {
  /** Number of entries that the log service accepted. */
  accepted: number
  /** Message of the log service. */
  message: string
  /** Number of entries that the log service rejected. */
  rejected: number
  /** One item per rejected entry. */
  errors: IngestResultError[]
}

/** The framework-style body of 422, and of 401 (there with `type` `auth_error` and no `loc`). */
export interface ErrorDetail {
  /** Path elements such as `body`, `logs`, an index, a field name. */
  loc?: (string | number)[]
  msg: string
  type: string
}

export interface ErrorDetailBody {
  detail: ErrorDetail[]
}
