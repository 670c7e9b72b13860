/** A ring buffer of records in order of arrival, limited by count and bytes. Drops the oldest first. */
import type { IndexedRecord } from './indexed-record.js'

/** Number of dropped items after which the front of the array is truncated. */
const CUT_ITEMS = 1024

export class Ring<T extends IndexedRecord> {
  readonly #maxCount: number
  readonly #maxBytes: number
  readonly #onDrop: (item: T) => void
  /** Items before `#head` are dropped. */
  #items: (T | undefined)[] = []
  #head = 0
  #bytes = 0

  /** `onDrop` is called for each item that is dropped or deleted, except by `clear()`. */
  constructor(maxCount: number, maxBytes: number, onDrop: (item: T) => void = () => {}) {
    this.#maxCount = maxCount
    this.#maxBytes = maxBytes
    this.#onDrop = onDrop
  }

  get count(): number {
    return this.#items.length - this.#head
  }

  get bytes(): number {
    return this.#bytes
  }

  push(item: T): void {
    this.#items.push(item)
    this.#bytes += item.bytes
    while (this.count > this.#maxCount || (this.#bytes > this.#maxBytes && this.count > 1)) this.#dropOldest()
  }

  oldestFirst(): readonly T[] {
    return this.#items.slice(this.#head) as T[]
  }

  *newestFirst(): Generator<T> {
    for (let at = this.#items.length - 1; at >= this.#head; at--) yield this.#items[at] as T
  }

  /** Deletes items received before this time. Checks all items, because the wall clock may have been set back. */
  deleteOlder(receivedBeforeMs: number): void {
    const all = this.oldestFirst()
    const rest = all.filter(({ receivedMs }) => receivedMs >= receivedBeforeMs)
    if (rest.length === all.length) return
    for (const item of all) if (item.receivedMs < receivedBeforeMs) this.#onDrop(item)
    this.clear()
    for (const item of rest) this.push(item)
  }

  clear(): void {
    this.#items = []
    this.#head = 0
    this.#bytes = 0
  }

  #dropOldest(): void {
    const item = this.#items[this.#head] as T
    this.#bytes -= item.bytes
    this.#items[this.#head] = undefined
    this.#head++
    this.#onDrop(item)
    if (this.#head < CUT_ITEMS) return
    this.#items.splice(0, this.#head)
    this.#head = 0
  }
}
