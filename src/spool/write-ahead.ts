/** Entries to disk as they come: frames, a seal for each batch, and what is done when the disk does not take them. */
import type { EntryLog } from '../batch.js'
import type { Clock } from '../clock.js'
import type { Batch } from '../sender.js'
import { FrameBuffer } from './frame-buffer.js'
import { MAX_TEXT_BYTES, bytesOfUuid } from './frame.js'
import type { writeFrame } from './frame.js'
import { holdWhole } from './hold.js'
import type { Instance } from './instance.js'
import type { Segment, SegmentWriter } from './segment.js'

export interface WriteAheadOptions {
  readonly clock: Clock
  readonly segmentBytes: number
  /** A segment older than this takes no new batch: it is dropped whole when it gets too old. */
  readonly segmentAgeMs: number
  /** The folder to write in, made where it is missing. @throws the system's errors, UnsafeError */
  readonly instance: () => Instance
  /** A new segment, after room was made. @throws as above, and where there is no room */
  readonly newSegment: () => SegmentWriter
  /** The folder was claimed by another instance; the next call of `instance` must give a new one. */
  readonly onClaimed: () => void
  /** The disk does not take entries: they stay in memory. */
  readonly onFailure: (error: unknown) => void
  readonly onSuccess: () => void
}

interface OpenBatch {
  readonly batchId: string
  readonly id: Buffer
  /** Where its frames go. */
  segment: Segment | undefined
  offset: number
  /** Position of the entry that comes next. */
  next: number
  /** Entries of which the frames are in the file. */
  written: number
  /** Everything since position 0 is in this segment. */
  isWhole: boolean
}

const RETRY_MS = 5_000
/** What is collected before it is written, at most; a batch's end writes it in any case. */
const WRITE_BYTES = 256 * 1024
/** `{"batch_id":"","logs":[` and the 36 characters of a UUID. */
const BODY_HEAD_BYTES = 23 + 36
const BODY_TAIL_BYTES = 2
const NOTHING = Buffer.alloc(0)

export class WriteAhead implements EntryLog {
  readonly #options: WriteAheadOptions
  readonly #out = new FrameBuffer()
  #writer: SegmentWriter | undefined
  #open: OpenBatch | undefined
  /** The open batch is another's, and the batcher was not yet told to begin it anew. */
  #isLost = false
  #retryAt = -Infinity
  #begunAt = 0

  constructor(options: WriteAheadOptions) {
    this.#options = options
  }

  /** The segment that is written to, and up to where it may be read. */
  get current(): SegmentWriter | undefined {
    return this.#writer
  }

  append(batchId: string, first: number, count: number, rank: number, text: Uint8Array): void {
    if (this.#isLost) return
    if (first === 0 || this.#open?.batchId !== batchId) this.#begin(batchId)
    const open = this.#open as OpenBatch
    if (this.#writer === undefined || open.next !== first) open.isWhole = false
    open.next = first + count
    if (this.#writer === undefined) return
    this.#frame({ kind: 'entries', id: open.id, rank, count, first, text })
    if (this.#out.length >= WRITE_BYTES) this.#flush()
  }

  /** When it returns true, what was appended is written, or `onFailure` was called. */
  flush(): boolean {
    this.#flush()
    return !this.#takeLoss()
  }

  seal(batch: Batch): Batch | undefined {
    const open = this.#open
    if (open === undefined || open.batchId !== batch.batchId) return this.#takeLoss() ? undefined : batch
    const sealed = this.#sealed(open, batch)
    this.#open = undefined
    return this.#takeLoss() ? undefined : sealed
  }

  /** Ends the writing. The entries of an open batch are on disk, without a seal. */
  close(): void {
    this.#flush()
    const writer = this.#writer
    this.#writer = undefined
    this.#retryAt = Infinity
    writer?.endNow()
    if (this.#open?.segment !== writer?.segment) writer?.segment.complete()
  }

  /** Hands what was written to the disk. A segment of which that fails is not trusted any more. */
  sync(): void {
    const writer = this.#writer
    writer?.syncSoon(() => this.leave(writer.segment))
  }

  /** Nothing more is written to this segment. What of the open batch is not in it is written to the next one at its seal. */
  leave(segment: Segment): void {
    if (this.#writer?.segment === segment) this.#endSegment()
  }

  /** The folder is another's, and what is in it: goes on in a new one, with what is open as a new batch. */
  relocate(): void {
    this.#writer?.close()
    this.#writer = undefined
    this.#out.take()
    this.#isLost = this.#open !== undefined
    this.#open = undefined
    this.#options.onClaimed()
  }

  #takeLoss(): boolean {
    const isLost = this.#isLost
    this.#isLost = false
    return isLost
  }

  #flush(): void {
    if (this.#out.length > 0) this.#put(this.#out.take())
  }

  #sealed(open: OpenBatch, batch: Batch): Batch {
    const { count, batchId } = batch
    const first = open.segment
    if (open.isWhole) this.#seal(open, count)
    else this.#flush()
    const written = first?.isGone === false ? open.written : 0
    if (!open.isWhole && written === 0) this.#writeWhole(open, batch)
    const { isWhole, offset, segment = first } = open
    const held = isWhole ? count : written
    if (segment !== undefined && held > 0) segment.add(held)
    if (first !== this.current?.segment && first?.isGone === false) first.complete()
    if (segment === undefined || segment.isGone || held === 0) return batch
    const custody = holdWhole(segment, batchId, held)
    return isWhole ? { ...batch, custody, place: { segment: segment.number, offset } } : { ...batch, count: held, custody }
  }

  #begin(batchId: string): void {
    this.#flush()
    this.#ready()
    this.#open = {
      batchId, id: bytesOfUuid(batchId), segment: this.#writer?.segment, offset: this.#writer?.size ?? 0,
      next: 0, written: 0, isWhole: this.#writer !== undefined,
    }
  }

  /** A batch lies in one segment, so that only between two a new one is begun. */
  #ready(): void {
    const { clock, segmentBytes, segmentAgeMs, newSegment, onSuccess } = this.#options
    const writer = this.#writer
    if (writer !== undefined && writer.size < segmentBytes && clock.now() - this.#begunAt < segmentAgeMs) return
    if (writer === undefined && clock.now() < this.#retryAt) return
    this.#writer = undefined
    try {
      writer?.end()
      writer?.segment.complete()
      this.#writer = newSegment()
      this.#begunAt = clock.now()
      onSuccess()
    } catch (error) {
      this.#fail(error)
    }
  }

  #frame(frame: Parameters<typeof writeFrame>[2]): void {
    const bytes = frame.text.length
    if (bytes > MAX_TEXT_BYTES) return this.#fail(new RangeError(`a frame has at most ${MAX_TEXT_BYTES} bytes, got ${bytes}`))
    this.#out.append(frame)
  }

  #seal({ id }: OpenBatch, count: number): void {
    if (this.#writer !== undefined) this.#frame({ kind: 'seal', id, rank: 0, count, first: 0, text: NOTHING })
    this.#flush()
  }

  /** The disk failed while the batch was open: all of it once more, from memory. */
  #writeWhole(open: OpenBatch, { body, count, highestRank }: Batch): void {
    this.#ready()
    const writer = this.#writer
    if (writer === undefined) return
    const offset = writer.size
    const text = body.subarray(BODY_HEAD_BYTES, body.length - BODY_TAIL_BYTES)
    this.#frame({ kind: 'entries', id: open.id, rank: highestRank, count, first: 0, text })
    this.#seal(open, count)
    if (this.#writer === writer) Object.assign(open, { segment: writer.segment, offset, isWhole: true })
  }

  #put(bytes: Buffer): void {
    try {
      const wasUncertain = this.#isUncertain
      if (wasUncertain && this.#lookAround()) return
      this.#writer?.write(bytes)
      // Claimed between the look and the write, or stopped there: the claimer may have read before this was written.
      if (wasUncertain || this.#isUncertain) this.#lookAround()
      if (this.#writer === undefined) return
      this.#writer.segment.writtenAtMs = this.#options.clock.now()
      if (this.#open?.segment === this.#writer.segment) this.#open.written = this.#open.next
    } catch (error) {
      this.#fail(error)
    }
  }

  /** So much time has passed that the folder may have been claimed. */
  get #isUncertain(): boolean {
    return this.#writer !== undefined && this.#options.instance().isUncertain
  }

  /** @returns whether the folder was lost */
  #lookAround(): boolean {
    if (this.#writer === undefined || this.#options.instance().isInPlace()) return false
    this.relocate()
    return true
  }

  #fail(error: unknown): void {
    this.#endSegment()
    this.#retryAt = this.#options.clock.now() + RETRY_MS
    this.#options.onFailure(error)
  }

  #endSegment(): void {
    const failed = this.#writer
    this.#writer = undefined
    this.#out.take()
    if (this.#open !== undefined) this.#open.isWhole = false
    failed?.end()
    // What is in it is settled as ever; it ends when its last batch does. An open one is still to be added.
    const isOpenThere = failed !== undefined && this.#open?.segment === failed.segment
    if (failed !== undefined && !isOpenThere) failed.segment.complete()
  }
}
