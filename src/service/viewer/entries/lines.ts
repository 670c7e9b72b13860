/** Maps rows to lines of the list: rows, and dividers where the day changes. All lines have the same height (pure). */

/** Limits the dividers, since finding each one needs a search. */
const MAX_DIVIDERS = 200
/** Rows to render beyond the visible ones, to avoid gaps during scrolling. */
const OVERSCAN_ROWS = 8

export type Line = { readonly row: number } | { readonly divider: number }

/** Returns the indices of rows that begin an older day, ascending. @param dayAt the day of a row */
export function findDayStarts(first: number, end: number, dayAt: (index: number) => string): number[] {
  const starts: number[] = []
  let from = first
  while (starts.length < MAX_DIVIDERS && from < end && dayAt(from) !== dayAt(end - 1)) {
    const day = dayAt(from)
    let low = from + 1
    let high = end - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (dayAt(middle) === day) low = middle + 1
      else high = middle
    }
    starts.push(low)
    from = low
  }
  return starts
}

/** Returns the line of a row. */
export function findLine(starts: readonly number[], row: number): number {
  return row + countUpTo(starts, row)
}

/** Returns the row or divider on a line. */
export function findLineAt(starts: readonly number[], line: number): Line {
  for (const [passed, start] of starts.entries()) {
    if (start + passed > line) return { row: line - passed }
    if (start + passed === line) return { divider: start }
  }
  return { row: line - starts.length }
}

/** The visible part of the list; `headPx` is the height of the column headers. */
export type Viewport = Readonly<Record<'topPx' | 'heightPx' | 'headPx' | 'rowPx', number>>

/** Returns the lines to draw, and the rows that they and the visible part end with. @param rows number of rows */
export function findDrawn(starts: readonly number[], rows: number, { topPx, heightPx, headPx, rowPx }: Viewport) {
  const lines = rows + starts.length
  const firstLine = Math.max(0, Math.floor(topPx / rowPx) - OVERSCAN_ROWS)
  const endLine = Math.min(lines, Math.ceil((topPx + heightPx) / rowPx) + OVERSCAN_ROWS)
  const visibleEndLine = Math.min(lines, Math.floor((topPx + heightPx - headPx) / rowPx))
  return {
    lines,
    firstLine,
    drawn: Array.from({ length: Math.max(0, endLine - firstLine) }, (_, at) => findLineAt(starts, firstLine + at)),
    firstRow: findRowAt(starts, firstLine),
    endRow: endLine === 0 ? 0 : findRowAt(starts, endLine - 1) + 1,
    visibleEndRow: findRowAt(starts, Math.max(0, visibleEndLine - 1)) + 1,
  }
}

/** Returns the row on a line, or the row below the divider. */
export function findRowAt(starts: readonly number[], line: number): number {
  const found = findLineAt(starts, line)
  return 'row' in found ? found.row : found.divider
}

function countUpTo(starts: readonly number[], row: number): number {
  const found = starts.findIndex((start) => start > row)
  return found === -1 ? starts.length : found
}
