/**
 * Bytes of a file -> slices: each is a stretch of its text and the one batch that is made of it. A slice's batch has an id
 * that follows from its place, so that one that is cut again after an interruption is known to the service.
 */
import { createSubBatchId } from '../../batch/sub-batch.js'
import type { Batch } from '../../batch/sender.js'
import { Body } from './body.js'
import { ByteLines } from './lines.js'
import type { Line } from './lines.js'
import type { Ranges } from './ranges.js'

export interface Slice {
  /** In bytes of the text. */
  readonly start: number
  readonly end: number
  /** Of the file's last line, where it lacks its newline: should the file grow, it is another line. */
  readonly openFrom?: number
  /** None where nothing of it is to be sent. */
  readonly batch?: Batch
  /** Records that are left out, as configured. */
  readonly filtered: number
}

export interface CutterOptions {
  readonly intake: {
    beginText(): void
    build(text: string, start: number, end: number): { readonly json: string; readonly severity: number }
  }
  /** UUID that stands for this file in this run; the namespace of the batch ids. */
  readonly namespace: string
  /** Entries in a batch. */
  readonly batchSize: number
  /** Bytes of a batch's body. A single entry beyond it goes alone. */
  readonly batchBytes: number
  /** Offset of the first byte that will come, which begins a line. */
  readonly from: number
  /** Lines in there are done with. */
  readonly settled: Pick<Ranges, 'covers'>
}

/** Text of which nothing is sent is recorded now and then, too. */
const IDLE_BYTES = 4 * 1024 * 1024

const NO_ENTRY = { json: '', severity: 0 }

export class Cutter {
  readonly #options: CutterOptions
  readonly #lines: ByteLines
  #start: number
  #end: number
  #openFrom: number | undefined
  readonly #body: Body
  #highestRank = 0
  #filtered = 0

  constructor(options: CutterOptions) {
    this.#options = options
    this.#lines = new ByteLines(options.from)
    this.#body = new Body(options.batchBytes)
    this.#start = this.#end = options.from
  }

  /** The slices that `block` completes. It may be used for other bytes once the last was taken. */
  *push(block: Buffer): Generator<Slice> {
    for (const line of this.#lines.push(block)) yield* this.#take(line)
  }

  /** No more comes. @param isWhole false: the text breaks off, and what was left without a newline is no line */
  *end(isWhole = true): Generator<Slice> {
    if (isWhole) for (const line of this.#lines.end()) yield* this.#take(line)
    yield* this.#cut()
  }

  *#take(line: Line): Generator<Slice> {
    const { intake, settled, batchSize, batchBytes } = this.#options
    const { text, start, end, from, to, next } = line
    if (line.isNewText) intake.beginText()
    if (settled.covers(from, to)) {
      yield* this.#cut()
      // A last line was sent without its newline, which came since.
      this.#start = settled.covers(from, next) ? next : to
      this.#end = next
      return
    }
    // An empty line is no record.
    const { json: entry, severity } = end > start ? intake.build(text, start, end) : NO_ENTRY
    if (entry === '') {
      if (end > start) this.#filtered += 1
    } else {
      if (!this.#body.fits(entry)) yield* this.#cut()
      this.#body.add(entry)
      if (severity > this.#highestRank) this.#highestRank = severity
    }
    this.#end = next
    this.#openFrom = next === to && to > from ? from : undefined
    const isFull = this.#body.count >= batchSize || this.#body.bytes >= batchBytes
    if (isFull || (this.#body.count === 0 && this.#end - this.#start >= IDLE_BYTES)) yield* this.#cut()
  }

  *#cut(): Generator<Slice> {
    const start = this.#start
    const end = this.#end
    if (end === start) return
    const slice: Slice = {
      start,
      end,
      filtered: this.#filtered,
      ...(this.#openFrom !== undefined && { openFrom: this.#openFrom }),
      ...(this.#body.count > 0 && { batch: this.#batch(start, end) }),
    }
    this.#start = end
    this.#openFrom = undefined
    this.#highestRank = 0
    this.#filtered = 0
    yield slice
  }

  #batch(start: number, end: number): Batch {
    const batchId = createSubBatchId(this.#options.namespace, [start, end])
    return { batchId, count: this.#body.count, highestSeverity: this.#highestRank, body: this.#body.take(batchId) }
  }
}
