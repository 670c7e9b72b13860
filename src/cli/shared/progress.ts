/** Progress on stderr: a bar on a terminal, lines elsewhere, and messages between them. */
import type { Clock } from '../../shared/clock.js'
import { formatAge, formatJsonLine, formatNumber, toPrintable } from './terminal.js'

export interface Progress {
  /** What is sent, such as a file with its number. */
  readonly label: string
  readonly done?: number
  /** Undefined if it is not known. */
  readonly total?: number | undefined
  /** Entries that this run has sent. */
  readonly entries: number
  readonly entriesPerSecond: number
  readonly secondsLeft?: number | undefined
  readonly failure: string | undefined
}

const BAR_COLUMNS = 20

/** @param columns width of the terminal; if given, a bar is drawn if it fits */
export function formatProgress(
  { label, done = 0, total, entries, entriesPerSecond, secondsLeft, failure }: Progress,
  columns?: number,
): string {
  // At most 99 % until everything is acknowledged.
  const percent = total === undefined ? undefined : Math.min(99, Math.floor((100 * done) / Math.max(total, 1)))
  const rate = `${formatNumber(Math.round(entriesPerSecond))} entries/s`
  const left = secondsLeft === undefined ? [] : [`${formatAge(1_000 * secondsLeft)} left`]
  const state = failure === undefined ? [rate, ...left] : [`waiting for the log service: ${toPrintable(failure)}`]
  const text = [
    `${toPrintable(label)}${percent === undefined ? '' : ` ${percent}%`}`,
    `${formatNumber(entries)} entries`,
    ...state,
  ].join(', ')
  if (columns === undefined) return text
  const bar = `[${'='.repeat(((percent ?? 0) * BAR_COLUMNS) / 100).padEnd(BAR_COLUMNS)}] `
  return `${percent === undefined || bar.length + text.length >= columns ? '' : bar}${text}`.slice(
    0,
    Math.max(columns - 1, 1),
  )
}

export interface ProgressPrinterOptions {
  readonly out: { readonly columns?: number; write(text: string): unknown }
  readonly clock: Clock
  readonly mode: 'bar' | 'lines' | 'json'
  readonly command: string
}

export function selectMode(asJson: boolean): ProgressPrinterOptions['mode'] {
  if (asJson) return 'json'
  return process.stderr.isTTY && process.env['TERM'] !== 'dumb' ? 'bar' : 'lines'
}

const CLEAR = '\r\u001b[K'
const BAR_MS = 200
const LINE_MS = 5_000
/** Interval of lines during an outage, which can last for hours. */
const OUTAGE_LINE_MS = 60_000

export class ProgressPrinter {
  readonly #options: ProgressPrinterOptions
  #hasBar = false
  #cancelTimer: () => void = () => {}

  constructor(options: ProgressPrinterOptions) {
    this.#options = options
  }

  /** @param measure undefined if nothing is read at present */
  start(measure: () => Progress | undefined): void {
    const { clock, mode } = this.#options
    const everyMs = mode === 'bar' ? BAR_MS : LINE_MS
    let silentMs = 0
    let shown: string | undefined
    const show = (): void => {
      const progress = measure()
      silentMs += everyMs
      const failure = progress?.failure
      const isDue = mode === 'bar' || failure === undefined || failure !== shown || silentMs >= OUTAGE_LINE_MS
      if (progress !== undefined && isDue) {
        silentMs = 0
        shown = failure
        this.#show(progress)
      }
      this.#cancelTimer = clock.timer(everyMs, show)
    }
    this.#cancelTimer = clock.timer(everyMs, show)
  }

  message(text: string): void {
    this.clear()
    const { mode, out, command } = this.#options
    out.write(
      mode === 'json'
        ? formatJsonLine({ event: 'message', message: text })
        : `pino-ingest ${command}: ${toPrintable(text)}\n`,
    )
  }

  clear(): void {
    if (this.#hasBar) this.#options.out.write(CLEAR)
    this.#hasBar = false
  }

  close(): void {
    this.#cancelTimer()
    this.clear()
  }

  #show(progress: Progress): void {
    const { mode, out, command } = this.#options
    this.#hasBar = mode === 'bar'
    if (mode === 'json') out.write(formatJsonLine({ event: 'progress', ...progress }))
    else if (mode === 'bar') out.write(`${CLEAR}${formatProgress(progress, out.columns ?? 80)}`)
    else out.write(`pino-ingest ${command}: ${formatProgress(progress)}\n`)
  }
}
