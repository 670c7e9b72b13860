/** Prints one line per received record. If the output is read too slowly, lines are skipped and counted. */
import type { Clock } from '../../shared/clock.js'
import type { RecordKind, Records, Stored } from '../../service/store/stored-record.js'
import { formatRecordLine } from '../shared/record-line.js'
import type { Paint } from '../shared/paint.js'

/** stdout, stderr or a test's replacement. */
export interface PrinterOutput {
  readonly isTTY?: boolean
  readonly writableLength: number
  readonly destroyed: boolean
  write(text: string): unknown
  once(event: 'drain', listener: () => void): unknown
}

/** Memory limit for a slow reader. */
const MAX_UNREAD_BYTES = 1 << 20
/** Lines per second on a terminal: Node writes to it synchronously, which blocks the service. */
const MAX_TERMINAL_LINES = 1_000
const WINDOW_MS = 1_000

export class ArrivalsPrinter {
  readonly #out: PrinterOutput
  readonly #paint: Paint
  readonly #clock: Clock
  readonly #maxLines: number
  #skipped = 0
  #windowEndMs = -Infinity
  #linesInWindow = 0

  constructor(out: PrinterOutput, paint: Paint, clock: Clock) {
    this.#out = out
    this.#paint = paint
    this.#clock = clock
    this.#maxLines = out.isTTY === true ? MAX_TERMINAL_LINES : Infinity
  }

  /** For the service's `onRecords`. */
  readonly print = <K extends RecordKind>(kind: K, records: readonly Stored[]): void => {
    if (this.#out.destroyed) return
    if (this.#skipped === 0 && this.#hasCapacity(records.length)) {
      this.#out.write(
        (records as readonly Records[K][]).map((record) => formatRecordLine(kind, record, this.#paint)).join(''),
      )
    } else {
      this.#skipped += records.length
    }
  }

  /** Whether the lines can be written now. If they cannot, schedules the report of skipped lines. */
  #hasCapacity(lines: number): boolean {
    const now = this.#clock.now()
    if (now >= this.#windowEndMs) {
      this.#windowEndMs = now + WINDOW_MS
      this.#linesInWindow = 0
    }
    this.#linesInWindow += lines
    if (this.#out.writableLength > MAX_UNREAD_BYTES) {
      this.#out.once('drain', () => this.#reportSkipped())
      return false
    }
    if (this.#linesInWindow <= this.#maxLines) return true
    this.#clock.timer(this.#windowEndMs - now, () => this.#reportSkipped())
    return false
  }

  #reportSkipped(): void {
    this.#out.write(
      this.#paint(
        'dim',
        `… ${this.#skipped} records skipped, since they arrived faster than the output is read; the page shows them`,
      ) + '\n',
    )
    this.#skipped = 0
  }
}
