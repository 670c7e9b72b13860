/** Remembers the next place of something rare in a text, so that a whole chunk is searched once and not per line. */
export class NextOccurrence {
  readonly #find: (text: string, from: number) => number
  #next = -1

  /** @param find position at or after `from`, or Infinity. */
  constructor(find: (text: string, from: number) => number) {
    this.#find = find
  }

  static ofText(part: string): NextOccurrence {
    return new NextOccurrence((text, from) => {
      const at = text.indexOf(part, from)
      return at === -1 ? Infinity : at
    })
  }

  /** To be called for each new text. */
  reset(): void {
    this.#next = -1
  }

  /** Position of the next at or after `from`, or Infinity. Positions come in rising order. */
  next(text: string, from: number): number {
    if (this.#next < from) this.#next = this.#find(text, from)
    return this.#next
  }

  /** Whether the range holds one. Ranges come in rising order. */
  isWithin(text: string, start: number, end: number): boolean {
    return this.next(text, start) < end
  }
}
