/**
 * - `PORT`: the port is in use or may not be used.
 * - `STORE`: the file of `dbFile` cannot be used.
 * - `FAULT`: a scripted fault is not one of the known kinds or has an invalid field.
 * - `QUERY`: a query has an unknown filter or an invalid value.
 * - `TIMEOUT`: the expected entries did not arrive in time.
 * - `CLOSED`: the service was closed during the call.
 */
export type IngestServiceErrorCode = 'PORT' | 'STORE' | 'FAULT' | 'QUERY' | 'TIMEOUT' | 'CLOSED'

/** Thrown by the local service; for an invalid option or argument `IngestError` with code `CONFIG`. Match on `code`; messages may change. */
export class IngestServiceError extends Error {
  /** Always `IngestServiceError`. */
  override readonly name = 'IngestServiceError'
  /** Stable code of the failure; compare this and not the message. */
  readonly code: IngestServiceErrorCode
  /** Of `QUERY`, if a part of the filter `q` is invalid: offset and length of the part. */
  readonly position?: number
  /** Length of the part at `position`. */
  readonly length?: number

  constructor(
    code: IngestServiceErrorCode,
    message: string,
    cause?: unknown,
    part?: { readonly position: number; readonly length: number },
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    if (part === undefined) return
    this.position = part.position
    this.length = part.length
  }
}
