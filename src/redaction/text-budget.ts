/** [worker] How much of one entry custom expressions read: what is longer is not sent anyway, and would take its time. */

/** Read beyond the part that is kept: a secret at the cut matches if it is no longer than this, and is dropped if it does not match. */
const MARGIN_CHARS = 4_096
/** All texts of an entry together, in times of the longest one. */
const TEXTS = 2

export class TextBudget {
  readonly #maxChars: number
  #left: number

  /** @param maxChars of one text: at least the bytes of an entry, so that only entries are cut that are shortened anyway. */
  constructor(maxChars: number) {
    this.#maxChars = maxChars
    this.#left = maxChars * TEXTS
  }

  /** The text after `replace`; cut, with its length, where it is longer than what may be read. */
  apply(text: string, replace: (text: string) => string): string {
    const kept = Math.min(this.#left, this.#maxChars)
    this.#left -= Math.min(kept, text.length)
    if (text.length <= kept) return replace(text)
    const clean = kept === 0 ? '' : replace(text.slice(0, kept + MARGIN_CHARS)).slice(0, -MARGIN_CHARS)
    return `${clean.toWellFormed()}… (${text.length} characters)`
  }
}
