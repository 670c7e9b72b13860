/** Writes entries to disk as they arrive: frames and one seal per batch. Falls back to memory if a write fails. */
import type { Batch } from '../batch/batch.js'
import type { Clock } from '../shared/clock.js'
import { isExiting } from '../shared/exiting.js'
import type { EntryLog } from './entry-log.js'
import type { CurrentInstance } from './instance/current-instance.js'
import { HEADER_BYTES, MAX_TEXT_BYTES, parseUuid, writeFrame } from './segment/frame.js'
import type { FrameInput } from './segment/frame.js'
import { createAcknowledgement } from './segment/segment-acknowledgement.js'
import type { SegmentWriter } from './segment/segment-writer.js'
import type { Segment } from './segment/segment.js'

export interface WriteAheadLogOptions {
  readonly clock: Clock
  readonly instance: CurrentInstance
  readonly segmentBytes: number
  /** No batch is added to a segment older than this, because `maxAgeMs` applies to whole segments. */
  readonly segmentAgeMs: number
  /** Makes space and creates a segment. @throws the system's errors, UnsafeError, SpoolFullError */
  readonly newSegment: () => SegmentWriter
  /** Called when another process has claimed or deleted the folder. Must clear `instance`. */
  readonly onClaimed: () => void
  /** Called when writing failed; the entries stay in memory. */
  readonly onFailure: (error: unknown) => void
  readonly onSuccess: () => void
}

interface OpenBatch {
  readonly batchId: string
  readonly id: Buffer
  /** Segment of the batch's frames; undefined if there was none when the batch started. */
  segment: Segment | undefined
  offset: number
  /** Number of entries that were appended. */
  appended: number
  /** Number of entries whose frames are in the file. */
  written: number
}

const RETRY_MS = 5_000
/** Maximum bytes collected before a write. The end of a batch always writes. */
const WRITE_BYTES = 256 * 1024
/** `{"batch_id":"","logs":[` and the 36 characters of a UUID. */
const BODY_HEAD_BYTES = 23 + 36
const BODY_TAIL_BYTES = 2
const NO_TEXT = Buffer.alloc(0)
const INITIAL_BYTES = 128 * 1024

export class WriteAheadLog implements EntryLog {
  readonly #options: WriteAheadLogOptions
  readonly #out = new FrameBuffer()
  #writer: SegmentWriter | undefined
  #open: OpenBatch | undefined
  /** Whether the open batch was claimed and the batcher was not notified yet. */
  #isLost = false
  #retryAt = -Infinity
  #isClosed = false
  #begunAt = 0

  constructor(options: WriteAheadLogOptions) {
    this.#options = options
  }

  /** The segment being written. */
  get current(): SegmentWriter | undefined {
    return this.#writer
  }

  append(batchId: string, first: number, count: number, severity: number, text: Uint8Array): void {
    if (this.#isLost) return
    if (first === 0 || this.#open?.batchId !== batchId) this.#begin(batchId)
    const open = this.#open as OpenBatch
    open.appended = first + count
    if (!this.#isInCurrent(open)) return
    this.#frame({ kind: 'entries', id: open.id, severity, count, first, text })
    if (this.#out.length >= WRITE_BYTES) this.#flush()
  }

  /** If it returns true, all appended entries were written, or `onFailure` was called. */
  flush(): boolean {
    this.#flush()
    return !this.#takeLoss()
  }

  seal(batch: Batch): Batch | undefined {
    const open = this.#open
    if (open?.batchId !== batch.batchId) return this.#takeLoss() ? undefined : batch
    const sealed = this.#seal(open, batch)
    this.#open = undefined
    return this.#takeLoss() ? undefined : sealed
  }

  /** Ends the segment. The entries of an open batch stay on disk without a seal; later entries begin a segment in a new folder. */
  close(): void {
    this.#flush()
    const writer = this.#writer
    this.#writer = undefined
    this.#isClosed = true
    writer?.endNow()
    if (this.#open?.segment !== writer?.segment) writer?.segment.complete()
  }

  /** Synchronizes the segment, and ends it on failure. */
  sync(): void {
    const writer = this.#writer
    writer?.syncSoon(() => this.abandonSegment(writer.segment))
  }

  /** Stops writing to this segment. Entries of the open batch that are not in it are written to the next segment at its seal. */
  abandonSegment(segment: Segment): void {
    if (this.#writer?.segment === segment) this.#endSegment()
  }

  /** Continues in a new folder after a claim or deletion, and restarts the open batch under a new id. */
  relocate(): void {
    this.#writer?.close()
    this.#writer = undefined
    this.#out.take()
    this.#isLost = this.#open !== undefined
    this.#open = undefined
    this.#retryAt = -Infinity
    this.#options.onClaimed()
  }

  #takeLoss(): boolean {
    const isLost = this.#isLost
    this.#isLost = false
    return isLost
  }

  #isInCurrent({ segment }: OpenBatch): boolean {
    return this.#writer !== undefined && this.#writer.segment === segment
  }

  #flush(): void {
    if (this.#out.length > 0) this.#write(this.#out.take())
  }

  /** @returns the entries of the batch that are on disk; the whole batch without acknowledgement if none are */
  #seal(open: OpenBatch, batch: Batch): Batch {
    const { count, batchId } = batch
    const first = open.segment
    this.#writeSeal(open, first, count)
    if (first?.isGone === true) open.written = 0
    if (!this.#isInCurrent(open) && open.written === 0) this.#writeWhole(open, batch)
    const { segment, offset, written } = open
    if (written > 0) segment?.add(written)
    if (first !== this.#writer?.segment && first?.isGone === false) first.complete()
    if (segment === undefined || segment.isGone || written === 0) return batch
    const acknowledgement = createAcknowledgement(segment, open.id, written)
    if (!this.#isInCurrent(open)) return { ...batch, count: written, acknowledgement }
    const { body, highestSeverity } = batch
    return { batchId, count, highestSeverity, body, acknowledgement, place: { segment: segment.number, offset } }
  }

  #begin(batchId: string): void {
    this.#flush()
    this.#ensureSegment()
    const segment = this.#writer?.segment
    this.#open = {
      batchId,
      id: parseUuid(batchId),
      segment,
      offset: segment?.writtenBytes ?? 0,
      appended: 0,
      written: 0,
    }
  }

  /** Starts a new segment if needed. Called only between batches, because all frames of a batch are in one segment. */
  #ensureSegment(): void {
    const { clock, segmentBytes, segmentAgeMs, instance, newSegment, onSuccess } = this.#options
    const writer = this.#writer
    if (
      writer !== undefined &&
      writer.segment.writtenBytes < segmentBytes &&
      clock.now() - this.#begunAt < segmentAgeMs
    )
      return
    if (writer === undefined && clock.now() < this.#retryAt) return
    // Only listeners for `exit` may write afterwards: the limits of the spool are no longer kept.
    if (this.#isClosed && !isExiting()) return
    this.#writer = undefined
    try {
      writer?.end()
      writer?.segment.complete()
      // Without a writer, no write has detected a claim.
      if (!instance.ensure().isInPlace()) this.relocate()
      this.#writer = newSegment()
      this.#begunAt = clock.now()
      onSuccess()
    } catch (error) {
      this.#fail(error)
    }
  }

  #frame(frame: FrameInput): void {
    const bytes = frame.text.length
    if (bytes > MAX_TEXT_BYTES)
      return this.#fail(new RangeError(`a frame has at most ${MAX_TEXT_BYTES} bytes, got ${bytes}`))
    this.#out.append(frame)
  }

  /** Writes all collected frames, and the seal if the batch is in the current segment. */
  #writeSeal({ id }: OpenBatch, segment: Segment | undefined, count: number): void {
    if (this.#writer !== undefined && this.#writer.segment === segment) {
      this.#frame({ kind: 'seal', id, severity: 0, count, first: 0, text: NO_TEXT })
    }
    this.#flush()
  }

  /** Writes the whole batch again from memory, after a write failed while it was open. */
  #writeWhole(open: OpenBatch, { body, count, highestSeverity }: Batch): void {
    this.#ensureSegment()
    const writer = this.#writer
    if (writer === undefined || this.#isLost) return
    const { segment } = writer
    const offset = segment.writtenBytes
    const text = body.subarray(BODY_HEAD_BYTES, body.length - BODY_TAIL_BYTES)
    this.#frame({ kind: 'entries', id: open.id, severity: highestSeverity, count, first: 0, text })
    this.#writeSeal(open, segment, count)
    if (this.#writer === writer) Object.assign(open, { segment, offset, written: count })
  }

  #write(bytes: Buffer): void {
    try {
      const wasUncertain = this.#isUncertain
      if (wasUncertain && this.#relocateIfClaimed()) return
      this.#writer?.write(bytes)
      // If the folder was claimed between check and write, the claimer may have read the segment before this write.
      if (wasUncertain || this.#isUncertain) this.#relocateIfClaimed()
      if (this.#writer === undefined) return
      this.#writer.segment.writtenAtMs = this.#options.clock.now()
      if (this.#open !== undefined && this.#isInCurrent(this.#open)) this.#open.written = this.#open.appended
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Whether so much time has passed that the folder may have been claimed. */
  get #isUncertain(): boolean {
    return this.#writer !== undefined && this.#options.instance.ensure().isUncertain
  }

  /** @returns whether the folder was claimed */
  #relocateIfClaimed(): boolean {
    if (this.#writer === undefined || this.#options.instance.ensure().isInPlace()) return false
    this.relocate()
    return true
  }

  #fail(error: unknown): void {
    this.#endSegment()
    this.#retryAt = this.#options.clock.now() + RETRY_MS
    this.#options.onFailure(error)
  }

  #endSegment(): void {
    const writer = this.#writer
    this.#writer = undefined
    this.#out.take()
    if (writer === undefined) return
    writer.end()
    // Batches of the old segment are still settled, and it is deleted with the last of them. The open batch is added to
    // it at the seal.
    if (this.#open?.segment !== writer.segment) writer.segment.complete()
  }
}

/** Collects frames before they are written. */
class FrameBuffer {
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  append(frame: FrameInput): void {
    const needed = this.#length + HEADER_BYTES + frame.text.length
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    this.#length = writeFrame(this.#bytes, this.#length, frame)
  }

  /** Empties the buffer. @returns the collected bytes, valid until the next `append` */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#length = 0
    // Releases the memory of a single very large entry.
    if (this.#bytes.length > 8 * INITIAL_BYTES) this.#bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES)
    return taken
  }
}
