/** Formats numbers in columns. */

/** @typedef {import('./statistics.mjs').Spread} Spread */

/**
 * Aligns the first column left and the others right, as wide as their content.
 *
 * @param {readonly (readonly string[])[]} rows @returns {string[]}
 */
export function table(rows) {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows.map((row) =>
    row
      .map((words, column) => {
        const width = /** @type {number} */ (widths[column])
        return column === 0 ? words.padEnd(width) : words.padStart(width)
      })
      .join('  ')
      .trimEnd(),
  )
}

/** Median, with minimum and maximum if they differ. @param {Spread | undefined} spread @param {(value: number) => string} [written] */
export function cell(spread, written = us) {
  if (spread === undefined) return ''
  const [median, min, max] = [spread.median, spread.min, spread.max].map((value) => written(value))
  return min === max ? String(median) : `${median} (${min} to ${max})`
}

/** Microseconds. @param {number} value */
export function us(value) {
  return value.toFixed(Math.abs(value) < 0.1 ? 3 : 2)
}

/** Records per second, in thousands. @param {number} value */
export function thousands(value) {
  return `${Math.round(value / 1000)}k/s`
}

/** The values of a chart bar. @param {Spread} spread @returns {{ value: number, min: number, max: number }} */
export function bar({ median, min, max }) {
  return { value: median, min, max }
}
