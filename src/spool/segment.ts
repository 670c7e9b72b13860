/** A segment: its file, what in it is not settled, and its end. Used by its writer and, for the dead's, by who claimed it. */
import { constants, fdatasync, fdatasyncSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { closeQuietly, createFile, openOwn, writeAll } from '../shared/safe-files.js'
import { SEGMENT_HEADER_BYTES, journalOf, segmentHeader, segmentName } from './format.js'
import { MAX_BATCH_BYTES } from './frame.js'
import { Journal } from './journal.js'

/** At which size a segment takes no more batches, at most. */
export const FULL_SEGMENT_BYTES = 4 * 1024 * 1024
/** Of a segment's file, in which a batch may begin just before it is full. Neither written nor read beyond. */
export const MAX_SEGMENT_BYTES = FULL_SEGMENT_BYTES + MAX_BATCH_BYTES

export interface SegmentEvents {
  /** A journal or a deletion failed: it may cost duplicates, never loss. */
  readonly onError: (error: unknown) => void
  /** The files are gone. */
  readonly onRemoved?: (segment: Segment) => void
}

export class Segment {
  readonly path: string
  readonly number: number
  readonly journal: Journal
  /** When its writer last wrote entries, on the clock that never jumps. */
  writtenAtMs = Infinity
  readonly #events: SegmentEvents
  #pendingEntries = 0
  #isComplete = false
  #isGone = false

  constructor(folder: string, number: number, events: SegmentEvents) {
    this.number = number
    this.path = join(folder, segmentName(number))
    this.journal = new Journal(journalOf(this.path), events.onError)
    this.#events = events
  }

  /** Entries in it that are not settled. */
  get pendingEntries(): number {
    return this.#pendingEntries
  }

  /** Deleted, or in other hands: nothing that was in it is ours to settle. */
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

  /** Nothing is added any more. */
  complete(): void {
    this.#isComplete = true
    this.#removeWhenDone()
  }

  /** Deletes it, whatever is in it. @returns the entries that were not settled */
  drop(): number {
    const entries = this.#pendingEntries
    this.#pendingEntries = 0
    if (!this.#isGone) this.#remove()
    return entries
  }

  /** Another instance has it now. */
  giveUp(): void {
    this.#isGone = true
    this.journal.close()
  }

  /** Ends the use of its files, and leaves them. */
  close(): void {
    this.journal.flush()
    this.journal.close()
  }

  #removeWhenDone(): void {
    if (this.#isComplete && this.#pendingEntries === 0 && !this.#isGone) this.#remove()
  }

  #remove(): void {
    this.#isGone = true
    this.journal.close()
    // The segment first: a journal without its segment is nothing, a segment without its journal would be sent again.
    if (this.#unlink(this.path)) this.#unlink(journalOf(this.path))
    this.#events.onRemoved?.(this)
  }

  /** @returns whether nothing is there any more: a segment without anything settled has no journal */
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
  /** Whether all that was written is handed to the disk at the end. */
  readonly isPowerSafe: boolean
  /** What was written may not be on the disk. */
  readonly onUnsynced: (error: unknown) => void
}

/** The end of a segment at which is written. Synchronous: when `write` returns, the bytes are with the kernel. */
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
      writeAll(this.#fd, segmentHeader(createdAtMs))
    } catch (error) {
      this.close()
      segment.drop()
      throw error
    }
  }

  /** Bytes in the file that were written whole. */
  get size(): number {
    return this.#size
  }

  /** @throws RangeError for more than a reader accepts, the system's error; then nothing more may be written here */
  write(bytes: Buffer): void {
    if (this.#size + bytes.length > MAX_SEGMENT_BYTES) throw new RangeError(`a segment has at most ${MAX_SEGMENT_BYTES} bytes, got ${this.#size + bytes.length}`)
    writeAll(this.#fd, bytes)
    this.#size += bytes.length
  }

  /**
   * Hands what was written to the disk, without waiting.
   * @param onFailed the system may forget what it could not write, and report success the next time: nothing is synchronised any more
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

  /** Ends the writing, and leaves what was written to the system. */
  close(): void {
    this.#end(() => closeQuietly(this.#fd, this.#onUnsynced))
  }

  /** Ends the writing; what is to be handed to the disk is, without waiting. */
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

  /** The same, at the end of the process: it is with the disk when this returns. */
  endNow(): void {
    try {
      if (this.#isPowerSafe && !this.#isClosed && !this.#hasSyncFailed) fdatasyncSync(this.#fd)
    } catch (error) {
      this.#onUnsynced(error)
    }
    this.close()
  }

  /** A call under way must not find another file under this number. */
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
