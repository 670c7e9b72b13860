/**
 * An index of records sorted by time, then by `seq`. It consists of sorted chunks: inserting or removing a record moves only the
 * records of one chunk.
 */
export interface Timed {
  readonly timeMs: number
  readonly seq: number
}

/** A larger chunk is split in two. */
const MAX_CHUNK = 1024

export class TimeIndex<T extends Timed> {
  /** No chunk is empty. */
  #chunks: T[][] = []

  insert(item: T): void {
    const last = this.#chunks.at(-1)
    if (last === undefined) {
      this.#chunks.push([item])
      return
    }
    const isNewest = comparePositions(last.at(-1) as T, item) < 0
    const at = isNewest ? this.#chunks.length - 1 : this.#findChunk(item)
    const chunk = this.#chunks[at] as T[]
    if (isNewest) chunk.push(item)
    else chunk.splice(findFirstAtOrAfter(chunk, item), 0, item)
    if (chunk.length <= MAX_CHUNK) return
    // Appending in order of time leaves full chunks; any other chunk is split in half.
    const keep = isNewest ? MAX_CHUNK : MAX_CHUNK >> 1
    this.#chunks.splice(at + 1, 0, chunk.splice(keep))
  }

  remove(item: T): void {
    for (let at = this.#findChunk(item); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] as T[]
      // An edited journal can have several records with one `seq`.
      for (let index = findFirstAtOrAfter(chunk, item); index < chunk.length; index++) {
        const found = chunk[index] as T
        if (comparePositions(found, item) !== 0) return
        if (found === item) return this.#removeAt(at, index)
      }
    }
  }

  clear(): void {
    this.#chunks = []
  }

  /** Returns matching items, oldest first. @param sinceMs inclusive @param untilMs exclusive */
  filter(matches: (item: T) => boolean, sinceMs = -Infinity, untilMs = Infinity): T[] {
    const found: T[] = []
    for (let at = this.#findChunk({ timeMs: sinceMs, seq: -Infinity }); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] as T[]
      if ((chunk[0] as T).timeMs >= untilMs) break
      for (const item of chunk) if (item.timeMs >= sinceMs && item.timeMs < untilMs && matches(item)) found.push(item)
    }
    return found
  }

  /** Visits the items before the position, newest first, until `visit` returns false. */
  visitOlder(position: Timed, visit: (item: T) => boolean): void {
    for (let at = Math.min(this.#findChunk(position), this.#chunks.length - 1); at >= 0; at--) {
      const chunk = this.#chunks[at] as T[]
      for (let n = findFirstAtOrAfter(chunk, position) - 1; n >= 0; n--) if (!visit(chunk[n] as T)) return
    }
  }

  /** Visits the items after the position, oldest first, until `visit` returns false. */
  visitNewer(position: Timed, visit: (item: T) => boolean): void {
    for (let at = this.#findChunk(position); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] as T[]
      for (let n = findFirstAtOrAfter(chunk, position); n < chunk.length; n++) {
        const item = chunk[n] as T
        if (comparePositions(item, position) !== 0 && !visit(item)) return
      }
    }
  }

  #removeAt(at: number, index: number): void {
    const chunk = this.#chunks[at] as T[]
    // `shift` is faster than `splice`, because it does not move the other items.
    if (index === 0) chunk.shift()
    else chunk.splice(index, 1)
    if (chunk.length === 0) this.#chunks.splice(at, 1)
  }

  /** Index of the first chunk whose last item is at or after the position; the number of chunks if there is none. */
  #findChunk(position: Timed): number {
    return findFirst(this.#chunks.length, (n) => comparePositions(this.#chunks[n]?.at(-1) as T, position) >= 0)
  }
}

export function comparePositions(a: Timed, b: Timed): number {
  return a.timeMs < b.timeMs ? -1 : a.timeMs > b.timeMs ? 1 : a.seq < b.seq ? -1 : a.seq > b.seq ? 1 : 0
}

function findFirstAtOrAfter(sorted: readonly Timed[], position: Timed): number {
  return findFirst(sorted.length, (n) => comparePositions(sorted[n] as Timed, position) >= 0)
}

/** Binary search: the first index for which the predicate is true; `count` if there is none. */
export function findFirst(count: number, matches: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (matches(middle)) high = middle
    else low = middle + 1
  }
  return low
}
