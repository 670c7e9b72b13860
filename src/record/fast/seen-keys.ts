/** The names of a line's members, to find a second of the same name. */

/** They are compared one by one; beyond this number a parser is faster. */
const MAX_KEYS = 64

export class SeenKeys {
  /** Of a fixed length: emptied and filled again for each line, a list would be made anew each time. */
  readonly #keys: string[] = Array.from({ length: MAX_KEYS }, () => '')
  #count = 0

  reset(): void {
    this.#count = 0
  }

  /** A key may be a slice, and would hold the whole text that it came from. */
  clear(): void {
    this.#keys.fill('')
  }

  /** False where it is there already, or where there are too many. */
  add(key: string): boolean {
    const count = this.#count
    if (count === MAX_KEYS) return false
    for (let i = 0; i < count; i += 1) if (this.#keys[i] === key) return false
    this.#keys[count] = key
    this.#count = count + 1
    return true
  }
}
