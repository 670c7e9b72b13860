/** How far it is, how fast it goes and how long it will take, from a few measurements; and in words. Pure. */
import { printable } from '../shared/printable.js'
import { formatNumber, formatSize } from '../shared/terminal-format.js'

/** What grows while a file is sent. */
export interface Measured {
  /** Milliseconds on a clock that never jumps. */
  readonly at: number
  /** Which file it is, from 1. */
  readonly number: number
  /** Bytes on disk that are done with. */
  readonly done: number
  /** Since the command began: entries settled, and bytes of text. */
  readonly entries: number
  readonly bytes: number
}

export interface Progress {
  /** The file's name, with its number where there are several. */
  readonly label: string
  readonly done: number
  /** Bytes on disk; unknown for a stream. */
  readonly total: number | undefined
  readonly entries: number
  readonly entriesPerSecond: number
  readonly bytesPerSecond: number
  readonly secondsLeft: number | undefined
  /** Why the service does not take entries. */
  readonly trouble: string | undefined
}

export interface Rates {
  readonly entriesPerSecond: number
  readonly bytesPerSecond: number
  readonly secondsLeft: number | undefined
}

/** Long enough to smooth out what comes in bursts, short enough to see a service slow down. */
const WINDOW_MS = 15_000
/** A forecast from less would jump. */
const LEAST_MS = 2_000

export class Meter {
  #seen: Measured[] = []

  /** @param total bytes on disk of the file that is measured */
  add(now: Measured, total: number | undefined): Rates {
    this.#seen = [...this.#seen.filter(({ at, number }) => number === now.number && now.at - at <= WINDOW_MS), now]
    const first = this.#seen[0] as Measured
    const ms = now.at - first.at
    if (ms <= 0) return { entriesPerSecond: 0, bytesPerSecond: 0, secondsLeft: undefined }
    const per = (amount: number): number => (amount * 1_000) / ms
    const donePerSecond = per(now.done - first.done)
    const isKnown = total !== undefined && ms >= LEAST_MS && donePerSecond > 0
    return {
      entriesPerSecond: per(now.entries - first.entries),
      bytesPerSecond: per(now.bytes - first.bytes),
      secondsLeft: isKnown ? Math.max(0, total - now.done) / donePerSecond : undefined,
    }
  }
}

/** `0:41`, `12:03`, `1:02:03`. */
export function timeText(seconds: number): string {
  const whole = Math.ceil(seconds)
  const pad = (part: number): string => String(part).padStart(2, '0')
  const minutes = Math.floor(whole / 60)
  return minutes < 60
    ? `${minutes}:${pad(whole % 60)}`
    : `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(whole % 60)}`
}

const MAX_BAR = 30
const LEAST_BAR = 8
const MAX_LABEL = 40

/** One line of a terminal, never longer than it; where it is narrow the less important parts are left out. */
export function barText(progress: Progress, columns: number): string {
  const room = Math.max(columns - 1, 1)
  const { label, trouble } = progress
  const name = ending(printable(label), Math.min(MAX_LABEL, Math.max(LEAST_BAR, Math.floor(room / 3))))
  if (trouble !== undefined) return `${name}  ${percentText(progress)}waiting: ${printable(trouble)}`.slice(0, room)
  const [entries, bytes, left] = ratesOf(progress)
  const size =
    progress.total === undefined
      ? formatSize(progress.done)
      : `${formatSize(progress.done)}/${formatSize(progress.total)}`
  const choices = [[size, entries, bytes, left], [entries, bytes, left], [entries, left], [left], []]
  for (const parts of choices) {
    const head = `${name}  ${percentText(progress)}`
    const tail = parts
      .filter((part) => part !== undefined)
      .map((part) => `  ${part}`)
      .join('')
    const barRoom = Math.min(MAX_BAR, room - head.length - tail.length - 2)
    if (barRoom >= LEAST_BAR || parts.length === 0) return `${head}${bar(progress, barRoom)}${tail}`.slice(0, room)
  }
  return ''
}

/** A line for a file, or a log of a job. */
export function lineText(progress: Progress): string {
  const { label, entries, trouble } = progress
  // Why is told by a message of its own.
  if (trouble !== undefined)
    return `${label} ${percentText(progress)}${formatNumber(entries)} entries; waiting for the service`
  return [
    `${label} ${percentText(progress)}${formatNumber(entries)} entries`,
    ...ratesOf(progress).filter((part) => part !== undefined),
  ].join(', ')
}

function ratesOf({ entriesPerSecond, bytesPerSecond, secondsLeft }: Progress): readonly (string | undefined)[] {
  return [
    `${formatNumber(Math.round(entriesPerSecond))} entries/s`,
    `${formatSize(Math.round(bytesPerSecond))}/s`,
    secondsLeft === undefined ? undefined : `${timeText(secondsLeft)} left`,
  ]
}

/** Never 100 % before all is done. */
function percentText({ done, total }: Progress): string {
  if (total === undefined) return ''
  return `${String(total === 0 ? 100 : Math.min(100, Math.floor((100 * done) / total))).padStart(3)}% `
}

function bar({ done, total }: Progress, width: number): string {
  if (total === undefined || width < LEAST_BAR) return ''
  const filled = total === 0 ? width : Math.min(width, Math.floor((width * done) / total))
  return `[${'='.repeat(filled)}${' '.repeat(width - filled)}]`
}

/** Of a path the end says more than the beginning. */
function ending(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `…${text.slice(text.length - maxChars + 1)}`
}
