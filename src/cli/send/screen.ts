/** What is seen while files are sent: a bar on a terminal, lines elsewhere, and messages between them. */
import type { Clock } from '../../shared/clock.js'
import { formatJsonLine, printable } from '../shared/printable.js'
import { barText, lineText } from './progress.js'
import type { Progress } from './progress.js'

/** stderr, or what stands for it. */
export interface Terminal {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export interface ScreenOptions {
  readonly out: Terminal
  readonly clock: Clock
  /** - `bar` on one line - `lines` every few seconds - `json` the same as data */
  readonly mode: 'bar' | 'lines' | 'json'
  /** Messages alone. */
  readonly isQuiet: boolean
  /** Undefined while nothing is read. */
  readonly progress: () => Progress | undefined
}

const BAR_MS = 200
/** Rates are measured more often than they are told. */
const LOOK_MS = 1_000
const LOOKS_A_LINE = 5
/** An outage may last for hours. */
const LOOKS_A_LINE_IN_TROUBLE = 60
/** Back to the beginning, and the rest of the line is empty. */
const CLEAR = '\r\u001b[K'

export class Screen {
  readonly #options: ScreenOptions
  #hasBar = false
  #looks = 0
  #cancelTimer: () => void = () => {}

  constructor(options: ScreenOptions) {
    this.#options = options
    if (!options.isQuiet) this.#showLater()
  }

  /** A line of its own, above the bar. */
  tell(text: string): void {
    const { mode, out, isQuiet, progress } = this.#options
    this.clear()
    out.write(
      mode === 'json' ? formatJsonLine({ event: 'message', message: text }) : `pino-ingest send: ${printable(text)}\n`,
    )
    if (mode === 'bar' && !isQuiet) this.#show(progress())
  }

  /** Takes the bar away, so that something else can be written. */
  clear(): void {
    if (this.#hasBar) this.#options.out.write(CLEAR)
    this.#hasBar = false
  }

  /** Shows nothing more. */
  close(): void {
    this.#cancelTimer()
    this.clear()
  }

  #showLater(): void {
    const { clock, mode, progress } = this.#options
    this.#cancelTimer = clock.timer(mode === 'bar' ? BAR_MS : LOOK_MS, () => {
      this.#looks += 1
      const now = progress()
      const every = mode === 'bar' ? 1 : now?.trouble === undefined ? LOOKS_A_LINE : LOOKS_A_LINE_IN_TROUBLE
      if (this.#looks % every === 0) this.#show(now)
      this.#showLater()
    })
  }

  #show(now: Progress | undefined): void {
    const { mode, out } = this.#options
    if (now === undefined) return
    if (mode === 'json') out.write(formatJsonLine({ event: 'progress', ...now }))
    else if (mode === 'lines') out.write(`pino-ingest send: ${printable(lineText(now))}\n`)
    else {
      out.write(`${CLEAR}${barText(now, out.columns ?? 80)}`)
      this.#hasBar = true
    }
  }
}
