/** Remembers a number for each of the keys that records repeat. */

/** Limits the memory, since keys may be any. */
const MAX_KNOWN = 2_000
const MAX_CHARS = 64

export class TextMemo {
  readonly #compute: (text: string) => number
  readonly #known = new Map<string, number>()

  /** @param compute without side effects */
  constructor(compute: (text: string) => number) {
    this.#compute = compute
  }

  get(text: string): number {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const value = this.#compute(text)
    if (text.length > MAX_CHARS) return value
    if (this.#known.size === MAX_KNOWN) this.#known.clear()
    // V8 copies keys of objects, and compares them by address. A slice would keep its whole line in memory.
    for (const key of Object.keys({ [text]: value })) this.#known.set(key, value)
    return value
  }
}
