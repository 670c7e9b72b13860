/** Caches the position of the next match of a rare pattern, so a chunk is searched once instead of per line. */
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

  /** Must be called before searching another text. */
  reset(): void {
    this.#next = -1
  }

  /** Position of the next match at or after `from`, or Infinity. `from` must not decrease. */
  next(text: string, from: number): number {
    if (this.#next < from) this.#next = this.#find(text, from)
    return this.#next
  }

  /** Whether the range contains a match. Ranges must be passed in ascending order. */
  isWithin(text: string, start: number, end: number): boolean {
    return this.next(text, start) < end
  }
}
