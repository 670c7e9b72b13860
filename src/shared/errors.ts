/**
 * The package's errors. Applications compare `code`, which is stable; messages may change.
 */

/**
 * - `CONFIG`: an option, a variable or an argument is missing or invalid. Nothing was sent.
 * - `INVALID`: a value passed to the client violates the log service's interface. Nothing was sent. In `ingest:problem`: a record is incomplete.
 * - `AUTH`: the log service rejected the key (401, 403).
 * - `REJECTED`: the log service rejected the content (400, 413, 422 and other 4xx).
 * - `RATE_LIMITED`: 429, and the attempts are used up; or a Retry-After ends after the call's `timeoutMs`.
 * - `UNAVAILABLE`: 408, 425, 5xx, a network failure or a timeout, and the attempts or the call's `timeoutMs` are used up.
 * - `MISDIRECTED`: a 3xx, 404 or 405, or a reply that is not the log service's, such as a login page; redirects are never followed.
 * - `SPOOL`: entries cannot be kept on disk, or stored entries are damaged. Sending continues. Only reported, never thrown.
 * - `ABORTED`: the caller's signal, or the client's `close()`, ended the call.
 */
export type IngestErrorCode =
  | 'CONFIG'
  | 'INVALID'
  | 'AUTH'
  | 'REJECTED'
  | 'RATE_LIMITED'
  | 'UNAVAILABLE'
  | 'MISDIRECTED'
  | 'SPOOL'
  | 'ABORTED'

export interface IngestErrorOptions {
  /** HTTP status of the reply, if there was one. */
  readonly status?: number
  /** Milliseconds until the log service may be asked again, if it sent a Retry-After. */
  readonly retryAfterMs?: number | undefined
  /** The underlying failure. Never contains the key or a token. */
  readonly cause?: unknown
}

/** The error class of this package. Message, stack and cause never contain the API key or a monitor token. */
export class IngestError extends Error {
  /** Always `IngestError`. */
  override readonly name = 'IngestError'
  /** Stable code of the failure; compare this and not the message. */
  readonly code: IngestErrorCode
  /** HTTP status of the reply; undefined without one. */
  readonly status: number | undefined
  /** Milliseconds from now until the log service may be asked again, if it sent a Retry-After (RFC 9110, section 10.2.3). */
  readonly retryAfterMs: number | undefined

  constructor(code: IngestErrorCode, message: string, options: IngestErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = options.status
    this.retryAfterMs = options.retryAfterMs
  }
}

/** @param error anything that was thrown */
export function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
