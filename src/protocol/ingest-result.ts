/** `POST /ingest` (interface: POST /ingest, Ingest result, Errors). */
import type { LogEntry } from './log-entry.js'

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
  code: string
  field: string
  message: string
}

/** The code shown for items of `errors`; other codes are not shown. */
export const VALIDATION_ERROR = 'VALIDATION_ERROR'

export interface IngestResult {
  accepted: number
  message: string
  rejected: number
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
