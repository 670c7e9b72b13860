/** The part of a segment that is in memory: what is read of the file, and the frames of one batch. Pure. */
import { HEADER_BYTES, readFrame } from './frame.js'
import type { Frame } from './frame.js'

const WINDOW_BYTES = 256 * 1024

/** What to read from the file next, and where to put it. */
export interface ReadTarget {
  readonly buffer: Buffer
  readonly offset: number
  readonly length: number
  /** In the file. */
  readonly position: number
}

/**
 * `[keptFrom, keptTo)` holds the frames of the batch, one behind the other; `[at, length)` was read and is yet to be looked at.
 * Damage between two frames is not kept: a segment may consist of it.
 */
export class FrameWindow {
  #bytes = Buffer.allocUnsafeSlow(WINDOW_BYTES)
  #keptFrom = 0
  #keptTo = 0
  #at = 0
  #length = 0
  /** Offset in the file behind what was read. */
  #readTo: number
  #damagedBytes = 0

  /** @param from offset of the first frame in the file */
  constructor(from: number) {
    this.#readTo = from
  }

  /** Offset in the file behind what was looked at. */
  get position(): number {
    return this.#readTo - (this.#length - this.#at)
  }

  /** Bytes that belong to no frame. */
  get damagedBytes(): number {
    return this.#damagedBytes
  }

  /** The frame at the position, behind whatever is damaged; or how many bytes from there on are needed to find out. */
  find(): Frame | number {
    for (;;) {
      const found = readFrame(this.#bytes.subarray(0, this.#length), this.#at)
      if ('frame' in found) return found.frame
      if ('needs' in found) return found.needs
      this.#skip(found.skip)
    }
  }

  /**
   * Reserves space for the bytes that are needed. The buffer grows with a batch that does not fit, and shrinks behind it.
   * @param end of what may be read of the file
   * @returns undefined where the file ends before: then what is there is damaged, and skipped
   */
  reserve(needs: number, end: number): ReadTarget | undefined {
    if (this.position + needs > end) {
      this.#skipCut(end)
      return undefined
    }
    const kept = this.#keptTo - this.#keptFrom
    const unread = this.#length - this.#at
    const isFull = kept + unread >= this.#bytes.length / 2
    const size = Math.max(WINDOW_BYTES, kept + needs, isFull ? 2 * (kept + unread) : 0)
    const target =
      size > this.#bytes.length || size < this.#bytes.length / 4 ? Buffer.allocUnsafeSlow(size) : this.#bytes
    this.#bytes.copy(target, 0, this.#keptFrom, this.#keptTo)
    this.#bytes.copy(target, kept, this.#at, this.#length)
    this.#bytes = target
    this.#keptFrom = 0
    this.#keptTo = this.#at = kept
    this.#length = kept + unread
    return {
      buffer: target,
      offset: this.#length,
      length: Math.min(target.length - this.#length, end - this.#readTo),
      position: this.#readTo,
    }
  }

  /** So many bytes were read into the reserved space. */
  filled(bytes: number): void {
    this.#length += bytes
    this.#readTo += bytes
  }

  /** Begins a batch at the position: what was kept is overwritten. */
  beginBatch(): void {
    this.#keptFrom = this.#keptTo = this.#at
  }

  /** Passes the frame at the position and keeps it. @returns its offset among the bytes of the batch */
  keep({ bytes }: Frame): number {
    const offset = this.#keptTo - this.#keptFrom
    if (this.#keptTo !== this.#at) this.#bytes.copyWithin(this.#keptTo, this.#at, this.#at + bytes)
    this.#keptTo += bytes
    this.#at += bytes
    return offset
  }

  /** Of the bytes of the batch. Valid until the next batch is begun. */
  kept(from: number, to: number): Buffer {
    return this.#bytes.subarray(this.#keptFrom + from, this.#keptFrom + to)
  }

  /** The end cuts a frame, or what looks like one. */
  #skipCut(end: number): void {
    const left = end - this.position
    if (left >= HEADER_BYTES) return this.#skip(1)
    this.#damagedBytes += Math.max(left, 0)
    this.#at = this.#length
    this.#readTo = Math.max(end, this.#readTo)
  }

  #skip(bytes: number): void {
    this.#at += bytes
    this.#damagedBytes += bytes
  }
}
