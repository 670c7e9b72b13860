/** Records in order of `seq`, bounded by count, bytes and age; the oldest go first. */
import type { Kept } from './kept.js'
import type { Stored } from './store.js'

/** The dead part in front is cut off when it is this long and half of the array. */
const MIN_CUT = 1024

export class Ring<T extends Kept<Stored>> {
  readonly #maxCount: number
  readonly #maxBytes: number
  #items: (T | undefined)[] = []
  #sizes: number[] = []
  #head = 0
  #bytes = 0
  #lastReceived = ''
  /** Whether what came later was received later: false once the wall clock was set back, and all must be looked at. */
  #isInOrder = true

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
    const { received_at } = item.record
    if (received_at < this.#lastReceived) this.#isInOrder = false
    this.#lastReceived = received_at
    this.#items.push(item)
    this.#sizes.push(bytes)
    this.#bytes += bytes
    while (this.count > this.#maxCount || (this.#bytes > this.#maxBytes && this.count > 1)) this.#dropOldest()
  }

  bySeq(seq: number): T | undefined {
    const item = this.#items[this.#firstAtOrAfter(seq)]
    return item?.seq === seq ? item : undefined
  }

  oldestFirst(): readonly T[] {
    return this.#items.slice(this.#head) as T[]
  }

  /** Items whose `seq` is below `beforeSeq`. */
  *newestFirst(beforeSeq = Infinity): Generator<T> {
    const end = beforeSeq === Infinity ? this.#items.length : this.#firstAtOrAfter(beforeSeq)
    for (let at = end - 1; at >= this.#head; at--) yield this.#items[at] as T
  }

  /** Those that were received before, ISO 8601 in UTC. */
  forget(before: string): void {
    const isOld = (item: T | undefined): boolean => item !== undefined && item.record.received_at < before
    while (this.count > 0 && isOld(this.#items[this.#head])) this.#dropOldest()
    if (this.#isInOrder) return
    const kept = this.#items.flatMap((item, at) => (item === undefined || isOld(item) ? [] : [at]))
    this.#items = kept.map((at) => this.#items[at])
    this.#sizes = kept.map((at) => this.#sizes[at] as number)
    this.#head = 0
    this.#bytes = this.#sizes.reduce((sum, size) => sum + size, 0)
  }

  clear(): void {
    this.#items = []
    this.#sizes = []
    this.#head = 0
    this.#bytes = 0
    this.#isInOrder = true
    this.#lastReceived = ''
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
