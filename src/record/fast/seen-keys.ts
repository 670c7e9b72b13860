/** The keys of a line's members, to find duplicates. */

/** Keys are compared one by one; beyond this number a parser is faster. */
const MAX_KEYS = 64

export class SeenKeys {
  /** Of a fixed length: a list that is emptied for each line would be allocated again each time. */
  readonly #keys: string[] = Array.from({ length: MAX_KEYS }, () => '')
  #count = 0

  reset(): void {
    this.#count = 0
  }

  /** Releases the keys: a slice keeps the whole text in memory. */
  clear(): void {
    this.#keys.fill('')
  }

  /** False for a duplicate, and if there are too many keys. */
  add(key: string): boolean {
    const count = this.#count
    if (count === MAX_KEYS) return false
    for (let i = 0; i < count; i += 1) if (this.#keys[i] === key) return false
    this.#keys[count] = key
    this.#count = count + 1
    return true
  }
}
