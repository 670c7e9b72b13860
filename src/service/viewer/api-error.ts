/** An error reply from the service. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** Invalid part of the query; undefined for other errors. */
  readonly range: { readonly position: number; readonly length: number } | undefined

  constructor(status: number, message: string, range?: { readonly position: number; readonly length: number }) {
    super(message)
    this.status = status
    this.range = range
  }
}
