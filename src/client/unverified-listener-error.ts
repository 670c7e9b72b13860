/** The listener was not verified as the local service of this user. Only the challenge was sent to it. */
export class UnverifiedListenerError extends Error {
  override readonly name = 'UnverifiedListenerError'
  /** Remedy for the user: a sentence without a full stop. */
  readonly remedy: string

  /** @param cause a sentence without a full stop */
  constructor(cause: string, remedy: string) {
    super(cause)
    this.remedy = remedy
  }
}
