/** Passes the text of a file to the pipeline in whole lines, at most as many as fit into the open batch. */
import { StringDecoder } from 'node:string_decoder'
import type { Pipeline } from '../../pipeline/pipeline.js'
import type { Position } from './checkpoint.js'
import type { FilePositionLog } from './file-position-log.js'

export interface TextFeedOptions {
  readonly pipeline: Pick<Pipeline, 'account' | 'end'> & { readonly records: Pick<Pipeline['records'], 'write'> }
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
const BYTE_ORDER_MARK = '\ufeff'

export class TextFeed {
  readonly #options: TextFeedOptions
  readonly #decoder = new StringDecoder('utf8')
  /** Position up to which the text was passed to the pipeline. */
  #position: Position
  /** The text after `#position`: whole lines and the start of another line. */
  #collected: Buffer[] = []
  #bytes = 0
  #lines = 0

  /** @param from position of the first text */
  constructor(options: TextFeedOptions, from: Position) {
    this.#options = options
    this.#position = { ...from, lineStart: from.offset }
  }

  get isAtStart(): boolean {
    return this.#position.offset === 0 && this.#bytes === 0
  }

  get openEntries(): number {
    const { received, filtered } = this.#options.pipeline.account
    return this.#options.log.countOpen(received - filtered)
  }

  /** Collects lines from `start` on, as many as fit. The block may be reused afterwards. @returns offset of the next line */
  write(block: Buffer, start: number): number {
    const { batchSize } = this.#options
    let end = start
    while (this.#lines + this.openEntries < batchSize) {
      const newline = block.indexOf(NEWLINE, end)
      if (newline === -1) break
      end = newline + 1
      this.#lines += 1
    }
    const isFull = this.#lines + this.openEntries >= batchSize
    if (!isFull) end = block.length
    const part = block.subarray(start, end)
    this.#collected.push(isFull ? part : Buffer.from(part))
    this.#bytes += part.length
    if (isFull || this.#bytes > MAX_BYTES) this.#take()
    return end
  }

  /** @param isWhole whether to send the rest without a newline as a line @returns the offset of the end */
  end(isWhole: boolean): number {
    if (this.#lines > 0) this.#take()
    if (isWhole && this.#bytes > 0) this.#take()
    this.#options.pipeline.records.write(this.#decoder.end())
    this.#endPiece(true)
    return this.#position.offset
  }

  #take(): void {
    const { pipeline, log } = this.#options
    const all = this.#collected.length === 1 ? (this.#collected[0] as Buffer) : Buffer.concat(this.#collected)
    const isPart = this.#lines === 0
    const bytes = isPart ? all : all.subarray(0, all.lastIndexOf(NEWLINE) + 1)
    this.#collected = bytes.length < all.length ? [all.subarray(bytes.length)] : []
    this.#bytes = all.length - bytes.length
    this.#lines = 0
    const { offset: start, lineStart, tail } = this.#position
    const offset = start + bytes.length
    log.beginPiece(offset)
    const text = this.#decoder.write(bytes)
    pipeline.records.write(start === 0 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
    this.#position = {
      offset,
      lineStart: isPart ? lineStart : offset,
      tail: Buffer.concat([tail, bytes.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES),
    }
    if (!isPart) this.#endPiece(log.isCut)
  }

  /** @param isSealed whether the open batch is ended as well */
  #endPiece(isSealed: boolean): void {
    const { pipeline, log } = this.#options
    if (isSealed) pipeline.end()
    if (this.openEntries === 0) log.endPiece(this.#position, pipeline.account.filtered)
  }
}
