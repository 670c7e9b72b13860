/** Finds possible secrets in the parts of a line that are sent. Searches a chunk once instead of per line. */
import { findHeaderName, isHeaderAt } from '../../redaction/header-text.js'
import type { Redactor } from '../../redaction/redactor.js'
import { findNextEncodedAt, hasUserinfo } from '../../redaction/userinfo.js'
import { NextOccurrence } from './next-occurrence.js'

/** End of the unsent part that contains the position; -1 if the position is sent. */
export type UnsentEnd = (position: number) => number

export class SecretFinder {
  readonly #names = new NextOccurrence(findHeaderName)
  readonly #params: NextOccurrence
  readonly #ats = NextOccurrence.ofText('@')
  readonly #encodedAts = new NextOccurrence(findNextEncodedAt)

  constructor(redactor: Redactor | undefined) {
    this.#params = new NextOccurrence((text, from) => redactor?.findNextParam(text, from) ?? Infinity)
  }

  /** Must be called before searching the lines of another text. */
  reset(): void {
    this.#names.reset()
    this.#params.reset()
    this.#ats.reset()
    this.#encodedAts.reset()
  }

  /** Whether the line may contain a header or a credential. Lines must be passed in ascending order. */
  mayContainHeader(text: string, start: number, end: number, unsentEnd: UnsentEnd): boolean {
    let at = this.#names.next(text, start)
    while (at < end) {
      const after = unsentEnd(at)
      if (after === -1 && isHeaderAt(text, at)) return true
      at = this.#names.next(text, after === -1 ? at + 1 : after)
    }
    return false
  }

  /** Whether the line may contain a URL parameter or user info to redact. Lines must be passed in ascending order. */
  mayContainUrlSecret(text: string, start: number, end: number, unsentEnd: UnsentEnd): boolean {
    let at = this.#params.next(text, start)
    while (at < end) {
      const after = unsentEnd(at)
      if (after === -1) return true
      at = this.#params.next(text, after)
    }
    return (
      (this.#ats.isWithin(text, start, end) || this.#encodedAts.isWithin(text, start, end)) &&
      hasUserinfo(text.slice(start, end))
    )
  }
}
