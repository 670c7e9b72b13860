/** Reads batches from a segment's file, one at a time. */
import { close, fstatSync, read } from 'node:fs'
import { promisify } from 'node:util'
import { HEADER_BYTES, readFrame } from './frame.js'
import type { Frame } from './frame.js'
import { MAX_SEGMENT_BYTES, openSegment } from './segment.js'

const readAsync = promisify(read)
const closeAsync = promisify(close)

const WINDOW_BYTES = 256 * 1024

/** Consecutive entries of a batch. */
export interface EntryRun {
  readonly first: number
  readonly count: number
  /** Their JSON, comma-separated. Valid until the next batch is read. */
  readonly text: Buffer
}

export interface ReadBatch {
  readonly batchId: string
  /** Offset of its first frame in the file. */
  readonly offset: number
  readonly severity: number
  readonly runs: readonly EntryRun[]
  /** Number of entries in the batch when it was sealed; undefined if no seal was found. */
  readonly sealedCount: number | undefined
}

/** Location of a run's text in the file. The window may move until the batch is complete. */
interface Span {
  readonly first: number
  readonly count: number
  readonly at: number
  readonly bytes: number
}

/**
 * The window has the part of the file from the first frame of the current batch on. It is reused for all batches, so
 * reading a backlog produces no garbage, and grows only for a larger batch.
 */
export class SegmentReader {
  readonly #fd: number
  readonly #endsAt: () => number
  readonly #isGrowing: () => boolean
  /** Allocated by the first read, since after a crash there can be thousands of empty segments. */
  #window = Buffer.alloc(0)
  /** Offset of the window's first byte in the file. */
  #windowStart: number
  /** Number of bytes in the window that were read. */
  #length = 0
  #position: number
  #damagedBytes = 0
  /** Bytes beyond the maximum that a writer produces. */
  #excessBytes = 0
  #reading: Promise<void> | undefined

  /**
   * @param from offset of the first frame
   * @param endsAt offset up to which the file may be read. Default: its end
   * @param isGrowing whether a writer may still append, so a partial frame at the end is not damage
   * @throws the system's errors, UnsafeError
   */
  constructor(
    path: string,
    from: number,
    endsAt: () => number = () => Infinity,
    isGrowing: () => boolean = () => false,
  ) {
    this.#fd = openSegment(path)
    this.#windowStart = this.#position = from
    this.#endsAt = endsAt
    this.#isGrowing = isGrowing
  }

  /** Offset of the end of the last batch that was read. */
  get position(): number {
    return this.#position
  }

  /** Number of bytes that belong to no frame. */
  get damagedBytes(): number {
    return this.#damagedBytes + this.#excessBytes
  }

  /** Reads the next batch. One call at a time. @returns undefined at the end of the file @throws the system's errors (rejects) */
  next(): Promise<ReadBatch | undefined> {
    const batch = this.#next()
    this.#reading = batch.then(
      () => {},
      () => {},
    )
    return batch
  }

  /**
   * Closes the file after the read in progress, since its file descriptor must not be reused for another file until
   * then.
   */
  async close(): Promise<void> {
    await this.#reading
    await closeAsync(this.#fd)
  }

  async #next(): Promise<ReadBatch | undefined> {
    const first = await this.#frame(undefined)
    if (first === undefined) return undefined
    const { batchId } = first
    const offset = this.#position
    const spans: Span[] = []
    let severity = 0
    let sealedCount: number | undefined
    let frame: Frame | undefined = first
    while (frame !== undefined && frame.batchId === batchId) {
      if (frame.kind === 'seal') sealedCount = frame.count
      else
        spans.push({
          first: frame.first,
          count: frame.count,
          at: this.#position + HEADER_BYTES,
          bytes: frame.text.length,
        })
      severity = Math.max(severity, frame.severity)
      this.#position += frame.bytes
      frame = sealedCount === undefined ? await this.#frame(offset) : undefined
    }
    return { batchId, offset, severity, runs: spans.map((span) => this.#toRun(span)), sealedCount }
  }

  #toRun({ first, count, at, bytes }: Span): EntryRun {
    const from = at - this.#windowStart
    return { first, count, text: this.#window.subarray(from, from + bytes) }
  }

  /** Finds the frame at the position, or the next one after damaged bytes. Does not advance beyond it. @param batchOffset see `#fill` */
  async #frame(batchOffset: number | undefined): Promise<Frame | undefined> {
    for (;;) {
      const found = readFrame(this.#window.subarray(0, this.#length), this.#position - this.#windowStart)
      if ('frame' in found) return found.frame
      if ('skip' in found) {
        this.#skip(found.skip)
        continue
      }
      const end = this.#end()
      if (this.#position + found.needs <= end) {
        if (!(await this.#fill(batchOffset ?? this.#position, found.needs, end))) return undefined
      } else {
        const left = end - this.#position
        if (left <= 0 || this.#isGrowing()) return undefined
        // The file ends within a frame, or within bytes that resemble one.
        this.#skip(left < HEADER_BYTES ? left : 1)
      }
    }
  }

  /**
   * Reads more of the file into the window.
   * @param keepFrom offset from which the window's content is kept
   * @param needs number of bytes needed from the position on
   * @returns false if the file was truncated since its size was read
   */
  async #fill(keepFrom: number, needs: number, end: number): Promise<boolean> {
    const kept = this.#window.subarray(keepFrom - this.#windowStart, this.#length)
    // Doubles the size, so each byte of a large batch is copied only a few times.
    const size = Math.max(WINDOW_BYTES, this.#position + needs - keepFrom, 2 * kept.length)
    const isReusable = size <= this.#window.length && this.#window.length <= 4 * size
    const target = isReusable ? this.#window : Buffer.allocUnsafeSlow(size)
    kept.copy(target)
    this.#window = target
    this.#windowStart = keepFrom
    this.#length = kept.length
    const readFrom = keepFrom + kept.length
    const { bytesRead } = await readAsync(
      this.#fd,
      target,
      this.#length,
      Math.min(target.length - this.#length, end - readFrom),
      readFrom,
    )
    this.#length += bytesRead
    return bytesRead > 0
  }

  #end(): number {
    const size = Math.min(this.#endsAt(), fstatSync(this.#fd).size)
    this.#excessBytes = Math.max(0, size - MAX_SEGMENT_BYTES)
    return size - this.#excessBytes
  }

  #skip(bytes: number): void {
    this.#position += bytes
    this.#damagedBytes += bytes
  }
}
