/** A segment: its file, its unsettled entries, and its deletion. Used by its writer, or by the process that claimed it. */
import { constants, fdatasync, fdatasyncSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { closeQuietly, createFile, openOwn, writeAll } from '../../shared/safe-files.js'
import { SEGMENT_HEADER_BYTES, toAcknowledgementLogPath, createSegmentHeader, toSegmentName } from '../disk-format.js'
import { MAX_BATCH_BYTES } from './frame.js'
import { AcknowledgementLog } from './acknowledgement-log.js'

/** At which size a segment takes no more batches, at most. */
export const FULL_SEGMENT_BYTES = 4 * 1024 * 1024
/** Of a segment's file, in which a batch may begin just before it is full. Neither written nor read beyond. */
export const MAX_SEGMENT_BYTES = FULL_SEGMENT_BYTES + MAX_BATCH_BYTES

export interface SegmentEvents {
  /** A write to the journal or a deletion failed. This can cause duplicates, but no loss. */
  readonly onError: (error: unknown) => void
  /** The files were deleted. */
  readonly onRemoved?: (segment: Segment) => void
}

export class Segment {
  readonly path: string
  readonly number: number
  readonly acknowledgements: AcknowledgementLog
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

  /** Entries in it that are not settled. */
  get pendingEntries(): number {
    return this.#pendingEntries
  }

  /** Whether the segment was deleted or claimed: this process must not settle its entries any more. */
  get isGone(): boolean {
    return this.#isGone
  }

  add(entries: number): void {
    this.#pendingEntries += entries
  }

  settled(entries: number): void {
    this.#pendingEntries -= entries
    this.#removeWhenDone()
  }

  /** No more entries will be added. */
  complete(): void {
    this.#isComplete = true
    this.#removeWhenDone()
  }

  /** Deletes the segment, even with unsettled entries. @returns the number of unsettled entries */
  drop(): number {
    const entries = this.#pendingEntries
    this.#pendingEntries = 0
    if (!this.#isGone) this.#remove()
    return entries
  }

  /** Another instance has claimed the segment. */
  abandon(): void {
    this.#isGone = true
    this.acknowledgements.close()
  }

  /** Closes its files without deleting them. */
  close(): void {
    this.acknowledgements.flush()
    this.acknowledgements.close()
  }

  #removeWhenDone(): void {
    if (this.#isComplete && this.#pendingEntries === 0 && !this.#isGone) this.#remove()
  }

  #remove(): void {
    this.#isGone = true
    this.acknowledgements.close()
    // The segment first: a journal without its segment is harmless, a segment without its journal would be sent again.
    if (this.#unlink(this.path)) this.#unlink(toAcknowledgementLogPath(this.path))
    this.#events.onRemoved?.(this)
  }

  /** @returns whether the file no longer exists. A segment without settled entries has no journal */
  #unlink(path: string): boolean {
    try {
      unlinkSync(path)
      return true
    } catch (error) {
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isGone) this.#events.onError(error)
      return isGone
    }
  }
}

export interface WriterOptions {
  readonly createdAtMs: number
  /** Whether the segment is synchronised when it ends. */
  readonly isPowerSafe: boolean
  /** Synchronising failed: written entries may not be on disk. */
  readonly onUnsynced: (error: unknown) => void
}

/** Appends to a segment. Synchronous: when `write` returns, the kernel has the bytes. */
export class SegmentWriter {
  readonly segment: Segment
  readonly #isPowerSafe: boolean
  readonly #onUnsynced: (error: unknown) => void
  readonly #fd: number
  #size = SEGMENT_HEADER_BYTES
  #syncedSize = 0
  #isSyncing = false
  #hasSyncFailed = false
  #afterSync: (() => void) | undefined
  #isClosed = false

  /** @throws the system's errors, UnsafeError */
  constructor(segment: Segment, { createdAtMs, isPowerSafe, onUnsynced }: WriterOptions) {
    this.segment = segment
    this.#isPowerSafe = isPowerSafe
    this.#onUnsynced = onUnsynced
    this.#fd = createFile(segment.path)
    try {
      writeAll(this.#fd, createSegmentHeader(createdAtMs))
    } catch (error) {
      this.close()
      segment.drop()
      throw error
    }
  }

  /** Bytes that were written completely. */
  get size(): number {
    return this.#size
  }

  /** @throws RangeError for more than a reader accepts, the system's error. After an error the segment must not be written to */
  write(bytes: Buffer): void {
    if (this.#size + bytes.length > MAX_SEGMENT_BYTES)
      throw new RangeError(`a segment has at most ${MAX_SEGMENT_BYTES} bytes, got ${this.#size + bytes.length}`)
    writeAll(this.#fd, bytes)
    this.#size += bytes.length
  }

  /**
   * Synchronises the segment, without waiting.
   * @param onFailed called if that fails. The segment is not synchronised again: the system may have discarded the unwritten
   *   pages and report success the next time
   */
  syncSoon(onFailed: () => void): void {
    if (this.#isSyncing || this.#isClosed || this.#hasSyncFailed || this.#syncedSize === this.#size) return
    const size = this.#size
    this.#isSyncing = true
    fdatasync(this.#fd, (error) => {
      this.#isSyncing = false
      this.#hasSyncFailed = error !== null
      if (error === null) this.#syncedSize = size
      else this.#onUnsynced(error)
      this.#afterSync?.()
      if (error !== null) onFailed()
    })
  }

  /** Closes the file without synchronising it. */
  close(): void {
    this.#end(() => closeQuietly(this.#fd, this.#onUnsynced))
  }

  /** Closes the file; synchronises it first if `isPowerSafe`, without waiting. */
  end(): void {
    if (!this.#isPowerSafe) return this.close()
    this.#end(() => {
      if (this.#hasSyncFailed) return closeQuietly(this.#fd, this.#onUnsynced)
      fdatasync(this.#fd, (error) => {
        if (error !== null) this.#onUnsynced(error)
        closeQuietly(this.#fd, this.#onUnsynced)
      })
    })
  }

  /** As `end`, but synchronous, for the end of the process. */
  endNow(): void {
    try {
      if (this.#isPowerSafe && !this.#isClosed && !this.#hasSyncFailed) fdatasyncSync(this.#fd)
    } catch (error) {
      this.#onUnsynced(error)
    }
    this.close()
  }

  /** Waits for a sync in progress: its file descriptor must not be reused for another file. */
  #end(act: () => void): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#isSyncing) this.#afterSync = act
    else act()
  }
}

/** @throws the system's errors, UnsafeError */
export function openSegment(path: string): number {
  return openOwn(path, constants.O_RDONLY)
}
