/** Segments that were claimed, and what of each is still to be read. */
import type { Clock } from '../clock.js'
import { isOwnFolder } from '../shared/safe-folders.js'
import { SEGMENT_HEADER_BYTES, isSegment } from './format.js'
import { isFinal } from './owner.js'
import type { Machine } from './owner.js'
import { Segment } from './segment.js'
import { bytesOf, namesIn } from './usage.js'

/**
 * After a claim, for an owner that cannot be seen: it looks for its folder before and after each write that comes more than half a lease
 * after its last look, also by a wall clock that differs by 5 s. What it writes without knowing of the claim is written before that.
 */
const UNAWARE_MS = 20_000

export class ClaimedSegment {
  readonly segment: Segment
  /** On the disk, without its acknowledgements, when it was claimed. */
  readonly bytes: number
  /** Where the first batch begins that was not given out. */
  restAt = SEGMENT_HEADER_BYTES
  /** Before that. */
  damagedBytes = 0
  /** It is to be deleted, and not to be read. */
  isDropped = false
  readonly #finalAt: number
  readonly #clock: Pick<Clock, 'now'>

  /** @param finalAt on the monotonic clock: before that its owner may still write to it */
  constructor(segment: Segment, finalAt: number, clock: Pick<Clock, 'now'>) {
    this.segment = segment
    this.bytes = bytesOf(segment.path)
    this.#finalAt = finalAt
    this.#clock = clock
  }

  /** Whether nothing more is written to it: only then it is deleted. */
  get isFinal(): boolean {
    return this.#clock.now() >= this.#finalAt
  }
}

export interface ClaimedOptions {
  readonly clock: Clock
  readonly machine: Machine
  readonly onError: (error: unknown) => void
}

/** A step for each. @param folder was claimed @param onRemoved a segment is deleted @throws the system's errors */
export function* claimedSegments(folder: string, { clock, machine, onError }: ClaimedOptions, onRemoved: (segment: Segment) => void): Generator<ClaimedSegment> {
  if (!isOwnFolder(folder)) return
  const finalAt = isFinal(folder, machine) ? -Infinity : clock.now() + UNAWARE_MS
  for (const name of namesIn(folder).filter(isSegment)) {
    yield new ClaimedSegment(new Segment(folder, Number.parseInt(name, 10), { onError, onRemoved }), finalAt, clock)
  }
}
