/** Batches of this instance on disk that must not be read back because they are in memory. Pure. */
import type { SegmentPosition } from '../../batch/batch.js'

/**
 * Live batches are sent before a backlog in long ranges. This class stores the ends of these ranges instead of each
 * batch. Positions are marked in disk order.
 */
export class SkippedRanges {
  /** By segment: ascending offsets at which ranges alternately start and end. */
  readonly #edges = new Map<number, number[]>()

  has({ segment, offset }: SegmentPosition): boolean {
    return isInside(edgesUpTo(this.#edges.get(segment), offset))
  }

  /** Marks the batch at this position and all later ones, up to the next marked one. */
  mark(place: SegmentPosition, isPassed: boolean): void {
    const edges = this.#edges.get(place.segment) ?? []
    const before = edgesUpTo(edges, place.offset)
    if (isInside(before) === isPassed) return
    edges.push(place.offset)
    this.#edges.set(place.segment, edges)
  }

  delete(segment: number): void {
    this.#edges.delete(segment)
  }

  /** @param isKept whether a segment is still to be read */
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

/** Whether a position after this number of edges is within a range. */
function isInside(edges: number): boolean {
  return edges % 2 === 1
}
