/** Formats the details that `--full` prints below an entry's line. Pure. */
import type { Json, LogEntry } from '../../protocol/log-entry.js'
import type { Paint } from '../shared/paint.js'
import { toPrintable } from '../shared/printable.js'

const INDENT = '    '
const MAX_VALUE_CHARS = 2_000
/** Limit of lines of a stack or message. */
const MAX_LINES = 100
const NAME_WIDTH = 11

/** Fields that the entry's line already shows, or that have their own format. */
const ELSEWHERE: readonly string[] = ['level', 'timestamp', 'service', 'message', 'error', 'metadata', 'breadcrumbs']

export function formatFullEntry(entry: LogEntry, paint: Paint): string {
  const { message, error, metadata = {}, breadcrumbs = [] } = entry
  const fields = Object.entries(entry as unknown as Record<string, Json>).filter(([name]) => !ELSEWHERE.includes(name))
  const row = ([name, value]: readonly [string, Json]): string =>
    `${paint('dim', toPrintable(name).padEnd(NAME_WIDTH))} ${formatValue(value)}`
  const lines = [
    ...(message.includes('\n') ? formatBlock(message) : []),
    ...(error?.stack === undefined ? [] : formatBlock(error.stack)),
    ...fields.map(row),
    ...Object.entries(metadata).map(row),
    ...(breadcrumbs.length === 0 ? [] : [row(['breadcrumbs', `${breadcrumbs.length}, shown on the page`])]),
  ]
  return lines.map((line) => `${INDENT}${line}\n`).join('')
}

function formatBlock(text: string): string[] {
  const lines = text.split('\n')
  const left = lines.length - MAX_LINES
  return [
    ...lines.slice(0, MAX_LINES).map((line) => truncate(toPrintable(line.replaceAll('\t', INDENT)))),
    ...(left > 0 ? [`… ${left} more lines`] : []),
  ]
}

/** Formats flat objects as `method GET, path /`, strings unchanged, other values as JSON. */
function formatValue(value: Json): string {
  if (typeof value === 'string') return truncate(toPrintable(value))
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return truncate(toPrintable(value.join(', ')))
  const isFlat =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((inner) => typeof inner !== 'object')
  if (!isFlat) return truncate(toPrintable(JSON.stringify(value)))
  return truncate(
    toPrintable(
      Object.entries(value)
        .map(([name, inner]) => `${name} ${String(inner)}`)
        .join(', '),
    ),
  )
}

function truncate(text: string): string {
  return text.length <= MAX_VALUE_CHARS ? text : `${text.slice(0, MAX_VALUE_CHARS - 1)}…`
}
