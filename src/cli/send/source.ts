/** A file's text, block by block, from a place in it. Nothing is read before it is asked for: who sends slowly reads slowly. */
import type { FileHandle } from 'node:fs/promises'
import { Inflater } from './inflater.js'

export interface Block {
  /** Good until the next is asked for. May be empty: what is passed over is told as well, so that nobody waits for it in vain. */
  readonly bytes: Buffer
  /** Bytes read from the disk so far. */
  readonly readTo: number
}

/** Compressed text that cannot be read to its end. What came before was given. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError'
  /** Of the last byte on disk that could be read, or a little before. */
  readonly readTo: number

  constructor(message: string, readTo: number) {
    super(message)
    this.readTo = readTo
  }
}

/** A few batches of usual lines. Four times as much costs 25 MB of memory, and is no faster. */
const BLOCK_BYTES = 64 * 1024
/** Inflated at most 1032 times as long. */
const COMPRESSED_BYTES = 16 * 1024

/** Rejects with the system's errors. */
export async function* plainBlocks(handle: FileHandle, from: number): AsyncGenerator<Block> {
  const window = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  for (let at = from; ;) {
    const { bytesRead } = await handle.read(window, 0, BLOCK_BYTES, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield { bytes: window.subarray(0, bytesRead), readTo: at }
  }
}

/** @param from bytes of the text that are passed over. Rejects with DamagedError and the system's errors */
export async function* gzipBlocks(handle: FileHandle, from: number): AsyncGenerator<Block> {
  let given = 0
  let damagedAt = Infinity
  for (;;) {
    const inflater = new Inflater()
    const window = Buffer.allocUnsafeSlow(COMPRESSED_BYTES)
    let text = 0
    try {
      for (let at = 0; ;) {
        // What zlib made of a piece is lost where the piece is damaged: there it is given byte by byte.
        const { bytesRead } = await handle.read(window, 0, at >= damagedAt ? 1 : COMPRESSED_BYTES, at)
        const outcome = bytesRead === 0 ? await inflater.end() : await inflater.push(window.subarray(0, bytesRead))
        for (const block of outcome.blocks) {
          const bytes = block.subarray(Math.max(0, Math.min(from + given - text, block.length)))
          text += block.length
          given += bytes.length
          // Blocks lie outside of the heap, which is not collected for them alone; for text it is. That saves 30 MB.
          if (bytes.length === 0) block.toString('latin1')
          yield { bytes, readTo: at + bytesRead }
        }
        if (outcome.failure !== undefined) {
          if (bytesRead === 0 || damagedAt !== Infinity) throw new DamagedError(outcome.failure, at)
          damagedAt = at
          break
        }
        if (bytesRead === 0) return
        at += bytesRead
      }
    } finally {
      inflater.close()
    }
  }
}

/** A stream that cannot be read again. @param pieces plain or gzip, as its first bytes say. Rejects with its errors, DamagedError */
export async function* streamBlocks(
  pieces: AsyncIterable<Buffer>,
  isGzip: (first: Buffer) => boolean,
): AsyncGenerator<Block> {
  let readTo = 0
  let inflater: Inflater | undefined
  let first: Buffer | undefined = Buffer.alloc(0)
  const inflate = async function* (piece: Buffer | undefined): AsyncGenerator<Block> {
    const outcome = piece === undefined ? await inflater?.end() : await inflater?.push(piece)
    for (const bytes of outcome?.blocks ?? []) yield { bytes, readTo }
    if (outcome?.failure !== undefined) throw new DamagedError(outcome.failure, readTo)
  }
  try {
    for await (const piece of pieces) {
      readTo += piece.length
      let bytes = piece
      if (first !== undefined) {
        first = Buffer.concat([first, piece])
        if (first.length < 2) continue
        bytes = first
        first = undefined
        if (isGzip(bytes)) inflater = new Inflater()
      }
      if (inflater === undefined) yield { bytes, readTo }
      else
        for (let at = 0; at < bytes.length; at += COMPRESSED_BYTES)
          yield* inflate(bytes.subarray(at, at + COMPRESSED_BYTES))
    }
    if (first !== undefined && first.length > 0) yield { bytes: first, readTo }
    if (inflater !== undefined) yield* inflate(undefined)
  } finally {
    inflater?.close()
  }
}
