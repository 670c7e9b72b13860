/**
 * Reads records from the text that pino writes. Each line is counted as received, and its entry is batched, filtered or
 * refused.
 *
 * [worker] Long text is read in slices. pino passes up to 4 MiB to its worker at once; read in one piece, it would
 * become hundreds of batches before a reply is read or a request started. More text is requested when reading a text
 * starts: pino then counts the text as read, and at exit it waits at most 10 s until everything is read.
 */
import type { Account } from '../diagnostics/account.js'
import { RunEnd, Stop } from '../record/memory.js'
import { LineJoiner } from '../record/line-joiner.js'
import { LineReader } from '../record/line-reader.js'
import type { Line } from '../record/line-ring.js'
import { LineUnwrapper } from '../record/line-unwrapper.js'
import type { Mapper } from '../record/mapper.js'
import type { Admission } from './admission.js'
import type { Batcher } from './batcher.js'
import type { MappedRecord } from '../record/mapped-record.js'
import type { EntryBuilder } from './entry-builder.js'

export interface RecordEndpoint {
  readonly account: Account
  readonly admission: Pick<Admission, 'threshold'>
  readonly batcher: Pick<Batcher, 'add' | 'freeEntries' | 'freeBytes'>
  /** Counts and reports entries that are not admitted. */
  recordNotAdmitted(count: number): void
}

export interface RecordReaderOptions {
  /** If false, text is consumed and discarded. */
  readonly isEnabled: boolean
  readonly endpoint: RecordEndpoint
  readonly entryBuilder: Pick<EntryBuilder, 'beginText' | 'stops'> & {
    build(
      line: Line,
      isDivisible: boolean,
      reason?: number,
    ): Pick<MappedRecord, 'bytes' | 'json' | 'isEmpty' | 'severity'> | undefined
  }
  readonly mapper: Pick<Mapper, 'lines' | 'run' | 'isRecord' | 'startsWithLevel'>
  /** Called once if the input has an unsupported form, with the form and a command that avoids it. */
  readonly onUnsupportedInput: (form: string, command: string) => void
  /** Whether to find records in wrapped lines and beside text, and to join lines of one text: see `LineUnwrapper` and `LineJoiner`. */
  readonly joinsLines: boolean
  readonly onRead: () => void
}

/** About 30 batches of the smallest records, as many as may be in flight. */
const SLICE_CHARS = 256 * 1024

interface WaitingText {
  readonly text: string
  readonly onBegun: () => void
}

export class RecordReader {
  readonly #options: RecordReaderOptions
  readonly #lines: LineReader
  readonly unwrapper: LineUnwrapper | undefined
  /** Waiting texts; the first one is being read. */
  readonly #waiting: WaitingText[] = []
  readonly #limits = { entries: 0, bytes: 0, admitted: 0, stops: 0 }
  #pendingEntries = 0

  constructor(options: RecordReaderOptions) {
    const readLine = (line: Line): void => this.#readLine(line)
    const { mapper, onUnsupportedInput } = options
    const { lines } = mapper
    this.#options = options
    this.unwrapper = options.joinsLines
      ? new LineUnwrapper(mapper, new LineJoiner(lines, readLine), onUnsupportedInput)
      : undefined
    this.#lines = new LineReader({
      ring: lines,
      onLines: () => this.#readLines(),
      onLongLine: this.unwrapper?.add ?? readLine,
    })
  }

  /** Entries being built: received, but not yet in another stage. */
  get pendingEntries(): number {
    return this.#pendingEntries
  }

  /** Reads all of `text`, which may start and end anywhere in a line. */
  write(text: string): void {
    this.#begin(text)
    this.#advance(Infinity)
  }

  /**
   * Reads `text` in slices. If no other text waits, a text of one slice is read when this returns.
   * @param onBegun called when reading `text` starts: immediately, or after all earlier text was read
   */
  add(text: string, onBegun: () => void): void {
    this.#waiting.push({ text, onBegun })
    if (this.#waiting.length > 1) return
    this.#beginWaiting()
    if (text.length <= SLICE_CHARS) this.#readSlice()
    else setImmediate(this.#readSlice)
  }

  /**
   * Reads all text that waits now. Excludes text added in the meantime, because the application may continue to log.
   */
  finish(): void {
    for (let left = this.#waiting.length; left > 0; left -= 1) this.#advanceWaiting(Infinity)
  }

  /** Ends the text. A rest without a newline is read as a line. */
  end(): void {
    this.finish()
    this.#begin('')
    this.#lines.end()
    this.unwrapper?.end()
  }

  /** Reads lines that wait for lines to be joined with. */
  flushLines(): void {
    this.unwrapper?.flush()
    this.#options.onRead()
  }

  readonly #readSlice = (): void => {
    if (this.#waiting.length > 0 && this.#advanceWaiting(SLICE_CHARS)) setImmediate(this.#readSlice)
  }

  /** @returns whether there is more */
  #advanceWaiting(maxChars: number): boolean {
    if (this.#advance(maxChars)) return true
    this.#waiting.shift()
    this.#beginWaiting()
    return this.#waiting.length > 0
  }

  #beginWaiting(): void {
    const first = this.#waiting[0]
    if (first === undefined) return
    this.#begin(first.text)
    first.onBegun()
  }

  #begin(text: string): void {
    this.#lines.advance()
    this.#options.entryBuilder.beginText()
    this.#lines.begin(this.#options.isEnabled ? text : '')
  }

  #advance(maxChars: number): boolean {
    const hasMore = this.#lines.advance(maxChars)
    this.#options.onRead()
    return hasMore
  }

  /** A listener of the batcher's events may write another text, which reads the remaining lines first. */
  #readLines(): void {
    while (this.#lines.hasLines) {
      if (this.unwrapper?.isWaiting === true) this.#unwrapNext(this.unwrapper)
      else this.#readRun()
    }
  }

  #readRun(): void {
    const { endpoint, entryBuilder, mapper } = this.#options
    const { account, admission, batcher } = endpoint
    const lines = this.#lines
    const { position, bytes } = lines
    const limits = this.#limits
    limits.entries = batcher.freeEntries
    limits.bytes = batcher.freeBytes
    limits.admitted = admission.threshold
    limits.stops = this.unwrapper === undefined ? entryBuilder.stops : entryBuilder.stops | Stop.MAYBE_WRAPPED
    const run = mapper.run(position, bytes, limits)
    // Read before a listener may write another text.
    const { reason, entries, filtered, refused } = run
    const next = position + run.bytes
    lines.skip(run.bytes)
    account.received += filtered + entries
    account.filtered += filtered
    if (run.bytes > 0 && this.unwrapper !== undefined) this.unwrapper.isWrappedText = false
    if (entries > 0) batcher.add(run, run.highest, entries)
    if (refused > 0) {
      account.received += refused
      endpoint.recordNotAdmitted(refused)
    }
    if (reason === RunEnd.LIMIT || lines.position !== next) return
    if (reason === RunEnd.DECLINED && this.unwrapper !== undefined) return this.#unwrapNext(this.unwrapper)
    const line = lines.next()
    if (line !== undefined) this.#readLine(line, reason)
  }

  #unwrapNext(unwrapper: LineUnwrapper): void {
    const line = this.#lines.next()
    if (line !== undefined) unwrapper.add(line)
  }

  /** @param reason why a run ended at the line, if it did */
  #readLine(line: Line, reason?: number): void {
    const { endpoint, entryBuilder } = this.#options
    const { account, admission, batcher } = endpoint
    account.received += 1
    this.#pendingEntries = 1
    const record = entryBuilder.build(line, this.unwrapper !== undefined && !line.isPart, reason)
    this.#pendingEntries = 0
    if (record === undefined) {
      // Each of its parts is counted.
      account.received -= 1
      return this.unwrapper?.divide(line.text, line.cutFrom)
    }
    // Trace is sent as debug.
    const severity = Math.max(record.severity, 0)
    if (record.isEmpty) account.filtered += 1
    else if (severity < admission.threshold) endpoint.recordNotAdmitted(1)
    else batcher.add(record.bytes ?? record.json, severity)
  }
}
