/** Formats numbers, sizes and ages for people. Pure. */

const SIZES = ['KiB', 'MiB', 'GiB', 'TiB'] as const

/** `512 B`, `4.3 MiB`. */
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

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `3 h`, in whole units. */
export function formatAge(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.max(0, Math.floor(ms / SECOND_MS))} s`
  if (ms < 2 * HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`
  return `${Math.floor(ms / DAY_MS)} d`
}

/** `1,150`. */
export function formatNumber(number: number): string {
  return number.toLocaleString('en-US')
}

/** `1 entry`, `1,150 entries`. */
export function formatCount(count: number, one: string, many: string): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}

export function formatEntryCount(count: number): string {
  return formatCount(count, 'entry', 'entries')
}

/** Pads the cells of each column to one width. @returns one line per row, without newline */
export function formatColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)))
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
