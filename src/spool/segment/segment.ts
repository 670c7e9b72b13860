/** A segment: its files, its unsettled entries, and its deletion. Used by its writer, or by the process that claimed it. */
import { constants, truncateSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { openOwn } from '../../shared/safe-files.js'
import { toAcknowledgementLogPath, toSegmentName } from '../disk-format.js'
import { AcknowledgementLog } from './acknowledgement-log.js'
import { MAX_BATCH_BYTES } from './frame.js'

/** Size from which no more batches are added to a segment. */
export const FULL_SEGMENT_BYTES = 4 * 1024 * 1024
/** Maximum size of a segment's file for writers and readers. A batch may start just below `FULL_SEGMENT_BYTES`. */
export const MAX_SEGMENT_BYTES = FULL_SEGMENT_BYTES + MAX_BATCH_BYTES

export interface SegmentEvents {
  /** Called when a write to the acknowledgement log or a deletion failed. This can cause duplicates, but no loss. */
  readonly onError: (error: unknown) => void
  /** Called when the files were deleted. */
  readonly onRemoved?: (segment: Segment) => void
}

export class Segment {
  readonly path: string
  readonly number: number
  readonly acknowledgements: AcknowledgementLog
  /** Bytes of completely written frames. Infinity for a segment that this process does not write. */
  writtenBytes = Infinity
  /** Time of the writer's last write, on the monotonic clock. */
  writtenAtMs = Infinity
  readonly #events: SegmentEvents
  #pendingEntries = 0
  #isComplete = false
  #isGone = false

  constructor(folder: string, number: number, events: SegmentEvents) {
    this.number = number
    this.path = join(folder, toSegmentName(number))
    this.acknowledgements = new AcknowledgementLog(toAcknowledgementLogPath(this.path), events.onError)
    this.#events = events
  }

  /** Whether no more entries will be added. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Whether the segment was deleted or claimed, so this process must no longer settle its entries. */
  get isGone(): boolean {
    return this.#isGone
  }

  add(entries: number): void {
    this.#pendingEntries += entries
  }

  settled(entries: number): void {
    this.#pendingEntries -= entries
    this.#removeIfSettled()
  }

  complete(): void {
    this.#isComplete = true
    this.#removeIfSettled()
  }

  /** Deletes the segment, even with unsettled entries. */
  drop(): void {
    this.#pendingEntries = 0
    if (!this.#isGone) this.#remove()
  }

  /** Called when another process has claimed the segment. */
  abandon(): void {
    this.#isGone = true
    this.acknowledgements.close()
  }

  /** Closes its files without deleting them. */
  close(): void {
    this.acknowledgements.flush()
    this.acknowledgements.close()
  }

  #removeIfSettled(): void {
    if (this.#isComplete && this.#pendingEntries === 0 && !this.#isGone) this.#remove()
  }

  #remove(): void {
    this.#isGone = true
    this.acknowledgements.close()
    // Deletes the segment first: a log without its segment is harmless, but a segment without its log would be sent
    // again.
    if (this.#unlink(this.path, this.writtenBytes === Infinity)) this.#unlink(toAcknowledgementLogPath(this.path))
    this.#events.onRemoved?.(this)
  }

  /** @returns whether the file no longer exists */
  #unlink(path: string, isForeign = false): boolean {
    if (isForeign) freeSpace(path)
    try {
      unlinkSync(path)
      return true
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isMissing) this.#events.onError(error)
      return isMissing
    }
  }
}

/** A worker that failed leaves its files open, and after their deletion they would keep their space. */
function freeSpace(path: string): void {
  try {
    truncateSync(path)
  } catch {
    // It needs a file descriptor. The deletion does not, and reports its own errors.
  }
}

/** @throws the system's errors, UnsafeError */
export function openSegment(path: string): number {
  return openOwn(path, constants.O_RDONLY)
}
