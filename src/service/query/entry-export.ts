/** Matching entries as text, in parts, so that a large export neither blocks the service nor needs its memory (pure). */
import type { IndexedEntry } from '../store/indexed-record.js'
import type { StoredEntry } from '../store/stored-record.js'
import type { Timed, TimeIndex } from '../store/time-index.js'
import { CSV_COLUMNS } from './csv-columns.js'
import { readField } from './matching/record-readers.js'
import { createQueryError, parseTimeBounds } from './query-filters.js'
import type { EntryFilter } from './query-filters.js'

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** Maximum size and time of one part. */
const PART_LENGTH = 64 * 1024
const PART_MS = 5
/** Number of entries between two reads of the clock. */
const CLOCK_ENTRIES = 32

export interface ExportOptions {
  readonly filter: EntryFilter
  readonly matches: (entry: IndexedEntry) => boolean
  readonly format: ExportFormat
  readonly columns: readonly string[] | undefined
  /** Entries that arrived later are left out. */
  readonly lastSeq: number
}

/** @throws IngestServiceError `QUERY`. */
export function checkFormat(format: string | undefined): ExportFormat {
  const found = EXPORT_FORMATS.find((known) => known === (format ?? 'ndjson'))
  if (found === undefined) throw createQueryError('format', `one of ${EXPORT_FORMATS.join(', ')}`, format)
  return found
}

/** Newest first. Records may arrive and be dropped between two parts. A part may be empty. */
export function* exportEntries(
  index: TimeIndex<IndexedEntry>,
  { filter, matches, format, columns, lastSeq }: ExportOptions,
): Generator<string> {
  const { sinceMs = -Infinity, untilMs = Infinity } = parseTimeBounds(filter)
  const formatEntry = format === 'csv' ? createCsvFormat(columns ?? CSV_COLUMNS) : createJsonFormat(columns)
  if (format === 'csv') yield formatCsvRecord(columns ?? CSV_COLUMNS)
  let position: Timed | undefined = { timeMs: untilMs, seq: -Infinity }
  while (position !== undefined) {
    const endMs = performance.now() + PART_MS
    let text = ''
    let visited = 0
    let last: Timed | undefined
    index.visitOlder(position, (entry) => {
      if (entry.timeMs < sinceMs) return false
      if (entry.seq <= lastSeq && matches(entry)) text += formatEntry(entry.record)
      const isFull = text.length >= PART_LENGTH || (++visited % CLOCK_ENTRIES === 0 && performance.now() >= endMs)
      if (isFull) last = { timeMs: entry.timeMs, seq: entry.seq }
      return !isFull
    })
    position = last
    yield text
  }
}

type Format = (record: StoredEntry) => string

function createJsonFormat(columns: readonly string[] | undefined): Format {
  if (columns === undefined) return (record) => `${JSON.stringify(record)}\n`
  return (record) => {
    const cells = columns.map((name) => [name, readField(record, name)] as const)
    return `${JSON.stringify(Object.fromEntries(cells.filter(([, text]) => text !== undefined)))}\n`
  }
}

function createCsvFormat(columns: readonly string[]): Format {
  return (record) => formatCsvRecord(columns.map((name) => readField(record, name) ?? ''))
}

const PLAIN_NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** A spreadsheet would run a cell that begins like a formula. */
function protectCell(text: string): string {
  return /^[=+\-@\t\r]/.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text
}

/** RFC 4180. Names of columns can be names in logged metadata, so the header is protected as well. */
function formatCsvRecord(cells: readonly string[]): string {
  return `${cells
    .map(protectCell)
    .map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(',')}\r\n`
}
