/** Formats stored records as one line each for a terminal. Pure, except that it reads the clock and the time zone. */
import type { Json, Level, LogEntry } from '../../protocol/log-entry.js'
import type { EntrySummary } from '../../service/query/api-types.js'
import { createSummarizer } from '../../service/query/entry-summary.js'
import type { RecordKind, Records, StoredEntry } from '../../service/store/stored-record.js'
import type { Flags } from '../shared/command.js'
import { measureWidth, toPrintable } from '../shared/terminal.js'
import type { Paint, Style } from '../shared/terminal.js'

export const UTC_FLAG: Flags = { utc: { meaning: 'prints times in UTC instead of local time' } }

export const QUERY_NOTE = `A query has words, "a phrase", /a regular expression/, field:value, field:>=5, -excluded, OR and brackets;
docs/query-language.md describes it.`

/** Entries of web frameworks that say no more than the request itself. */
export const REQUEST_MESSAGES: readonly string[] = ['incoming request', 'request completed', 'request errored']
const MAX_TEXT_CHARS = 500
const LEVEL_WIDTH = 5
const MAX_SERVICE_WIDTH = 16

const LEVEL_STYLES: Readonly<Record<Level, Style>> = {
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'magenta',
}

const SERVICE_STYLES: readonly Style[] = ['cyan', 'magenta', 'blue', 'yellow', 'green', 'cyanBright', 'magentaBright']

export type EntryFormat = (entry: EntrySummary | StoredEntry) => string

/**
 * Formats entries as `12:04:31.250 error checkout TypeError: card declined · payment failed POST /orders 502 12 ms orderId=1017`: the error
 * first, then message, request and metadata.
 */
export function createEntryFormat(
  paint: Paint,
  isUtc: boolean | undefined,
  formatService = createServiceFormat(paint),
): EntryFormat {
  const summarize = createSummarizer({})
  return (stored) => {
    const entry = 'entry' in stored ? summarize(stored) : stored
    const { level, timestamp, message, error = {}, request, user, details = {} } = entry
    const failure = [error.type, error.message].filter((text) => text !== undefined && text !== '').join(': ')
    const requested = formatRequest(request, message, paint)
    const isShown =
      message !== error.message && !(REQUEST_MESSAGES.includes(message) && (failure !== '' || requested !== ''))
    const said = [
      ...(failure === '' ? [] : [paint('red', truncate(failure))]),
      ...(isShown ? [truncate(message)] : []),
    ].join(' · ')
    const values = Object.entries({ ...(user !== undefined && { user }), ...details }).map(
      ([name, value]) => `${paint('dim', `${truncate(name)}=`)}${formatValue(value)}`,
    )
    const text = [said, requested, ...values].filter((part) => part !== '').join(' ')
    const label = paint(LEVEL_STYLES[level], level.padEnd(LEVEL_WIDTH))
    return formatLine(timestamp, `${label} ${formatService(entry.service)}`, text, paint, isUtc)
  }
}

type ServiceFormat = (service: string | undefined) => string

/** A service has the same color in each run (FNV-1a). The column is as wide as the longest name so far. */
function createServiceFormat(paint: Paint): ServiceFormat {
  let width = 1
  return (service = '-') => {
    const name = truncate(service)
    width = Math.min(MAX_SERVICE_WIDTH, Math.max(width, measureWidth(name)))
    let hash = 0x811c9dc5
    for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
    const style = SERVICE_STYLES[((hash ^ (hash >>> 15)) >>> 0) % SERVICE_STYLES.length] as Style
    return paint(style, name) + ' '.repeat(Math.max(0, width - measureWidth(name)))
  }
}

type Line = readonly [timestamp: string, label: string, text: string]
type OtherKind = Exclude<RecordKind, 'entry'>

const LINES: {
  readonly [K in OtherKind]: (record: Records[K], paint: Paint, formatService: ServiceFormat) => Line
} = {
  request: ({ request: { timestamp, service, method, path, status_code, duration_ms } }, paint, formatService) => [
    timestamp,
    paint('cyan', 'http'.padEnd(LEVEL_WIDTH)),
    `${formatService(service)} ${formatRequest({ method, path, status_code, duration_ms }, '', paint)}`,
  ],
  feedback: ({ received_at: at, feedback: { event_id: id, name, email, comments } }, paint) => [
    at,
    paint('cyan', 'feedback'),
    truncate(`${name ?? email ?? 'somebody'} on ${id}: ${comments}`),
  ],
  release: ({ received_at: at, release_id: id, release }, paint) => {
    const { version, commit_hash: commit, branch, deployed_by: by } = release
    const facts = [commit, branch, by].filter((text) => text !== undefined).join(', ')
    const text = `${truncate(version)} is ${truncate(id)}${facts === '' ? '' : paint('dim', ` (${truncate(facts)})`)}`
    return [at, paint('cyan', 'release'), text]
  },
  heartbeat: ({ received_at: at, monitor, name }, paint) => [
    at,
    paint('cyan', 'heartbeat'),
    `of monitor ${truncate(name ?? monitor)}`,
  ],
  rejected: ({ received_at: at, endpoint, status, entries, accepted, reasons: [first, ...others] }, paint) => {
    const count = entries === 0 ? '' : `, ${entries - accepted} of ${entries}`
    const why = first && [first.loc.join('.'), first.message].filter((text) => text !== '').join(' ')
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    return [
      at,
      paint('red', 'rejected'),
      `${endpoint} ${status}${count}${why === undefined ? '' : `: ${truncate(why)}`}${more}`,
    ]
  },
}

export type RecordFormat = <K extends RecordKind>(kind: K, record: Records[K]) => string

export function createRecordFormat(paint: Paint, isUtc: boolean): RecordFormat {
  const formatService = createServiceFormat(paint)
  const formatEntry = createEntryFormat(paint, isUtc, formatService)
  return (kind, record) => {
    if (kind === 'entry') return formatEntry(record as StoredEntry)
    const format = LINES[kind as OtherKind] as (record: unknown, paint: Paint, formatService: ServiceFormat) => Line
    const [timestamp, label, text] = format(record, paint, formatService)
    return formatLine(timestamp, label, text, paint, isUtc)
  }
}

/** Method and path, unless the message contains the path; status and duration. */
function formatRequest(request: EntrySummary['request'], message: string, paint: Paint): string {
  const { method, path, status_code: status, duration_ms: ms } = request ?? {}
  const isNamed = path !== undefined && message.includes(path)
  const parts = [
    ...(isNamed ? [] : [method, path].flatMap((part) => (part === undefined ? [] : [truncate(part)]))),
    ...(status === undefined
      ? []
      : [status >= 400 ? paint(status >= 500 ? 'red' : 'yellow', `${status}`) : `${status}`]),
    ...(ms === undefined ? [] : [formatDuration(ms)]),
  ]
  return parts.join(' ')
}

function formatValue(value: string | number | boolean): string {
  return typeof value === 'string' && (value === '' || /\s/.test(value))
    ? toPrintable(JSON.stringify(value))
    : truncate(`${value}`)
}

function formatDuration(ms: number): string {
  return ms < 1000 ? `${Number(ms.toPrecision(3))} ms` : `${Number((ms / 1000).toPrecision(3))} s`
}

/** Shortened, and with control characters as escapes. */
function truncate(text: string, maxChars = MAX_TEXT_CHARS): string {
  return toPrintable(text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`)
}

function formatLine(timestamp: string, label: string, text: string, paint: Paint, isUtc?: boolean): string {
  return `${paint('dim', formatTime(timestamp, isUtc))} ${label} ${text}\n`
}

/** The time of day; with the date if it is another day than today. Without `isUtc`, the timestamp. */
function formatTime(timestamp: string, isUtc: boolean | undefined): string {
  const toText = (date: Date): string =>
    new Date(date.getTime() - (isUtc ? 0 : date.getTimezoneOffset() * 60_000)).toISOString()
  const date = new Date(timestamp)
  if (isUtc === undefined || Number.isNaN(date.getTime())) return truncate(timestamp)
  const text = toText(date)
  return text.slice(0, 10) === toText(new Date()).slice(0, 10)
    ? text.slice(11, 23)
    : text.slice(0, 23).replace('T', ' ')
}

const INDENT = '    '
const MAX_VALUE_CHARS = 2_000
/** Limit of lines of a stack or message. */
const MAX_LINES = 100
const NAME_WIDTH = 11

/** Fields that the entry's line already shows, or that have their own format. */
const ELSEWHERE: readonly string[] = ['level', 'timestamp', 'service', 'message', 'error', 'metadata', 'breadcrumbs']

/** Formats the details that `--full` prints below an entry's line. */
export function formatFullEntry(entry: LogEntry, paint: Paint): string {
  const { message, error, metadata = {}, breadcrumbs = [] } = entry
  const fields = Object.entries(entry as unknown as Record<string, Json>).filter(([name]) => !ELSEWHERE.includes(name))
  const row = ([name, value]: readonly [string, Json]): string =>
    `${paint('dim', toPrintable(name).padEnd(NAME_WIDTH))} ${truncate(typeof value === 'string' ? value : JSON.stringify(value), MAX_VALUE_CHARS)}`
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
    ...lines.slice(0, MAX_LINES).map((line) => truncate(line.replaceAll('\t', INDENT), MAX_VALUE_CHARS)),
    ...(left > 0 ? [`… ${left} more lines`] : []),
  ]
}
