/** The keys of a line's members, to find duplicates. */

/** Keys are compared one by one up to this number; beyond it a Set is faster. */
const COMPARED_KEYS = 16

export class SeenKeys {
  /** Of a fixed length: a list that is emptied for each line would be allocated again each time. */
  readonly #keys: string[] = Array.from({ length: COMPARED_KEYS }, () => '')
  #count = 0
  readonly #others = new Set<string>()

  reset(): void {
    this.#count = 0
    if (this.#others.size > 0) this.#others.clear()
  }

  /** False for a duplicate. */
  add(key: string): boolean {
    const count = this.#count
    for (let i = 0; i < count; i += 1) if (this.#keys[i] === key) return false
    if (count === COMPARED_KEYS) {
      const { size } = this.#others
      return this.#others.add(key).size > size
    }
    this.#keys[count] = key
    this.#count = count + 1
    return true
  }
}
