/** Batches out of a segment's file, one at a time, within a window. */
import { close, fstatSync, read } from 'node:fs'
import { promisify } from 'node:util'
import { HEADER_BYTES, readFrame } from './frame.js'
import type { Frame } from './frame.js'
import { openSegment } from './segment.js'

const WINDOW_BYTES = 256 * 1024

const readAsync = promisify(read)
const closeAsync = promisify(close)

/** Entries that stand together in a batch. */
export interface Piece {
  readonly first: number
  readonly count: number
  /** Valid until the next batch is read. */
  readonly text: Buffer
}

export interface ReadBatch {
  readonly batchId: string
  readonly rank: number
  /** By position; none overlap. */
  readonly pieces: readonly Piece[]
  /** Entries that the batch had when it was sealed; undefined where no seal was found. */
  readonly sealedCount: number | undefined
}

/** Of the batch that is being read, where a frame's text lies. Counted from the batch's beginning: the window moves. */
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
  #window = Buffer.allocUnsafeSlow(WINDOW_BYTES)
  /** Bytes of the window that are filled. */
  #length = 0
  /** Offset of the window's first byte in the file. */
  #windowAt: number
  #at = 0
  /** Where the batch begins that is being read. */
  #batchAt = 0
  #damagedBytes = 0
  #reading: Promise<void> | undefined

  /**
   * @param from offset of the first frame
   * @param endsAt by default the end of the file
   * @throws the system's errors, UnsafeError
   */
  constructor(path: string, from: number, endsAt: () => number = () => Infinity) {
    this.#fd = openSegment(path)
    this.#windowAt = from
    this.#endsAt = endsAt
  }

  /** Offset behind what was read. */
  get position(): number {
    return this.#windowAt + this.#at
  }

  /** Bytes that belong to no frame. */
  get damagedBytes(): number {
    return this.#damagedBytes
  }

  /** The next batch, or undefined at the end. One call at a time. @throws the system's error (rejects) */
  next(): Promise<ReadBatch | undefined> {
    const batch = this.#next()
    this.#reading = batch.then(() => {}, () => {})
    return batch
  }

  /** Once the read under way has ended: its number must not become another file's. */
  async close(): Promise<void> {
    await this.#reading
    await closeAsync(this.#fd)
  }

  async #next(): Promise<ReadBatch | undefined> {
    let batchId: string | undefined
    let rank = 0
    let sealedCount: number | undefined
    const spans: Span[] = []
    this.#batchAt = this.#at
    // A seal may stand before the end: a batch that was begun anew, because its writer had to move, is sealed twice.
    for (let frame = await this.#frame(); frame !== undefined; frame = await this.#frame()) {
      if (batchId !== undefined && frame.batchId !== batchId) break
      const { first, count } = frame
      const from = this.#at - this.#batchAt + HEADER_BYTES
      if (frame.kind === 'seal') sealedCount = count
      else spans.push({ first, count, from, to: from + frame.text.length })
      batchId = frame.batchId
      rank = Math.max(rank, frame.rank)
      this.#at += frame.bytes
    }
    if (batchId === undefined) return undefined
    const pieces = spans.map(({ first, count, from, to }): Piece => ({ first, count, text: this.#window.subarray(this.#batchAt + from, this.#batchAt + to) }))
    return { batchId, rank, pieces: inOrder(pieces), sealedCount }
  }

  /** The frame at the position, behind whatever is damaged; it is not yet passed. */
  async #frame(): Promise<Frame | undefined> {
    for (;;) {
      const found = readFrame(this.#window.subarray(0, this.#length), this.#at)
      if ('frame' in found) return found.frame
      if ('skip' in found) {
        this.#at += found.skip
        this.#damagedBytes += found.skip
        continue
      }
      if (await this.#refill(found.needs)) continue
      if (this.#at >= this.#length) return undefined
      // The end cuts a frame, or what looks like one.
      this.#at += 1
      this.#damagedBytes += 1
    }
  }

  /** Fills the window up, from the beginning of the batch on. @returns false where the file has no more */
  async #refill(needs: number): Promise<boolean> {
    const end = Math.min(this.#endsAt(), fstatSync(this.#fd).size)
    if (end <= this.#windowAt + this.#length) return false
    this.#makeRoom(needs)
    const before = this.#length
    const size = Math.min(this.#window.length, end - this.#windowAt)
    while (this.#length < size) {
      const { bytesRead } = await readAsync(this.#fd, this.#window, this.#length, size - this.#length, this.#windowAt + this.#length)
      if (bytesRead === 0) break
      this.#length += bytesRead
    }
    return this.#length > before
  }

  /** Forgets what lies before the batch. The window grows with a batch that does not fit, and shrinks behind it. */
  #makeRoom(needs: number): void {
    const kept = this.#length - this.#batchAt
    const needed = this.#at - this.#batchAt + needs
    const isFull = kept >= this.#window.length / 2
    const size = Math.max(WINDOW_BYTES, needed, isFull ? 2 * kept : 0)
    const target = size > this.#window.length || size < this.#window.length / 4 ? Buffer.allocUnsafeSlow(size) : this.#window
    this.#window.copy(target, 0, this.#batchAt, this.#length)
    this.#window = target
    this.#windowAt += this.#batchAt
    this.#at -= this.#batchAt
    this.#length = kept
    this.#batchAt = 0
  }
}

/** A batch that was begun anew, after its writer had to move, holds some entries twice. */
function inOrder(pieces: readonly Piece[]): readonly Piece[] {
  const isSorted = pieces.every((piece, at) => at === 0 || endOf(pieces[at - 1] as Piece) <= piece.first)
  if (isSorted) return pieces
  const kept: Piece[] = []
  // The longest that begins first: what was written as a whole wins over what it replaces.
  for (const piece of pieces.toSorted((a, b) => a.first - b.first || b.count - a.count)) {
    if (kept.length === 0 || endOf(kept.at(-1) as Piece) <= piece.first) kept.push(piece)
  }
  return kept
}

function endOf({ first, count }: Piece): number {
  return first + count
}
