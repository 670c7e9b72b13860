/** Maps rows to lines of the list: rows, and dividers for another day or a run that began. All lines have the same height (pure). */
import type { EntrySummary, RunSummary } from '../../query/api-types.js'
import { findFirst } from '../../store/time-index.js'
import { isBefore } from '../live/tail-buffer.js'
import { formatShortTime } from '../view-format.js'
import { toLocalDay } from '../row-text.js'

/** Limits the dividers, since finding each one needs a search. */
const MAX_DAYS = 200
/** Rows to render beyond the visible ones, to avoid gaps during scrolling. */
const OVERSCAN_ROWS = 8

export interface Divider {
  readonly row: number
  readonly text: string
}

export type Line = { readonly row: number } | { readonly divider: Divider }

/** Returns the dividers from top to bottom. @param rows newest first @param runs those of other services are ignored */
export function findDividers(rows: readonly EntrySummary[], runs: readonly RunSummary[]): readonly Divider[] {
  const dividers: Divider[] = []
  const dayAt = (row: number): string => toLocalDay(rows[row]?.timestamp ?? '')
  let day = dayAt(0)
  for (
    let row = 0;
    dividers.length < MAX_DAYS && row < rows.length && day !== dayAt(rows.length - 1);
    day = dayAt(row)
  ) {
    const from = row
    const newer = day
    row += findFirst(rows.length - from, (at) => dayAt(from + at) !== newer)
    dividers.push({ row, text: dayAt(row) })
  }
  const services = new Set(rows.map(({ service }) => service ?? null))
  for (const { service, first_seen: firstSeen, is_restart: isRestart } of runs) {
    if (!services.has(service)) continue
    const startMs = Date.parse(firstSeen)
    const row = findFirst(rows.length, (at) => isBefore(rows[at], startMs))
    const text = `${service ?? 'A run'} ${isRestart ? 'restarted' : 'started'}, ${formatShortTime(firstSeen).slice(0, 8)}`
    // At an end of the list, the row above or below may be of the same run.
    if (row > 0 && row < rows.length) dividers.push({ row, text })
  }
  return dividers.toSorted((a, b) => a.row - b.row)
}

export function findLine(dividers: readonly Divider[], row: number): number {
  return row + findFirst(dividers.length, (at) => (dividers[at] as Divider).row > row)
}

export function findLineAt(dividers: readonly Divider[], line: number): Line {
  const passed = findFirst(dividers.length, (at) => (dividers[at] as Divider).row + at >= line)
  const divider = dividers[passed]
  return divider !== undefined && divider.row + passed === line ? { divider } : { row: line - passed }
}

export type Viewport = Readonly<Record<'topPx' | 'heightPx' | 'rowPx', number>>

/** Returns the lines to draw, and the rows that they begin and end with. @param rows number of rows */
export function findDrawn(dividers: readonly Divider[], rows: number, { topPx, heightPx, rowPx }: Viewport) {
  const lines = rows + dividers.length
  const firstLine = Math.max(0, Math.floor(topPx / rowPx) - OVERSCAN_ROWS)
  const endLine = Math.min(lines, Math.ceil((topPx + heightPx) / rowPx) + OVERSCAN_ROWS)
  return {
    lines,
    firstLine,
    drawn: Array.from({ length: Math.max(0, endLine - firstLine) }, (_, at) => findLineAt(dividers, firstLine + at)),
    firstRow: findRowAt(dividers, firstLine),
    endRow: endLine === 0 ? 0 : findRowAt(dividers, endLine - 1) + 1,
  }
}

export function findRowAt(dividers: readonly Divider[], line: number): number {
  const found = findLineAt(dividers, line)
  return 'row' in found ? found.row : found.divider.row
}
