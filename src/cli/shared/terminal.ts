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

export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

export function formatNumber(number: number): string {
  return number.toLocaleString('en-US')
}

export function formatCount(count: number, one: string, many: string): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}

export function formatEntryCount(count: number): string {
  return formatCount(count, 'entry', 'entries')
}

const CHARACTERS = new Intl.Segmenter()
/** Characters of two columns: the blocks of East Asian scripts, and emoji. @see Unicode Standard Annex 11 */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18dff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u

export function measureWidth(text: string): number {
  return Array.from(CHARACTERS.segment(text)).reduce((sum, { segment }) => sum + (WIDE.test(segment) ? 2 : 1), 0)
}

/** Pads the cells of each column to one width. @returns one line per row, without newline */
export function formatColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, measureWidth(cell))))
  const pad = (cell: string, at: number): string => cell + ' '.repeat((widths[at] ?? 0) - measureWidth(cell))
  return rows.map((row) => row.map(pad).join('  ').trimEnd())
}
