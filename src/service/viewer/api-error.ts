/** A refusal of the service. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** Where the query is wrong; undefined if the refusal is about something else. */
  readonly range: { readonly position: number; readonly length: number } | undefined

  constructor(status: number, message: string, range?: { readonly position: number; readonly length: number }) {
    super(message)
    this.status = status
    this.range = range
  }
}
