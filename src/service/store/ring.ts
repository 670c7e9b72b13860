/** A list in order of `seq` that is bounded by count and bytes; the oldest go first. */

/** The dead part in front is cut off when it is this long and half of the array. */
const MIN_CUT = 1024

export class Ring<T extends { readonly seq: number }> {
  readonly #maxCount: number
  readonly #maxBytes: number
  #items: (T | undefined)[] = []
  #sizes: number[] = []
  #head = 0
  #bytes = 0

  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount
    this.#maxBytes = maxBytes
  }

  get count(): number {
    return this.#items.length - this.#head
  }

  get bytes(): number {
    return this.#bytes
  }

  push(item: T, bytes: number): void {
    this.#items.push(item)
    this.#sizes.push(bytes)
    this.#bytes += bytes
    while (this.count > this.#maxCount || (this.#bytes > this.#maxBytes && this.count > 1)) this.#dropOldest()
  }

  bySeq(seq: number): T | undefined {
    const item = this.#items[this.#firstAtOrAfter(seq)]
    return item?.seq === seq ? item : undefined
  }

  *oldestFirst(): Generator<T> {
    for (let at = this.#head; at < this.#items.length; at++) yield this.#items[at] as T
  }

  /** Items whose `seq` is below `beforeSeq`. */
  *newestFirst(beforeSeq = Infinity): Generator<T> {
    const end = beforeSeq === Infinity ? this.#items.length : this.#firstAtOrAfter(beforeSeq)
    for (let at = end - 1; at >= this.#head; at--) yield this.#items[at] as T
  }

  clear(): void {
    this.#items = []
    this.#sizes = []
    this.#head = 0
    this.#bytes = 0
  }

  #firstAtOrAfter(seq: number): number {
    let low = this.#head
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#items[middle] as T).seq < seq) low = middle + 1
      else high = middle
    }
    return low
  }

  #dropOldest(): void {
    this.#bytes -= this.#sizes[this.#head] as number
    this.#items[this.#head] = undefined
    this.#head++
    if (this.#head >= MIN_CUT && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#sizes = this.#sizes.slice(this.#head)
      this.#head = 0
    }
  }
}
