/** Records by number: which are missing, which arrived twice, and how long each took. */

/**
 * The mark that `app.mjs` adds to a record: its number, and the time of the log call in microseconds of the machine's
 * monotonic clock.
 */
const NUMBER = '"seq":'
const LOGGED_AT = '"atUs":'
const INITIAL = 1 << 16
const ZERO = 0x30

/** @typedef {{ records: number, p50: number, p99: number, max: number }} Waits in milliseconds */

/** Milliseconds of the system's monotonic clock, which all processes share. */
export function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6
}

export class Tally {
  /** All entries, including duplicates. */
  entries = 0
  /** The number of different records. */
  distinct = 0
  /** By record number; 0 if the record has not arrived. */
  #arrivedMs = new Float64Array(INITIAL)
  #loggedMs = new Float64Array(INITIAL)

  /** @param {string} body of a request @param {number} atMs @returns {number} its entries */
  add(body, atMs) {
    let count = 0
    for (let at = body.indexOf(NUMBER); at !== -1; at = body.indexOf(NUMBER, at)) {
      at += NUMBER.length
      const loggedAt = body.indexOf(LOGGED_AT, at) + LOGGED_AT.length
      this.#note(digitsAt(body, at), digitsAt(body, loggedAt) / 1000, atMs)
      count += 1
    }
    this.entries += count
    return count
  }

  /** @param {number} logged expected numbers, starting with 0 @returns {{ lost: number, duplicated: number }} */
  verdict(logged) {
    return { lost: logged - this.distinct, duplicated: this.entries - this.distinct }
  }

  /**
   * From the log call to the first arrival, for records logged in this period.
   *
   * @param {number} fromMs @param {number} untilMs @param {number} [firstNumber] lower numbers were logged by an
   *   earlier process
   * @returns {Waits | null} null without records
   */
  waits(fromMs, untilMs, firstNumber = 0) {
    /** @type {number[]} */
    const waits = []
    for (let number = firstNumber; number < this.#arrivedMs.length; number += 1) {
      const loggedMs = this.#at(this.#loggedMs, number)
      if (loggedMs < fromMs || loggedMs >= untilMs || this.#at(this.#arrivedMs, number) === 0) continue
      waits.push(this.#at(this.#arrivedMs, number) - loggedMs)
    }
    if (waits.length === 0) return null
    const sorted = Float64Array.from(waits).toSorted()
    const share = (/** @type {number} */ part) =>
      this.#at(sorted, Math.min(sorted.length - 1, Math.floor(part * sorted.length)))
    return { records: sorted.length, p50: share(0.5), p99: share(0.99), max: share(1) }
  }

  /** @param {number} number @param {number} loggedMs @param {number} atMs */
  #note(number, loggedMs, atMs) {
    while (number >= this.#arrivedMs.length) this.#grow()
    if (this.#arrivedMs[number] !== 0) return
    this.#arrivedMs[number] = atMs
    this.#loggedMs[number] = loggedMs
    this.distinct += 1
  }

  #grow() {
    const [arrived, logged] = [this.#arrivedMs, this.#loggedMs]
    this.#arrivedMs = new Float64Array(2 * arrived.length)
    this.#arrivedMs.set(arrived)
    this.#loggedMs = new Float64Array(2 * logged.length)
    this.#loggedMs.set(logged)
  }

  /** @param {Float64Array} values @param {number} index */
  #at(values, index) {
    return /** @type {number} */ (values[index])
  }
}

/** @param {string} text @param {number} at */
function digitsAt(text, at) {
  let value = 0
  for (let digit = text.charCodeAt(at) - ZERO; digit >= 0 && digit <= 9; digit = text.charCodeAt(++at) - ZERO)
    value = value * 10 + digit
  return value
}
