/**
 * - `OPTION`: an option of the service is wrong; nothing was started.
 * - `PORT`: the port is taken or may not be used.
 * - `STORE`: the file of the store cannot be used, or the store cannot answer what was asked.
 * - `FAULT`: a scripted fault is not one of the known kinds or has a wrong field.
 * - `QUERY`: a query has an unknown filter or a wrong value.
 * - `TIMEOUT`: what was waited for did not come in time.
 * - `CLOSED`: the service was closed meanwhile.
 */
export type IngestServiceErrorCode = 'OPTION' | 'PORT' | 'STORE' | 'FAULT' | 'QUERY' | 'TIMEOUT' | 'CLOSED'

/** What the local service throws. Match on `code`; messages may be reworded. */
export class IngestServiceError extends Error {
  override readonly name = 'IngestServiceError'
  readonly code: IngestServiceErrorCode

  constructor(code: IngestServiceErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
