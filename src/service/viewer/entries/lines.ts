/** The lines of the list: rows, and a divider where the day changes. All have the same height (pure). */

/** More days than this are not divided: each needs a search. */
const MAX_DIVIDERS = 200

export type Line = { readonly row: number } | { readonly divider: number }

/** The rows (by index) that begin another, older day, ascending. `dayAt` is constant within a day and differs between days. */
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

/** Line of a row. */
export function findLine(starts: readonly number[], row: number): number {
  return row + countUpTo(starts, row)
}

/** What a line shows. */
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
