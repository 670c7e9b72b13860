/** A segment: its file, what in it is not settled, and its end. Used by its writer and, for the dead's, by who claimed it. */
import { constants, fdatasync, fdatasyncSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import sonicBoom from 'sonic-boom'
import type { SonicBoom } from 'sonic-boom'
import { closeQuietly, createFile, openOwn } from '../shared/safe-files.js'
import { SEGMENT_HEADER_BYTES, journalOf, segmentHeader, segmentName } from './format.js'
import { MAX_BATCH_BYTES } from './frame.js'
import { Journal } from './journal.js'

/** Its types describe a namespace, of which neither module system gives the class alone. */
const Appender = sonicBoom as unknown as typeof SonicBoom

/** At which size a segment takes no more batches, at most. */
export const FULL_SEGMENT_BYTES = 4 * 1024 * 1024
/** Of a segment's file, in which a batch may begin just before it is full. Neither written nor read beyond. */
export const MAX_SEGMENT_BYTES = FULL_SEGMENT_BYTES + MAX_BATCH_BYTES

/** Far above what is written at once, so that sonic-boom never splits a write. */
const MAX_WRITE_BYTES = 1024 * 1024 * 1024

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
    this.journal.close()
  }

  #removeWhenDone(): void {
    if (this.#isComplete && this.#pendingEntries === 0 && !this.#isGone) this.#remove()
  }

  #remove(): void {
    this.#isGone = true
    this.journal.close()
    // The segment first: a journal without its segment is nothing, a segment without its journal would be sent again.
    for (const path of [this.path, journalOf(this.path)]) this.#unlink(path)
    this.#events.onRemoved?.(this)
  }

  #unlink(path: string): void {
    try {
      unlinkSync(path)
    } catch (error) {
      // A segment without anything settled has no journal.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#events.onError(error)
    }
  }
}

/** The end of a segment at which is written. Synchronous: when `write` returns, the bytes are with the kernel. */
export class SegmentWriter {
  readonly segment: Segment
  readonly #onError: (error: unknown) => void
  readonly #fd: number
  readonly #sonic: SonicBoom
  #failure: unknown
  #size = SEGMENT_HEADER_BYTES
  #syncedSize = 0
  #isSyncing = false
  #afterSync: (() => void) | undefined
  #isClosed = false

  /** @param onError for what fails at the close @throws the system's errors, UnsafeError */
  constructor(segment: Segment, createdAtMs: number, onError: (error: unknown) => void) {
    this.segment = segment
    this.#onError = onError
    this.#fd = createFile(segment.path)
    this.#sonic = new Appender({ fd: this.#fd, sync: true, contentMode: 'buffer', maxWrite: MAX_WRITE_BYTES, retryEAGAIN: () => false })
    this.#sonic.on('error', (error: unknown) => {
      this.#failure ??= error
    })
    try {
      this.#write(segmentHeader(createdAtMs))
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
    this.#write(bytes)
    this.#size += bytes.length
  }

  /** Hands what was written to the disk, without waiting. */
  syncSoon(onError: (error: unknown) => void): void {
    if (this.#isSyncing || this.#isClosed || this.#syncedSize === this.#size) return
    const size = this.#size
    this.#isSyncing = true
    fdatasync(this.#fd, (error) => {
      this.#isSyncing = false
      if (error === null) this.#syncedSize = size
      else onError(error)
      this.#afterSync?.()
    })
  }

  /** @throws the system's error */
  syncNow(): void {
    fdatasyncSync(this.#fd)
    this.#syncedSize = this.#size
  }

  /** Ends the writing. sonic-boom's own way would synchronise first, which nobody asked for. */
  close(): void {
    this.#end(() => closeQuietly(this.#fd, this.#onError))
  }

  /** Ends the writing, and hands all of it to the disk, without waiting. */
  closeSynced(onError: (error: unknown) => void): void {
    this.#end(() => fdatasync(this.#fd, (error) => {
      if (error !== null) onError(error)
      closeQuietly(this.#fd, onError)
    }))
  }

  /** A call under way must not find another file under this number. */
  #end(act: () => void): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#isSyncing) this.#afterSync = act
    else act()
  }

  #write(bytes: Buffer): void {
    this.#sonic.write(bytes as unknown as string)
    if (this.#failure !== undefined) throw this.#failure
  }
}

/** @throws the system's errors, UnsafeError */
export function openSegment(path: string): number {
  return openOwn(path, constants.O_RDONLY)
}
