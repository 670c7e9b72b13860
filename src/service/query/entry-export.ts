/** Formats matching entries in parts, which limits blocking time and memory of a large export (pure). */
import type { IndexedEntry } from '../store/indexed-record.js'
import type { StoredEntry } from '../store/stored-record.js'
import type { Timed, TimeIndex } from '../store/time-index.js'
import { CSV_COLUMNS } from './csv-columns.js'
import { readField } from './matching/record-readers.js'
import { createQueryError, parseTimeBounds } from './query-filters.js'
import type { EntryFilter } from './query-filters.js'

const EXPORT_FORMATS = ['ndjson', 'csv'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** Maximum length of one part in characters, and maximum time to create it. */
const PART_LENGTH = 64 * 1024
const PART_MS = 5
/** Number of entries between two reads of the clock. */
const CLOCK_ENTRIES = 32

export interface ExportOptions {
  readonly filter: EntryFilter
  readonly matches: (entry: IndexedEntry) => boolean
  readonly format: ExportFormat
  readonly columns: readonly string[] | undefined
  /** Entries with a greater `seq` arrived later and are left out. */
  readonly lastSeq: number
}

/** @throws IngestServiceError `QUERY`. */
export function checkFormat(format: string | undefined): ExportFormat {
  const found = EXPORT_FORMATS.find((known) => known === (format ?? 'ndjson'))
  if (found === undefined) throw createQueryError('format', `one of ${EXPORT_FORMATS.join(', ')}`, format)
  return found
}

/** Exports entries, newest first. Records can arrive or be dropped between two parts. A part can be empty. */
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

/** Spreadsheets also read full-width signs as signs, and skip tabs, line breaks and a byte order mark before them. */
const FORMULA_START = /^[=+\-@\t\r\n\uFEFF\uFF1D\uFF0B\uFF0D\uFF20]/

/** Quotes cells that begin like a formula, because a spreadsheet would evaluate them. */
function protectCell(text: string): string {
  return FORMULA_START.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text
}

/**
 * Formats a record by RFC 4180. A `;` or tab is quoted as well, because some spreadsheets separate cells there, and
 * the rest of the cell could be a formula. The header is protected too, because column names can come from logged metadata.
 */
function formatCsvRecord(cells: readonly string[]): string {
  return `${cells
    .map(protectCell)
    .map((cell) => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(',')}\r\n`
}
