/** Formats stored records as one line each for a terminal. Pure. */
import type { Level, LogEntry } from '../../protocol/log-entry.js'
import type { RecordKind, Records } from '../../service/store/stored-record.js'
import { PLAIN } from './paint.js'
import type { Paint, Style } from './paint.js'
import { toPrintable } from './printable.js'

/** An entry, or its summary in a list. */
export type LineEntry = Pick<LogEntry, 'level' | 'message' | 'timestamp' | 'service' | 'error' | 'request'>

const MAX_TEXT_CHARS = 500
const LEVEL_WIDTH = 5
const TIME_WIDTH = 12

const LEVEL_STYLES: Readonly<Record<Level, Style>> = {
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'magenta',
}

/** `12:04:31.250 error checkout payment failed (TypeError: card declined)`, with the time in UTC. */
export function formatEntryLine(
  { level, timestamp, service = '-', message, error, request }: LineEntry,
  paint: Paint = PLAIN,
): string {
  const failure = [error?.type, error?.message].filter((text) => text !== undefined && text !== message).join(': ')
  const notes = [failure, formatRequest(request, message)].filter((text) => text !== '').map(truncate)
  const label = paint(LEVEL_STYLES[level], level.padEnd(LEVEL_WIDTH))
  return formatLine(
    timestamp,
    label,
    `${truncate(service)} ${truncate(message)}${notes.length === 0 ? '' : paint('dim', ` (${notes.join('; ')})`)}`,
    paint,
  )
}

const LINES: { readonly [K in RecordKind]: (record: Records[K], paint: Paint) => string } = {
  entry: ({ entry }, paint) => formatEntryLine(entry, paint),
  request: ({ request: { timestamp, service = '-', method, path, status_code: status, duration_ms: ms } }, paint) => {
    const text = `${truncate(service)} ${truncate(`${method} ${path}`)} ${paint(selectStatusStyle(status), String(status))} ${formatDuration(ms)}`
    return formatLine(timestamp, paint('cyan', 'http'.padEnd(LEVEL_WIDTH)), text, paint)
  },
  feedback: ({ received_at: at, feedback: { event_id: id, name, email, comments } }, paint) =>
    formatLine(at, paint('cyan', 'feedback'), truncate(`${name ?? email ?? 'somebody'} on ${id}: ${comments}`), paint),
  release: (
    { received_at: at, release_id: id, release: { version, commit_hash: commit, branch, deployed_by: by } },
    paint,
  ) => {
    const facts = [commit, branch, by].filter((text) => text !== undefined).join(', ')
    return formatLine(
      at,
      paint('cyan', 'release'),
      `${truncate(version)} is ${truncate(id)}${facts === '' ? '' : paint('dim', ` (${truncate(facts)})`)}`,
      paint,
    )
  },
  heartbeat: ({ received_at: at, monitor, name }, paint) =>
    formatLine(at, paint('cyan', 'heartbeat'), `of monitor ${truncate(name ?? monitor)}`, paint),
  rejected: ({ received_at: at, endpoint, status, entries, accepted, reasons: [first, ...others] }, paint) => {
    const count = entries === 0 ? '' : `, ${entries - accepted} of ${entries}`
    const why =
      first === undefined ? '' : `: ${[first.loc.join('.'), first.message].filter((text) => text !== '').join(' ')}`
    return formatLine(
      at,
      paint('red', 'refused'),
      `${endpoint} ${status}${count}${truncate(why)}${others.length === 0 ? '' : ` (and ${others.length} more)`}`,
      paint,
    )
  },
}

export function formatRecordLine<K extends RecordKind>(kind: K, record: Records[K], paint: Paint = PLAIN): string {
  return LINES[kind](record, paint)
}

/** The request, unless the message contains its path. */
function formatRequest(request: LineEntry['request'], message: string): string {
  const { method, path = request?.url, status_code: status, duration_ms: ms } = request ?? {}
  if (path === undefined || message.includes(path)) return ''
  return [method, path, status, ms === undefined ? undefined : formatDuration(ms)]
    .filter((part) => part !== undefined)
    .join(' ')
}

export function formatDuration(ms: number): string {
  return ms < 1000 ? `${Number(ms.toPrecision(3))} ms` : `${Number((ms / 1000).toPrecision(3))} s`
}

function selectStatusStyle(status: number): Style {
  return status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green'
}

/** Shortened, and with control characters as escapes. */
export function truncate(text: string): string {
  return toPrintable(text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS - 1)}…`)
}

function formatLine(timestamp: string, label: string, text: string, paint: Paint): string {
  const time = /T(\d\d:\d\d:\d\d(?:\.\d{1,3})?)/.exec(timestamp)?.[1] ?? truncate(timestamp)
  return `${paint('dim', time.padEnd(TIME_WIDTH))} ${label} ${text}\n`
}
