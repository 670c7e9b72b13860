/** Formats texts, numbers, sizes and ages for a terminal. Logged text and replies must not control the terminal or forge lines. */
import { styleText } from 'node:util'
import { CONTROL_CHARACTERS } from '../../shared/control-characters.js'

export type Style =
  | 'bold'
  | 'dim'
  | 'red'
  | 'green'
  | 'yellow'
  | 'blue'
  | 'magenta'
  | 'cyan'
  | 'cyanBright'
  | 'magentaBright'

export type Paint = (style: Style, text: string) => string

export const PLAIN: Paint = (_, text) => text

/** Colors if the stream supports them. Node respects NO_COLOR and FORCE_COLOR. */
export function createPaint(stream: NodeJS.WriteStream): Paint {
  return (style, text) => styleText(style, text, { stream })
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Returns one line, with control characters escaped. */
export function toPrintable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (run) =>
    Array.from(run, (character) => SHORT[character] ?? escape(character)).join(''),
  )
}

/** Returns one line of JSON. Control characters that `JSON.stringify` does not escape can only be within strings. */
export function formatJsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(CONTROL_CHARACTERS, (run) => Array.from(run, escape).join(''))}\n`
}

function escape(character: string): string {
  // JSON escapes UTF-16 units. A character above U+FFFF has two.
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')
}

const SIZES = ['KiB', 'MiB', 'GiB', 'TiB'] as const

/** `512 B`, `4.3 MiB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  let size = bytes / 1024
  let at = 0
  while (size >= 1023.95 && at < SIZES.length - 1) {
    size /= 1024
    at += 1
  }
  return `${size.toFixed(1)} ${SIZES[at]}`
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `3 h`, in whole units. */
export function formatAge(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.max(0, Math.floor(ms / SECOND_MS))} s`
  if (ms < 2 * HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`
  return `${Math.floor(ms / DAY_MS)} d`
}

/** `1,150`. */
export function formatNumber(number: number): string {
  return number.toLocaleString('en-US')
}

/** `1 entry`, `1,150 entries`. */
export function formatCount(count: number, one: string, many: string): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}

export function formatEntryCount(count: number): string {
  return formatCount(count, 'entry', 'entries')
}

/** Pads the cells of each column to one width. @returns one line per row, without newline */
export function formatColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)))
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
