/** Batches out of a segment's file, one at a time, within a window. */
import { close, fstatSync, read } from 'node:fs'
import { promisify } from 'node:util'
import { readFrame } from './frame.js'
import type { Frame } from './frame.js'
import { openSegment } from './segment.js'

const WINDOW_BYTES = 256 * 1024

const readAsync = promisify(read)
const closeAsync = promisify(close)

/** Entries that stand together in a batch. */
export interface Piece {
  readonly first: number
  readonly count: number
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

export class SegmentReader {
  readonly #fd: number
  /** Up to where may be read. */
  readonly #endsAt: () => number
  #window = Buffer.alloc(0)
  /** Offset of the window's first byte in the file. */
  #windowAt: number
  #at = 0
  #damagedBytes = 0

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

  /** The next batch, or undefined at the end. @throws the system's error (rejects) */
  async next(): Promise<ReadBatch | undefined> {
    let batchId: string | undefined
    let rank = 0
    let sealedCount: number | undefined
    const pieces: Piece[] = []
    // A seal may stand before the end: a batch that was begun anew, because its writer had to move, is sealed twice.
    for (let frame = await this.#frame(); frame !== undefined; frame = await this.#frame()) {
      if (batchId !== undefined && frame.batchId !== batchId) break
      this.#at += frame.bytes
      batchId = frame.batchId
      if (frame.kind === 'seal') sealedCount = frame.count
      // Not a view: the window would stay for as long as the batch waits.
      else pieces.push({ first: frame.first, count: frame.count, text: Buffer.from(frame.text) })
      rank = Math.max(rank, frame.rank)
    }
    return batchId === undefined ? undefined : { batchId, rank, pieces: inOrder(pieces), sealedCount }
  }

  async close(): Promise<void> {
    await closeAsync(this.#fd)
  }

  /** The frame at the position, behind whatever is damaged; it is not yet passed. */
  async #frame(): Promise<Frame | undefined> {
    for (;;) {
      const found = readFrame(this.#window, this.#at)
      if ('frame' in found) return found.frame
      if ('skip' in found) {
        this.#at += found.skip
        this.#damagedBytes += found.skip
        continue
      }
      if (await this.#refill(found.needs)) continue
      const left = this.#window.length - this.#at
      if (left <= 0) return undefined
      // The end cuts a frame, or what looks like one.
      this.#at += 1
      this.#damagedBytes += 1
    }
  }

  /** Moves the window so that it begins at the position. @returns false where the file has no more */
  async #refill(needs: number): Promise<boolean> {
    const from = this.position
    const size = Math.min(Math.max(needs, WINDOW_BYTES), Math.min(this.#endsAt(), fstatSync(this.#fd).size) - from)
    const before = this.#window.length - this.#at
    if (size <= before) return false
    const window = Buffer.allocUnsafeSlow(size)
    let length = 0
    while (length < size) {
      const { bytesRead } = await readAsync(this.#fd, window, length, size - length, from + length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    this.#window = window.subarray(0, length)
    this.#windowAt = from
    this.#at = 0
    return length > before
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
