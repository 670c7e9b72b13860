/** Writes entries to disk as they arrive: frames, one seal per batch, and the fallback when a write fails. */
import type { EntryLog } from './entry-log.js'
import type { Clock } from '../shared/clock.js'
import type { Batch } from '../batch/sender.js'
import { FrameBuffer } from './segment/frame-buffer.js'
import { MAX_TEXT_BYTES, parseUuid } from './segment/frame.js'
import type { writeFrame } from './segment/frame.js'
import { createAcknowledgement } from './segment/segment-acknowledgement.js'
import type { InstanceFolder } from './instance/instance-folder.js'
import type { Segment, SegmentWriter } from './segment/segment.js'

export interface WriteAheadLogOptions {
  readonly clock: Clock
  readonly segmentBytes: number
  /** A segment older than this takes no new batch, because `maxAgeMs` applies to whole segments. */
  readonly segmentAgeMs: number
  /** Returns the folder to write in; creates it if it is missing. @throws the system's errors, UnsafeError */
  readonly instance: () => InstanceFolder
  /** Makes room and creates a segment. @throws the system's errors, UnsafeError, NoRoomError */
  readonly newSegment: () => SegmentWriter
  /** Another instance has claimed the folder; the next call of `instance` must return a new one. */
  readonly onClaimed: () => void
  /** Writing failed; the entries stay in memory. */
  readonly onFailure: (error: unknown) => void
  readonly onSuccess: () => void
}

interface OpenBatch {
  readonly batchId: string
  readonly id: Buffer
  /** Segment of its frames. */
  segment: Segment | undefined
  offset: number
  /** Position of the next entry. */
  next: number
  /** Number of entries whose frames are in the file. */
  written: number
  /** Whether all entries from position 0 on are in this segment. */
  isWhole: boolean
}

const RETRY_MS = 5_000
/** Maximum of bytes collected before a write; the end of a batch always writes. */
const WRITE_BYTES = 256 * 1024
/** `{"batch_id":"","logs":[` and the 36 characters of a UUID. */
const BODY_HEAD_BYTES = 23 + 36
const BODY_TAIL_BYTES = 2
const NOTHING = Buffer.alloc(0)

export class WriteAheadLog implements EntryLog {
  readonly #options: WriteAheadLogOptions
  readonly #out = new FrameBuffer()
  #writer: SegmentWriter | undefined
  #open: OpenBatch | undefined
  /** The open batch was claimed, and the batcher does not know yet that it must restart it. */
  #isLost = false
  #retryAt = -Infinity
  #begunAt = 0

  constructor(options: WriteAheadLogOptions) {
    this.#options = options
  }

  /** The segment that is being written. It may be read up to `size`. */
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

  /** When it returns true, all appended entries are written, or `onFailure` was called. */
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

  /** Stops writing. The entries of an open batch are on disk, without a seal. */
  close(): void {
    this.#flush()
    const writer = this.#writer
    this.#writer = undefined
    this.#retryAt = Infinity
    writer?.endNow()
    if (this.#open?.segment !== writer?.segment) writer?.segment.complete()
  }

  /** Synchronises the segment. If that fails, the segment ends. */
  sync(): void {
    const writer = this.#writer
    writer?.syncSoon(() => this.abandonSegment(writer.segment))
  }

  /** Stops writing to this segment. Entries of the open batch that are not in it are written to the next segment at its seal. */
  abandonSegment(segment: Segment): void {
    if (this.#writer?.segment === segment) this.#endSegment()
  }

  /** Another instance has claimed the folder: continues in a new folder, and restarts the open batch under a new id. */
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
    const custody = createAcknowledgement(segment, batchId, held)
    return isWhole
      ? { ...batch, acknowledgement: custody, place: { segment: segment.number, offset } }
      : { ...batch, count: held, acknowledgement: custody }
  }

  #begin(batchId: string): void {
    this.#flush()
    this.#ready()
    this.#open = {
      batchId,
      id: parseUuid(batchId),
      segment: this.#writer?.segment,
      offset: this.#writer?.size ?? 0,
      next: 0,
      written: 0,
      isWhole: this.#writer !== undefined,
    }
  }

  /** Begins a new segment if needed. Called between batches only, since a batch lies in one segment. */
  #ready(): void {
    const { clock, segmentBytes, segmentAgeMs, instance, newSegment, onSuccess } = this.#options
    const writer = this.#writer
    if (writer !== undefined && writer.size < segmentBytes && clock.now() - this.#begunAt < segmentAgeMs) return
    if (writer === undefined && clock.now() < this.#retryAt) return
    this.#writer = undefined
    try {
      writer?.end()
      writer?.segment.complete()
      // Without a writer no write has detected a claim.
      if (!instance().isInPlace()) this.relocate()
      this.#writer = newSegment()
      this.#begunAt = clock.now()
      onSuccess()
    } catch (error) {
      this.#fail(error)
    }
  }

  #frame(frame: Parameters<typeof writeFrame>[2]): void {
    const bytes = frame.text.length
    if (bytes > MAX_TEXT_BYTES)
      return this.#fail(new RangeError(`a frame has at most ${MAX_TEXT_BYTES} bytes, got ${bytes}`))
    this.#out.append(frame)
  }

  #seal({ id }: OpenBatch, count: number): void {
    if (this.#writer !== undefined) this.#frame({ kind: 'seal', id, rank: 0, count, first: 0, text: NOTHING })
    this.#flush()
  }

  /** Writing failed while the batch was open: writes the whole batch again, from memory. */
  #writeWhole(open: OpenBatch, { body, count, highestSeverity: highestRank }: Batch): void {
    this.#ready()
    const writer = this.#writer
    if (writer === undefined || this.#isLost) return
    const offset = writer.size
    const text = body.subarray(BODY_HEAD_BYTES, body.length - BODY_TAIL_BYTES)
    this.#frame({ kind: 'entries', id: open.id, rank: highestRank, count, first: 0, text })
    this.#seal(open, count)
    if (this.#writer === writer) Object.assign(open, { segment: writer.segment, offset, isWhole: true })
  }

  #put(bytes: Buffer): void {
    try {
      const wasUncertain = this.#isUncertain
      if (wasUncertain && this.#relocateIfClaimed()) return
      this.#writer?.write(bytes)
      // If the folder was claimed between check and write, the claimer may have read the segment before this write.
      if (wasUncertain || this.#isUncertain) this.#relocateIfClaimed()
      if (this.#writer === undefined) return
      this.#writer.segment.writtenAtMs = this.#options.clock.now()
      if (this.#open?.segment === this.#writer.segment) this.#open.written = this.#open.next
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Whether so much time has passed that the folder may have been claimed. */
  get #isUncertain(): boolean {
    return this.#writer !== undefined && this.#options.instance().isUncertain
  }

  /** @returns whether the folder was claimed */
  #relocateIfClaimed(): boolean {
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
    // Its batches are still settled, and it is deleted with the last of them. The open batch is added to it later.
    const isOpenThere = failed !== undefined && this.#open?.segment === failed.segment
    if (failed !== undefined && !isOpenThere) failed.segment.complete()
  }
}
