/** Medians of rounds. */

/** @typedef {{ median: number, min: number, max: number }} Spread */

/** @param {readonly number[]} values at least one @returns {Spread} */
export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const at = (/** @type {number} */ index) => /** @type {number} */ (sorted.at(index))
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2
  return { median: rounded(median), min: rounded(at(0)), max: rounded(at(-1)) }
}

/** Ratios by round. @param {readonly number[]} values @param {readonly number[]} others @returns {number[]} */
export function ratios(values, others) {
  return values.map((value, round) => value / /** @type {number} */ (others[round]))
}

/** The samples of each name, by round. */
export class Samples {
  /** @type {Map<string, number[]>} */
  #values = new Map()

  /** @param {string} name @param {number} value */
  add(name, value) {
    const values = this.#values.get(name)
    if (values === undefined) this.#values.set(name, [value])
    else values.push(value)
  }

  /** @returns {Record<string, Spread>} */
  spreads() {
    return Object.fromEntries([...this.#values].map(([name, values]) => [name, spread(values)]))
  }
}

/** @param {number} value */
function rounded(value) {
  return Number(value.toPrecision(4))
}
