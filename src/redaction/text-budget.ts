/** [worker] Limits the text of one entry that custom expressions read. The rest would be cut from the entry anyway. */

/** Read beyond the part that is kept: a secret at the cut matches if it is no longer than this, and is dropped if it does not match. */
const MARGIN_CHARS = 4_096
/** All texts of an entry together, as a multiple of one text's limit. */
const TEXTS = 2

export class TextBudget {
  readonly #maxChars: number
  #left: number

  /** @param maxChars of one text: at least the bytes of an entry, so that only texts that are shortened anyway are cut */
  constructor(maxChars: number) {
    this.#maxChars = maxChars
    this.#left = maxChars * TEXTS
  }

  /** The result of `replace`. A text beyond the limit is cut, and its length appended. */
  apply(text: string, replace: (text: string) => string): string {
    const kept = Math.min(this.#left, this.#maxChars)
    this.#left -= Math.min(kept, text.length)
    if (text.length <= kept) return replace(text)
    const clean = kept === 0 ? '' : replace(text.slice(0, kept + MARGIN_CHARS)).slice(0, -MARGIN_CHARS)
    return `${clean.toWellFormed()}… (${text.length} characters)`
  }
}
