/** Which bytes of a file's text are done with: sorted ranges, none of which touch. Pure. */

/** From `start` up to, without, `end`. */
export type Range = readonly [start: number, end: number]

export class Ranges {
  /** Few: one, and one more for each batch under way. */
  #list: Range[]

  constructor(list: readonly Range[] = []) {
    this.#list = []
    for (const [start, end] of list) this.add(start, end)
  }

  get list(): readonly Range[] {
    return this.#list
  }

  /** End of the range that begins with the text, 0 where none does. */
  get prefixEnd(): number {
    const [first] = this.#list
    return first?.[0] === 0 ? first[1] : 0
  }

  /** Bytes in all of them. */
  get total(): number {
    return this.#list.reduce((sum, [start, end]) => sum + end - start, 0)
  }

  add(start: number, end: number): void {
    if (end <= start) return
    const apart = this.#list.filter(([from, to]) => to < start || from > end)
    const met = this.#list.filter(([from, to]) => to >= start && from <= end)
    const merged: Range = [Math.min(start, ...met.map(([from]) => from)), Math.max(end, ...met.map(([, to]) => to))]
    this.#list = [...apart, merged].toSorted(([a], [b]) => a - b)
  }

  /** Whether all of `start` to `end` is done with. */
  covers(start: number, end: number): boolean {
    return this.#list.some(([from, to]) => from <= start && end <= to)
  }
}
