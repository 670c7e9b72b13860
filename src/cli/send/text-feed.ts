/**
 * Passes the text of a file to the pipeline in whole blocks of lines, at most as many as fit into the open batch. A block is one line, or lines
 * that may be joined to one entry.
 */
import { StringDecoder } from 'node:string_decoder'
import type { Pipeline } from '../../pipeline/pipeline.js'
import type { Position } from './checkpoint.js'
import type { FilePositionLog } from './file-position-log.js'

export interface TextFeedOptions {
  readonly pipeline: Pick<Pipeline, 'account' | 'endInput'> & {
    readonly records: Pick<Pipeline['records'], 'write' | 'flushLines' | 'unwrapper'>
  }
  /** The log that is also passed to the pipeline. */
  readonly log: FilePositionLog
  /** Entries in a batch. */
  readonly batchSize: number
}

/** Limit of the collected text. A longer line is passed on in parts, which the pipeline joins. */
const MAX_BYTES = 16 * 1024 * 1024
/** Length of the text by which a later run identifies the file. */
const TAIL_BYTES = 1024
const NEWLINE = 0x0a
/** A line that begins with one of these may continue the line above it. */
const CONTINUATIONS = Buffer.from(' \t\r\n])}')
/** A longer block may be divided between any two lines. */
const MAX_BLOCK_BYTES = 1024 * 1024

export class TextFeed {
  readonly #options: TextFeedOptions
  readonly #decoder = new StringDecoder('utf8')
  /** Position up to which the text was passed to the pipeline. */
  #position: Position
  /** The text after `#position`: whole blocks and the start of another block. */
  #collected: Buffer[] = []
  #bytes = 0
  #blocks = 0
  /** Length of the whole blocks. */
  #blockBytes = 0
  #isAtLineStart = false
  /** Position up to which the log has all entries. */
  #ended: number

  /** @param from position of the first text */
  constructor(options: TextFeedOptions, from: Position) {
    this.#options = options
    this.#position = { ...from, lineStart: from.offset }
    this.#ended = from.offset
  }

  get isAtStart(): boolean {
    return this.#position.offset === 0 && this.#bytes === 0
  }

  get openEntries(): number {
    const { received, filtered } = this.#options.pipeline.account
    return this.#options.log.countOpen(received - filtered)
  }

  /** Collects blocks of lines from `start` on, as many as fit. The buffer may be reused afterwards. @returns offset of the next one */
  write(buffer: Buffer, start: number): number {
    const { batchSize } = this.#options
    let isFull = false
    let end = start
    while (end < buffer.length) {
      const bytes = this.#bytes + end - start
      if (this.#isAtLineStart && this.#endsBlock(buffer[end] as number, bytes)) {
        this.#blocks += 1
        this.#blockBytes = bytes
        isFull = this.#blocks + this.openEntries >= batchSize
        if (isFull) break
      }
      const newline = buffer.indexOf(NEWLINE, end)
      this.#isAtLineStart = newline !== -1
      end = newline === -1 ? buffer.length : newline + 1
    }
    const part = buffer.subarray(start, end)
    this.#collected.push(isFull ? part : Buffer.from(part))
    this.#bytes += part.length
    if (isFull || this.#bytes > MAX_BYTES) this.#take(this.#blocks > 0 ? this.#blockBytes : this.#bytes)
    return end
  }

  /** @param isWhole whether to send the rest without a newline as well @returns the offset of the end */
  end(isWhole: boolean): number {
    if (this.#blocks > 0) this.#take(this.#blockBytes)
    if (this.#bytes > 0) this.#take(isWhole ? this.#bytes : Buffer.concat(this.#collected).lastIndexOf(NEWLINE) + 1)
    this.#options.pipeline.records.write(this.#decoder.end())
    this.#endPiece(true)
    return this.#position.offset
  }

  #endsBlock(next: number, bytes: number): boolean {
    return bytes > 0 && (!CONTINUATIONS.includes(next) || bytes - this.#blockBytes > MAX_BLOCK_BYTES)
  }

  /** Passes on the first `length` bytes: whole blocks if there are any, else a part of a block. */
  #take(length: number): void {
    const { pipeline, log } = this.#options
    const all = this.#collected.length === 1 ? (this.#collected[0] as Buffer) : Buffer.concat(this.#collected)
    const isPart = this.#blocks === 0
    const bytes = all.subarray(0, length)
    this.#collected = bytes.length < all.length ? [all.subarray(bytes.length)] : []
    this.#bytes = all.length - bytes.length
    this.#blocks = this.#blockBytes = 0
    const { offset: start, lineStart, tail } = this.#position
    const offset = start + bytes.length
    log.beginPiece(offset)
    pipeline.records.write(this.#decoder.write(bytes))
    // The next line may continue the latest one, but not beyond this limit.
    if (!isPart && offset - this.#ended >= MAX_BLOCK_BYTES) pipeline.records.flushLines()
    const { unfinishedLines = 0, isWrappedText = false } = pipeline.records.unwrapper ?? {}
    const whole = bytes.at(-1) === NEWLINE ? bytes.length : 0
    const unfinished = unfinishedLines > 0 ? findLastLines(bytes, unfinishedLines) : whole
    this.#position = {
      offset,
      lineStart: unfinished === 0 ? lineStart : start + unfinished,
      tail: Buffer.concat([tail, bytes.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES),
    }
    // A piece ends after a whole line that the next line does not continue.
    if (isPart || unfinishedLines > 0 || isWrappedText) return
    pipeline.records.flushLines()
    this.#endPiece(log.isCut)
  }

  /** @param isSealed whether the open batch is ended as well */
  #endPiece(isSealed: boolean): void {
    const { pipeline, log } = this.#options
    if (isSealed) pipeline.endInput()
    if (this.openEntries > 0) return
    log.endPiece(this.#position, pipeline.account.filtered)
    this.#ended = this.#position.offset
  }
}

/** @returns the start of the last `count` lines that are not empty; 0 if there are fewer */
function findLastLines(text: Buffer, count: number): number {
  let end = text.lastIndexOf(NEWLINE)
  for (let left = count; left > 0 && end > 0;) {
    const start = text.lastIndexOf(NEWLINE, end - 1) + 1
    if (text.toString('latin1', start, end).trimEnd() !== '') left -= 1
    if (left === 0) return start
    end = start - 1
  }
  return 0
}
