/** Maps rows to lines of the list: rows, and dividers where the day changes. All lines have the same height (pure). */

/** Limits the dividers, since finding each one needs a search. */
const MAX_DIVIDERS = 200

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
export function lineAt(starts: readonly number[], line: number): Line {
  for (const [passed, start] of starts.entries()) {
    if (start + passed > line) return { row: line - passed }
    if (start + passed === line) return { divider: start }
  }
  return { row: line - starts.length }
}

function countUpTo(starts: readonly number[], row: number): number {
  const found = starts.findIndex((start) => start > row)
  return found === -1 ? starts.length : found
}
