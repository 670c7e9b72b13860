/** Appends to a segment synchronously: when `write` returns, the kernel has the bytes. */
import { fdatasync, fdatasyncSync, statfsSync } from 'node:fs'
import { closeQuietly, createFile, writeAll } from '../../shared/safe-files.js'
import { createSegmentHeader } from '../disk-format.js'
import { MAX_SEGMENT_BYTES } from './segment.js'
import type { Segment } from './segment.js'

/** Space that segments leave free on the volume, for the folder of the next process and for acknowledgements. */
export const RESERVED_BYTES = 256 * 1024
/** What is written before the next check of the free space, since other programs use the volume, too: a share of it, at most 1 MiB. */
const CHECK_SHARE = 1 / 16
const CHECK_BYTES = 1024 * 1024

export interface SegmentWriterOptions {
  readonly createdAtMs: number
  /** Whether the segment is synchronized when it ends. */
  readonly isPowerSafe: boolean
  /** Called when synchronizing failed, so written entries may not be on disk. */
  readonly onUnsynced: (error: unknown) => void
}

export class SegmentWriter {
  readonly segment: Segment
  readonly #options: SegmentWriterOptions
  readonly #fd: number
  /** Size of the segment at which the free space is checked again. */
  #checkAtBytes = 0
  #syncedBytes = 0
  #isSyncing = false
  #hasSyncFailed = false
  #afterSync: (() => void) | undefined
  #isClosed = false

  /** @throws the system's errors, UnsafeError */
  constructor(segment: Segment, options: SegmentWriterOptions) {
    this.segment = segment
    this.#options = options
    this.#fd = createFile(segment.path)
    segment.writtenBytes = 0
    try {
      this.write(createSegmentHeader(options.createdAtMs))
    } catch (error) {
      this.close()
      segment.drop()
      throw error
    }
  }

  /** @throws RangeError for more than a reader accepts, the system's error. After an error the segment must not be written to */
  write(bytes: Buffer): void {
    const size = this.segment.writtenBytes + bytes.length
    if (size > MAX_SEGMENT_BYTES) throw new RangeError(`a segment has at most ${MAX_SEGMENT_BYTES} bytes, got ${size}`)
    if (size > this.#checkAtBytes) {
      const free = readFreeBytes(this.segment.path)
      const usableBytes = free - RESERVED_BYTES - bytes.length
      if (usableBytes < 0) throw new Error(`ENOSPC: ${free} bytes are free, and the spool reserves ${RESERVED_BYTES}`)
      this.#checkAtBytes = size + Math.min(usableBytes * CHECK_SHARE, CHECK_BYTES)
    }
    writeAll(this.#fd, bytes)
    this.segment.writtenBytes = size
  }

  /**
   * Synchronizes the segment in the background.
   * @param onFailed called on failure. The segment is not synchronized again: the system may have discarded the
   * unwritten pages and report success the next time
   */
  syncSoon(onFailed: () => void): void {
    const { writtenBytes } = this.segment
    if (this.#isSyncing || this.#isClosed || this.#hasSyncFailed || this.#syncedBytes === writtenBytes) return
    this.#isSyncing = true
    fdatasync(this.#fd, (error) => {
      this.#isSyncing = false
      this.#hasSyncFailed = error !== null
      if (error === null) this.#syncedBytes = writtenBytes
      else this.#options.onUnsynced(error)
      this.#afterSync?.()
      if (error !== null) onFailed()
    })
  }

  /** Closes the file without synchronizing it. */
  close(): void {
    this.#end(() => closeQuietly(this.#fd, this.#options.onUnsynced))
  }

  /** Closes the file in the background, after synchronizing it if `isPowerSafe`. */
  end(): void {
    const { isPowerSafe, onUnsynced } = this.#options
    this.#end(() => {
      if (!isPowerSafe || this.#hasSyncFailed) return closeQuietly(this.#fd, onUnsynced)
      fdatasync(this.#fd, (error) => {
        if (error !== null) onUnsynced(error)
        closeQuietly(this.#fd, onUnsynced)
      })
    })
  }

  /** As `end`, but synchronous, for the exit of the process. */
  endNow(): void {
    const { isPowerSafe, onUnsynced } = this.#options
    try {
      if (isPowerSafe && !this.#isClosed && !this.#hasSyncFailed) fdatasyncSync(this.#fd)
    } catch (error) {
      onUnsynced(error)
    }
    this.close()
  }

  /** Waits for a sync in progress, since its file descriptor must not be reused for another file until then. */
  #end(act: () => void): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#isSyncing) this.#afterSync = act
    else act()
  }
}

/** Infinity if the volume has no limit, or the system does not say. */
function readFreeBytes(path: string): number {
  try {
    const { blocks, bavail, bsize } = statfsSync(path)
    return blocks === 0 ? Infinity : bavail * bsize
  } catch {
    return Infinity // the write shows what is wrong
  }
}
