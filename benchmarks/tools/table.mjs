/** Numbers in columns, as a person reads them. */

/** @typedef {import('./statistics.mjs').Spread} Spread */

/**
 * The first column from the left, the others from the right, as wide as what is in them.
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

/** Median, and what it lies between. @param {Spread | undefined} spread @param {(value: number) => string} [written] */
export function cell(spread, written = us) {
  return spread === undefined ? '' : `${written(spread.median)} (${written(spread.min)} to ${written(spread.max)})`
}

/** Microseconds. @param {number} value */
export function us(value) {
  return value.toFixed(Math.abs(value) < 0.1 ? 3 : 2)
}

/** Records a second, in thousands. @param {number} value */
export function thousands(value) {
  return `${Math.round(value / 1000)}k/s`
}

/** As a bar of a chart. @param {Spread} spread @returns {{ value: number, min: number, max: number }} */
export function bar({ median, min, max }) {
  return { value: median, min, max }
}
