/** Writes entries to disk as they arrive: frames, one seal per batch, and the fallback to memory when a write fails. */
import type { Clock } from '../shared/clock.js'
import type { EntryLog, StoredBatch } from './entry-log.js'
import type { CurrentInstance } from './instance/current-instance.js'
import { FrameBuffer } from './segment/frame-buffer.js'
import { MAX_TEXT_BYTES, parseUuid } from './segment/frame.js'
import type { FrameInput } from './segment/frame.js'
import { createAcknowledgement } from './segment/segment-acknowledgement.js'
import type { SegmentWriter } from './segment/segment-writer.js'
import type { Segment } from './segment/segment.js'

export interface WriteAheadLogOptions {
  readonly clock: Clock
  readonly instance: CurrentInstance
  readonly segmentBytes: number
  /** A segment older than this takes no new batch, because `maxAgeMs` applies to whole segments. */
  readonly segmentAgeMs: number
  /** Makes space and creates a segment. @throws the system's errors, UnsafeError, SpoolFullError */
  readonly newSegment: () => SegmentWriter
  /** Another process has claimed or deleted the folder. Must clear `instance`. */
  readonly onClaimed: () => void
  /** Writing failed; the entries stay in memory. */
  readonly onFailure: (error: unknown) => void
  readonly onSuccess: () => void
}

/** A batch that is not finished. */
interface OpenBatch {
  readonly batchId: string
  readonly id: Buffer
  /** Segment of its frames; undefined if there was none when it began. */
  readonly segment: Segment | undefined
  readonly offset: number
  /** Number of entries that were appended. */
  count: number
  /** Number of entries whose frames are in the file. */
  written: number
  isSealed: boolean
  /** Whether its seal is in the file. */
  isComplete: boolean
}

const RETRY_MS = 5_000
const NO_TEXT = Buffer.alloc(0)

export class WriteAheadLog implements EntryLog {
  readonly #options: WriteAheadLogOptions
  readonly #out = new FrameBuffer()
  #writer: SegmentWriter | undefined
  /** Oldest first. Only the newest is not sealed. */
  #batches: OpenBatch[] = []
  /** The batches were claimed, and the batcher does not know yet that it must restart them. */
  #isLost = false
  #retryAt = -Infinity
  #begunAt = 0

  constructor(options: WriteAheadLogOptions) {
    this.#options = options
  }

  /** The segment that is being written. */
  get current(): SegmentWriter | undefined {
    return this.#writer
  }

  append(batchId: string, first: number, count: number, severity: number, text: Uint8Array): void {
    if (this.#isLost) return
    if (first === 0) this.#begin(batchId)
    const open = this.#batches.at(-1)
    if (open?.batchId !== batchId) return
    open.count = first + count
    if (this.#isInCurrent(open)) this.#frame({ kind: 'entries', id: open.id, severity, count, first, text })
  }

  seal(batchId: string, count: number): boolean {
    const open = this.#batches.at(-1)
    if (open?.batchId !== batchId) return true
    if (this.#canWriteAgain(open)) {
      this.#batches.pop()
      return false
    }
    open.isSealed = true
    if (this.#isInCurrent(open)) this.#frame({ kind: 'seal', id: open.id, severity: 0, count, first: 0, text: NO_TEXT })
    return true
  }

  /** When it returns true, all appended entries are written, or `onFailure` was called. */
  flush(): boolean {
    this.#flush()
    const isLost = this.#isLost
    this.#isLost = false
    return !isLost
  }

  finish(batchId: string): StoredBatch {
    const { segment, offset, count, written, isComplete } = this.#batches.shift() as OpenBatch
    if (segment === undefined || segment.isGone || written === 0) return { count }
    const acknowledgement = createAcknowledgement(segment, batchId, written)
    if (!isComplete) return { count: written, acknowledgement }
    return { count: written, acknowledgement, place: { segment: segment.number, offset } }
  }

  /** Stops writing. The entries of an open batch are on disk, without a seal. */
  close(): void {
    this.#flush()
    const writer = this.#writer
    this.#writer = undefined
    this.#retryAt = Infinity
    writer?.endNow()
    writer?.segment.complete()
  }

  /** Synchronises the segment. If that fails, the segment ends. */
  sync(): void {
    const writer = this.#writer
    writer?.syncSoon(() => this.abandonSegment(writer.segment))
  }

  /** Stops writing to this segment. */
  abandonSegment(segment: Segment): void {
    if (this.#writer?.segment === segment) this.#endSegment()
  }

  /** The folder was claimed or deleted: continues in a new folder, and restarts the batches that are not finished. */
  relocate(): void {
    this.#writer?.close()
    this.#writer = undefined
    this.#out.take()
    this.#isLost ||= this.#batches.length > 0
    this.#batches = []
    this.#retryAt = -Infinity
    this.#options.onClaimed()
  }

  #isInCurrent({ segment }: OpenBatch): boolean {
    return this.#writer !== undefined && this.#writer.segment === segment
  }

  #flush(): void {
    if (this.#out.length > 0) this.#write(this.#out.take())
  }

  /** Whether writing failed while the batch was open, so that none of it is on disk, and there is a new segment for it. */
  #canWriteAgain(open: OpenBatch): boolean {
    if (this.#isInCurrent(open) || (open.written > 0 && open.segment?.isGone === false)) return false
    this.#ensureSegment()
    return this.#writer !== undefined && !this.#isLost
  }

  #begin(batchId: string): void {
    this.#ensureSegment()
    if (this.#isLost) return
    const segment = this.#writer?.segment
    this.#batches.push({
      batchId,
      id: parseUuid(batchId),
      segment,
      offset: segment === undefined ? 0 : segment.writtenBytes + this.#out.length,
      count: 0,
      written: 0,
      isSealed: false,
      isComplete: false,
    })
  }

  /** Begins a new segment if needed. Called between batches only, since all frames of a batch are in one segment. */
  #ensureSegment(): void {
    const { clock, segmentBytes, segmentAgeMs, instance, newSegment, onSuccess } = this.#options
    if (
      this.#writer !== undefined &&
      this.#writer.segment.writtenBytes + this.#out.length < segmentBytes &&
      clock.now() - this.#begunAt < segmentAgeMs
    )
      return
    this.#flush()
    const writer = this.#writer
    if (writer === undefined && clock.now() < this.#retryAt) return
    this.#writer = undefined
    try {
      writer?.end()
      writer?.segment.complete()
      // Without a writer no write has detected a claim.
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

  #write(bytes: Buffer): void {
    try {
      const wasUncertain = this.#isUncertain
      if (wasUncertain && this.#relocateIfClaimed()) return
      this.#writer?.write(bytes)
      // If the folder was claimed between check and write, the claimer may have read the segment before this write.
      if (wasUncertain || this.#isUncertain) this.#relocateIfClaimed()
      if (this.#writer === undefined) return
      this.#writer.segment.writtenAtMs = this.#options.clock.now()
      this.#recordWritten(this.#writer.segment)
    } catch (error) {
      this.#fail(error)
    }
  }

  #recordWritten(segment: Segment): void {
    for (const batch of this.#batches) {
      if (batch.segment !== segment) continue
      segment.add(batch.count - batch.written)
      batch.written = batch.count
      batch.isComplete = batch.isSealed
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
    // Its batches are still settled, and it is deleted with the last of them.
    writer.segment.complete()
  }
}
