/** Batches out of a segment's file, one at a time, within a window. */
import { close, fstatSync, read } from 'node:fs'
import { promisify } from 'node:util'
import { HEADER_BYTES } from './frame.js'
import type { Frame } from './frame.js'
import { FrameWindow } from './frame-window.js'
import { MAX_SEGMENT_BYTES, openSegment } from './segment.js'

const readAsync = promisify(read)
const closeAsync = promisify(close)

/** Entries that stand together in a batch. */
export interface EntryRun {
  readonly first: number
  readonly count: number
  /** Valid until the next batch is read. */
  readonly text: Buffer
}

export interface ReadBatch {
  readonly batchId: string
  /** Of its first frame, in the file. */
  readonly offset: number
  readonly rank: number
  /** By position; none overlap. */
  readonly runs: readonly EntryRun[]
  /** Entries that the batch had when it was sealed; undefined where no seal was found. */
  readonly sealedCount: number | undefined
}

/** Of the batch that is being read, where a frame's text lies among its bytes. */
interface Span {
  readonly first: number
  readonly count: number
  readonly from: number
  readonly to: number
}

/** One window serves all batches, and holds the whole of the one that is read: a backlog must not become garbage. */
export class SegmentReader {
  readonly #fd: number
  /** Up to where may be read. */
  readonly #endsAt: () => number
  readonly #window: FrameWindow
  readonly #isGrowing: () => boolean
  /** Bytes beyond what a writer can have written. */
  #excessBytes = 0
  #reading: Promise<void> | undefined

  /**
   * @param from offset of the first frame
   * @param endsAt by default the end of the file
   * @throws the system's errors, UnsafeError
   */
  constructor(
    path: string,
    from: number,
    endsAt: () => number = () => Infinity,
    isGrowing: () => boolean = () => false,
  ) {
    this.#isGrowing = isGrowing
    this.#fd = openSegment(path)
    this.#window = new FrameWindow(from)
    this.#endsAt = endsAt
  }

  /** Offset behind what was read. */
  get position(): number {
    return this.#window.position
  }

  /** Bytes that belong to no frame. */
  get damagedBytes(): number {
    return this.#window.damagedBytes + this.#excessBytes
  }

  /** The next batch, or undefined at the end. One call at a time. @throws the system's error (rejects) */
  next(): Promise<ReadBatch | undefined> {
    const batch = this.#next()
    this.#reading = batch.then(
      () => {},
      () => {},
    )
    return batch
  }

  /** Closes the file after the read in progress: its file descriptor must not be reused for another file. */
  async close(): Promise<void> {
    await this.#reading
    await closeAsync(this.#fd)
  }

  async #next(): Promise<ReadBatch | undefined> {
    let batchId: string | undefined
    let offset = 0
    let rank = 0
    let sealedCount: number | undefined
    const spans: Span[] = []
    this.#window.beginBatch()
    // A seal may stand before the end: a batch that was begun anew, because its writer had to move, is sealed twice.
    for (let frame = await this.#frame(); frame !== undefined; frame = await this.#frame()) {
      if (batchId !== undefined && frame.batchId !== batchId) break
      const { first, count, text } = frame
      if (batchId === undefined) offset = this.#window.position
      const from = this.#window.keep(frame) + HEADER_BYTES
      if (frame.kind === 'seal') sealedCount = count
      else spans.push({ first, count, from, to: from + text.length })
      batchId = frame.batchId
      rank = Math.max(rank, frame.rank)
    }
    if (batchId === undefined) return undefined
    const pieces = spans.map(({ first, count, from, to }): EntryRun => ({
      first,
      count,
      text: this.#window.kept(from, to),
    }))
    return { batchId, offset, rank, runs: inOrder(pieces), sealedCount }
  }

  /** The frame at the position, behind whatever is damaged; it is not yet passed. */
  async #frame(): Promise<Frame | undefined> {
    for (;;) {
      const found = this.#window.find()
      if (typeof found !== 'number') return found
      const end = this.#end()
      // An incomplete frame at the end may be one that is still being written.
      if (this.#window.position + found > end && this.#isGrowing()) return undefined
      const target = this.#window.reserve(found, end)
      if (target !== undefined) {
        const { bytesRead } = await readAsync(this.#fd, target.buffer, target.offset, target.length, target.position)
        if (bytesRead === 0) return undefined // truncated since its size was read
        this.#window.filled(bytesRead)
      } else if (this.#window.position >= end) return undefined
    }
  }

  #end(): number {
    const size = Math.min(this.#endsAt(), fstatSync(this.#fd).size)
    this.#excessBytes = Math.max(0, size - MAX_SEGMENT_BYTES)
    return size - this.#excessBytes
  }
}

/** A batch that was begun anew, after its writer had to move, holds some entries twice. */
function inOrder(pieces: readonly EntryRun[]): readonly EntryRun[] {
  const isSorted = pieces.every((piece, at) => at === 0 || endOf(pieces[at - 1] as EntryRun) <= piece.first)
  if (isSorted) return pieces
  const kept: EntryRun[] = []
  // The longest that begins first: what was written as a whole wins over what it replaces.
  for (const piece of pieces.toSorted((a, b) => a.first - b.first || b.count - a.count)) {
    if (kept.length === 0 || endOf(kept.at(-1) as EntryRun) <= piece.first) kept.push(piece)
  }
  return kept
}

function endOf({ first, count }: EntryRun): number {
  return first + count
}
