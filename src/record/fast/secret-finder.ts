/** Finds lines with a secret in a part that is sent. The fast path declines them, and the reference path removes the secret. */
import { findNextHeader } from '../../redaction/header-text.js'
import type { Redactor } from '../../redaction/redactor.js'
import { hasUserinfo, findNextEncodedAt } from '../../redaction/userinfo.js'
import { NextOccurrence } from './next-occurrence.js'

export class SecretFinder {
  readonly #headers = new NextOccurrence(findNextHeader)
  readonly #params: NextOccurrence
  readonly #ats = NextOccurrence.ofText('@')
  readonly #encodedAts = new NextOccurrence(findNextEncodedAt)

  constructor(redactor: Redactor | undefined) {
    this.#params = new NextOccurrence((text, from) => redactor?.findNextParam(text, from) ?? Infinity)
  }

  /** Must be called before the lines of another text. */
  reset(): void {
    this.#headers.reset()
    this.#params.reset()
    this.#ats.reset()
    this.#encodedAts.reset()
  }

  /** Lines must come in rising order. @param isUnsent whether the text at a position is not sent */
  hasSecret(text: string, start: number, end: number, isUnsent: (position: number) => boolean): boolean {
    return (
      has(this.#headers, text, start, end, isUnsent) ||
      has(this.#params, text, start, end, isUnsent) ||
      ((this.#ats.isWithin(text, start, end) || this.#encodedAts.isWithin(text, start, end)) &&
        hasUserinfo(text.slice(start, end)))
    )
  }
}

function has(
  places: NextOccurrence,
  text: string,
  start: number,
  end: number,
  isUnsent: (position: number) => boolean,
): boolean {
  for (let at = places.next(text, start); at < end; at = places.next(text, at + 1)) if (!isUnsent(at)) return true
  return false
}
