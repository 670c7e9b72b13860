/** [worker] Limits the text of one entry that custom expressions read. The rest would be cut from the entry anyway. */

/** Characters read beyond the kept part. A secret of up to this length matches even at the cut. */
export const MARGIN_CHARS = 4_096
/** Limit for all texts of an entry, as a multiple of the limit for one text. */
const TEXTS = 2
const LENGTH_NOTE = /… \(\d{1,9} characters\)$/
const MAX_NOTE_CHARS = 24

export class TextBudget {
  readonly #maxChars: number
  #left: number

  /**
   * @param maxChars limit for one text: at least the maximum bytes of an entry, so only texts that are shortened anyway
   * are cut
   */
  constructor(maxChars: number) {
    this.#maxChars = maxChars
    this.#left = maxChars * TEXTS
  }

  /** Applies `replace`. A text beyond the limit is cut, and its original length is appended. */
  apply(text: string, replace: (text: string) => string): string {
    const kept = Math.min(this.#left, this.#maxChars)
    this.#left -= Math.min(kept, text.length)
    if (text.length <= kept) return replace(text)
    const clean = kept === 0 ? '' : replace(text.slice(0, kept + MARGIN_CHARS)).slice(0, -MARGIN_CHARS)
    return `${clean.toWellFormed()}${createLengthNote(text)}`
  }
}

/** Follows the kept part of a text. Has the original length even if the text was cut before. */
export function createLengthNote(text: string): string {
  return LENGTH_NOTE.exec(text.slice(-MAX_NOTE_CHARS))?.[0] ?? `… (${text.length} characters)`
}
