/** Prints one line per received record, and one per request. If the output is read too slowly, lines are skipped and counted. */
import type { Clock } from '../../shared/clock.js'
import type { RecordKind, Records, Stored, StoredEntry, StoredRequestLog } from '../../service/store/stored-record.js'
import { REQUEST_MESSAGES } from '../local/record-line.js'
import type { RecordFormat } from '../local/record-line.js'

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
/** Requests of which only one of the two records has arrived. */
const MAX_UNPAIRED = 1_000

export class ArrivalsPrinter {
  readonly #out: PrinterOutput
  readonly #format: RecordFormat
  readonly #clock: Clock
  readonly #maxLines: number
  #skipped = 0
  #windowEndMs = -Infinity
  #linesInWindow = 0
  /** By request, how many more of its entries than of its request logs were received. */
  readonly #unpaired = new Map<string, number>()

  constructor(out: PrinterOutput, format: RecordFormat, clock: Clock) {
    this.#out = out
    this.#format = format
    this.#clock = clock
    this.#maxLines = out.isTTY === true ? MAX_TERMINAL_LINES : Infinity
  }

  /** For the service's `onRecords`. */
  readonly print = <K extends RecordKind>(kind: K, records: readonly Stored[]): void => {
    if (this.#out.destroyed) return
    const shown = (records as readonly Records[K][]).filter((record) => !this.#isOfPrintedRequest(kind, record))
    if (this.#skipped === 0 && this.#hasCapacity(shown.length))
      this.#out.write(shown.map((record) => this.#format(kind, record)).join(''))
    else this.#skipped += shown.length
  }

  /** A framework logs the start and the end of a request, and `requestLogs` adds a request log. An error is always printed. */
  #isOfPrintedRequest(kind: RecordKind, record: Stored): boolean {
    if (kind !== 'entry' && kind !== 'request') return false
    const { entry } = record as StoredEntry
    if (kind === 'entry' && (entry.error !== undefined || !REQUEST_MESSAGES.includes(entry.message))) return false
    const { service } = kind === 'entry' ? entry : (record as StoredRequestLog).request
    const request = kind === 'entry' ? entry.request : (record as StoredRequestLog).request
    if (request?.status_code === undefined) return request !== undefined
    const key = JSON.stringify([service, request.method, request.path, request.status_code, request.duration_ms])
    const printed = this.#unpaired.get(key) ?? 0
    const step = kind === 'entry' ? 1 : -1
    if (printed === -step) this.#unpaired.delete(key)
    else this.#unpaired.set(key, printed + step)
    if (this.#unpaired.size > MAX_UNPAIRED) this.#unpaired.clear()
    return printed * step < 0
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
    const text = `… ${this.#skipped} records skipped, since they arrived faster than the output is read; the page shows them`
    this.#out.write(`${text}\n`)
    this.#skipped = 0
  }
}
