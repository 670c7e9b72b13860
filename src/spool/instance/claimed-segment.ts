/** Claimed segments and the position up to which each was read. */
import type { Clock } from '../../shared/clock.js'
import { isOwnFolder } from '../../shared/safe-folders.js'
import { SEGMENT_HEADER_BYTES, isSegment } from '../disk-format.js'
import type { ClaimsOptions } from './claims.js'
import { hasWriterEnded } from './ownership.js'
import type { ClaimedInPlace } from './instance-folder.js'
import { Segment } from '../segment/segment.js'
import { readSizeOnDisk, listNames } from '../spool-files.js'

/**
 * Milliseconds after a claim in which an owner whose thread cannot be checked may still write, because it has not
 * noticed the claim. An owner checks its folder before and after each write if its last check is older than half a
 * lease, or if its wall clock jumped by more than 5 s.
 */
export const CLAIM_GRACE_MS = 20_000

export class ClaimedSegment {
  readonly segment: Segment
  /** Size of the segment file when it was claimed. */
  readonly bytes: number
  /** Offset of the first unread batch. */
  nextOffset = SEGMENT_HEADER_BYTES
  /** Damaged bytes before `nextOffset`. */
  damagedBytes = 0
  /** Whether the segment is queued for deletion and must not be read. */
  isDropped = false
  readonly #finalAt: number
  readonly #clock: Pick<Clock, 'now'>

  /** @param finalAt time of the monotonic clock before which the owner may still write to the segment */
  constructor(segment: Segment, finalAt: number, clock: Pick<Clock, 'now'>) {
    this.segment = segment
    this.bytes = readSizeOnDisk(segment.path)
    this.#finalAt = finalAt
    this.#clock = clock
  }

  /** Whether the owner can no longer write to the segment. Only then may it be deleted. */
  get isFinal(): boolean {
    return this.#clock.now() >= this.#finalAt
  }
}

/** Yields the segments of a claimed folder, or those `claimedInPlace`. @param onRemoved called when a segment was deleted @throws the system's errors */
export function* openClaimedSegments(
  folder: string,
  { clock, machine, onError }: Pick<ClaimsOptions, 'clock' | 'machine' | 'onError'>,
  onRemoved: (segment: Segment) => void,
  claimedInPlace?: ClaimedInPlace,
): Generator<ClaimedSegment> {
  if (!isOwnFolder(folder)) return
  const isFinal = claimedInPlace?.isFinal ?? hasWriterEnded(folder, machine)
  const finalAt = isFinal ? -Infinity : clock.now() + CLAIM_GRACE_MS
  for (const name of claimedInPlace?.segments ?? listNames(folder).filter(isSegment)) {
    yield new ClaimedSegment(new Segment(folder, Number.parseInt(name, 10), { onError, onRemoved }), finalAt, clock)
  }
}
