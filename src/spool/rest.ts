/** Segments that were claimed, and what of each is still to be read. */
import type { Clock } from '../clock.js'
import { isOwnFolder } from '../shared/safe-folders.js'
import { SEGMENT_HEADER_BYTES, isSegment } from './format.js'
import { isFinal } from './owner.js'
import type { Machine } from './owner.js'
import { Segment } from './segment.js'
import { bytesOf, namesIn } from './usage.js'

export interface Rest {
  readonly segment: Segment
  /** On the disk, without its journal, when it was claimed. */
  readonly bytes: number
  /** Where the first batch begins that was not given out. */
  restAt: number
  /** Damage before that. */
  damagedBytes: number
  /** Before that, on the monotonic clock, an owner that cannot be seen may write to it without knowing of the claim. */
  readonly finalAt: number
}

/**
 * After a claim, for an owner that cannot be seen: it looks for its folder before and after each write that comes more than half a lease
 * after its last look, or the same by a wall clock that differs by more than 5 s. What it writes without knowing is written before that.
 */
const UNAWARE_MS = 20_000

interface Options {
  readonly clock: Clock
  readonly machine: Machine
  readonly onError: (error: unknown) => void
}

/** @param folder was claimed @param onRemoved the segment is deleted @throws the system's errors */
export function restsIn(folder: string, { clock, machine, onError }: Options, onRemoved: (segment: Segment) => void): Rest[] {
  if (!isOwnFolder(folder)) return []
  const finalAt = isFinal(folder, machine) ? -Infinity : clock.now() + UNAWARE_MS
  return namesIn(folder).filter(isSegment).map((name) => {
    const segment = new Segment(folder, Number.parseInt(name, 10), { onError, onRemoved })
    return { segment, bytes: bytesOf(segment.path), restAt: SEGMENT_HEADER_BYTES, damagedBytes: 0, finalAt }
  })
}
