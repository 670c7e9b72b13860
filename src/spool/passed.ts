/** Which own batches on disk are not to be read back, since they are in memory. Pure. */
import type { Place } from '../sender.js'

/**
 * Live traffic passes a backlog in long stretches: what is remembered is where these begin and end, and not each batch.
 * Places are marked in the order of the disk, but for single ones that change again.
 */
export class Passed {
  /** By segment: ascending offsets, at which stretches begin and end by turns. */
  readonly #edges = new Map<number, number[]>()

  has({ segment, offset }: Place): boolean {
    return isInside(edgesUpTo(this.#edges.get(segment), offset))
  }

  /** The batch there, and those behind it up to the next that is marked. */
  mark(place: Place, isPassed: boolean): void {
    const edges = this.#edges.get(place.segment) ?? []
    const before = edgesUpTo(edges, place.offset)
    if (isInside(before) === isPassed) return
    if (before < edges.length) return this.markOne(place, isPassed)
    edges.push(place.offset)
    this.#edges.set(place.segment, edges)
  }

  /** The batch there alone. */
  markOne({ segment, offset }: Place, isPassed: boolean): void {
    const edges = this.#edges.get(segment) ?? []
    const before = edgesUpTo(edges, offset)
    if (isInside(before) === isPassed) return
    // A batch is longer than a byte: no other begins before this stretch ends.
    edges.splice(before, 0, offset, offset + 1)
    this.#edges.set(segment, edges)
  }

  delete(segment: number): void {
    this.#edges.delete(segment)
  }

  /** @param isKept of a segment that is still to be read */
  deleteUpTo(last: number, isKept: (segment: number) => boolean): void {
    for (const segment of this.#edges.keys()) if (segment <= last && !isKept(segment)) this.#edges.delete(segment)
  }

  clear(): void {
    this.#edges.clear()
  }
}

function edgesUpTo(edges: readonly number[] | undefined, offset: number): number {
  let count = 0
  while (edges !== undefined && count < edges.length && (edges[count] as number) <= offset) count += 1
  return count
}

/** Behind so many edges. */
function isInside(edges: number): boolean {
  return edges % 2 === 1
}
