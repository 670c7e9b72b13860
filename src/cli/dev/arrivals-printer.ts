/** Shows what arrives, as long as somebody reads as fast. */
import type { Clock } from '../../shared/clock.js'
import type { RecordKind, Records, Stored } from '../../service/store/stored-record.js'
import { formatRecordLine } from '../shared/record-line.js'
import type { Paint } from '../shared/paint.js'

/** stdout or stderr, or what stands for it. */
export interface PrinterOutput {
  readonly isTTY?: boolean
  readonly writableLength: number
  readonly destroyed: boolean
  write(text: string): unknown
  once(event: 'drain', listener: () => void): unknown
}

/** A reader that is slower than the entries come must not cost the memory. */
const MAX_UNREAD_BYTES = 1 << 20
/** Nobody reads more, and while a terminal writes, which Node waits for, the service does nothing else. */
const MAX_TERMINAL_LINES = 1_000
const WINDOW_MS = 1_000

export class ArrivalsPrinter {
  readonly #out: PrinterOutput
  readonly #paint: Paint
  readonly #clock: Clock
  readonly #maxLines: number
  #left = 0
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
    if (this.#left === 0 && this.#hasRoom(records.length)) {
      this.#out.write(
        (records as readonly Records[K][]).map((record) => formatRecordLine(kind, record, this.#paint)).join(''),
      )
    } else {
      this.#left += records.length
    }
  }

  /** Where there is none, it sees to it that what is left out is told where it is missing. */
  #hasRoom(lines: number): boolean {
    const now = this.#clock.now()
    if (now >= this.#windowEndMs) {
      this.#windowEndMs = now + WINDOW_MS
      this.#linesInWindow = 0
    }
    this.#linesInWindow += lines
    if (this.#out.writableLength > MAX_UNREAD_BYTES) {
      this.#out.once('drain', () => this.#tellLeft())
      return false
    }
    if (this.#linesInWindow <= this.#maxLines) return true
    this.#clock.timer(this.#windowEndMs - now, () => this.#tellLeft())
    return false
  }

  #tellLeft(): void {
    this.#out.write(
      this.#paint(
        'dim',
        `… ${this.#left} not shown, since they come faster than this can show them; the page has them`,
      ) + '\n',
    )
    this.#left = 0
  }
}
