/** Records in order of `seq`, bounded by count, bytes and age; the oldest go first. */
import type { IndexedRecord } from './indexed-record.js'
import type { Stored } from './store.js'

/** The dead part in front is cut off when it is this long and half of the array. */
const MIN_CUT = 1024

export class Ring<T extends IndexedRecord<Stored>> {
  readonly #maxCount: number
  readonly #maxBytes: number
  #items: (T | undefined)[] = []
  #sizes: number[] = []
  /** When each was received, beside it, so that a look at all of them touches no record. */
  #receivedMs: number[] = []
  #head = 0
  #bytes = 0
  #latestMs = -Infinity
  /**
   * Not above the time of any item that was received before one in front of it, as they are once the wall clock was
   * set back. All others are in order.
   */
  #earliestStragglerMs = Infinity

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

  /** Nothing was received before; Infinity where there is nothing. */
  get earliestMs(): number {
    return Math.min(this.#receivedMs[this.#head] ?? Infinity, this.#earliestStragglerMs)
  }

  push(item: T, bytes: number): void {
    this.#add(item, bytes, timeOf(item.record))
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

  /** Those that were received before go. */
  forget(receivedBeforeMs: number): void {
    while (this.count > 0 && (this.#receivedMs[this.#head] as number) < receivedBeforeMs) this.#dropOldest()
    if (this.#earliestStragglerMs < receivedBeforeMs) this.#forgetStragglers(receivedBeforeMs)
  }

  clear(): void {
    this.#items = []
    this.#sizes = []
    this.#receivedMs = []
    this.#head = 0
    this.#bytes = 0
    this.#latestMs = -Infinity
    this.#earliestStragglerMs = Infinity
  }

  /** Also finds out anew which are out of order: those that were may have gone. */
  #forgetStragglers(receivedBeforeMs: number): void {
    const [items, sizes, times] = [this.#items, this.#sizes, this.#receivedMs]
    const head = this.#head
    this.clear()
    for (let at = head; at < times.length; at++) {
      const receivedMs = times[at] as number
      if (receivedMs >= receivedBeforeMs) this.#add(items[at] as T, sizes[at] as number, receivedMs)
    }
  }

  #add(item: T, bytes: number, receivedMs: number): void {
    this.#items.push(item)
    this.#sizes.push(bytes)
    this.#receivedMs.push(receivedMs)
    this.#bytes += bytes
    if (receivedMs >= this.#latestMs) this.#latestMs = receivedMs
    else if (receivedMs < this.#earliestStragglerMs) this.#earliestStragglerMs = receivedMs
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
      this.#receivedMs = this.#receivedMs.slice(this.#head)
      this.#head = 0
    }
  }
}

/** A file that somebody edited may have what is no time: it counts as old, so that it does not stay for ever. */
function timeOf({ received_at }: Stored): number {
  const ms = Date.parse(received_at)
  return Number.isNaN(ms) ? -Infinity : ms
}
