/** [worker] Numbers of payment cards in text, by their length, their leading digits and their check digit. */

const LEAST_DIGITS = 13
const MOST_DIGITS = 19
const ZERO = 48
const SPACE = 32
const HYPHEN = 45

/** Enough digits with single spaces or hyphens between them, the first of them a brand's. */
export const MAY_BE_CARD = /[2-68](?:[ -]?\d){12}/
const NEXT_CARD = new RegExp(MAY_BE_CARD, 'g')

export function redactCards(text: string, by: string): string {
  let clean = ''
  let copied = 0
  NEXT_CARD.lastIndex = 0
  for (let match = NEXT_CARD.exec(text); match !== null; match = NEXT_CARD.exec(text)) {
    const start = runStart(text, match.index, copied)
    const end = runEnd(text, match.index + match[0].length)
    clean +=
      text.slice(copied, start) +
      scrubRun(text.slice(start, end), by, isJoinedBefore(text, start), isJoinedAfter(text, end))
    copied = NEXT_CARD.lastIndex = end
  }
  return copied === 0 ? text : clean + text.slice(copied)
}

/** A run is as long as it can be: digits with single separators between them. */
function runStart(text: string, from: number, least: number): number {
  let start = from
  while (start > least) {
    if (isDigit(text.charCodeAt(start - 1))) start -= 1
    else if (start - 1 > least && isSeparator(text.charCodeAt(start - 1)) && isDigit(text.charCodeAt(start - 2)))
      start -= 2
    else break
  }
  return start
}

function runEnd(text: string, from: number): number {
  let end = from
  for (;;) {
    if (isDigit(text.charCodeAt(end))) end += 1
    else if (isSeparator(text.charCodeAt(end)) && isDigit(text.charCodeAt(end + 1))) end += 2
    else return end
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 57
}

function isSeparator(code: number): boolean {
  return code === SPACE || code === HYPHEN
}

/** Whether these digits, without anything between them, are a card's. */
export function isCardNumber(digits: string): boolean {
  const { length } = digits
  if (length < LEAST_DIGITS || length > MOST_DIGITS) return false
  const brand = brandOf(Number(digits.slice(0, 4)))
  return brand !== undefined && hasLength(brand, length) && new Luhn(digits).isValid(0, length)
}

/** A part of an id, of a fraction, or of a longer text of letters and digits is no card. */
function isJoinedBefore(text: string, at: number): boolean {
  return /[A-Za-z\d]/.test(text[at - 1] ?? '') || (text[at - 1] === '.' && /\d/.test(text[at - 2] ?? ''))
}

function isJoinedAfter(text: string, at: number): boolean {
  return /[A-Za-z\d]/.test(text[at] ?? '') || (text[at] === '.' && /\d/.test(text[at + 1] ?? ''))
}

/** Cards begin and end at groups of digits: within one group every other position would be a guess. */
function scrubRun(run: string, by: string, withoutFirst: boolean, withoutLast: boolean): string {
  const luhn = new Luhn(run)
  const { starts } = luhn
  const groups = luhn.groups - (withoutLast ? 1 : 0)
  let longEnough = 1
  let clean = ''
  let copied = 0
  for (let group = withoutFirst ? 1 : 0; group < groups;) {
    const first = starts[group] as number
    let found = -1
    while (longEnough <= groups && (starts[longEnough] as number) - first < LEAST_DIGITS) longEnough += 1
    const brand = longEnough > groups ? undefined : brandOf(luhn.leading(first))
    if (brand !== undefined) {
      for (let next = longEnough; next <= groups; next += 1) {
        const length = (starts[next] as number) - first
        if (length > MOST_DIGITS) break
        if (hasLength(brand, length) && luhn.isValid(first, first + length)) found = next
      }
    }
    if (found !== -1) {
      // Each group but the first has a separator before it.
      clean += run.slice(copied, first + group) + by
      copied = (starts[found] as number) + found - 1
    }
    group = found === -1 ? group + 1 : found
  }
  return copied === 0 ? run : clean + run.slice(copied)
}

interface Brand {
  /** First four digits, both included. */
  readonly from: number
  readonly to: number
  readonly least: number
  readonly most: number
}

/** ISO/IEC 7812: who issues what begins so, and how long its numbers are. A time in ms, us or ns begins with a 1. */
const BRANDS: readonly Brand[] = [
  { from: 4000, to: 4999, least: 13, most: 19 }, // Visa, see `hasLength`
  { from: 5100, to: 5599, least: 16, most: 16 },
  { from: 2221, to: 2720, least: 16, most: 16 }, // Mastercard
  { from: 3400, to: 3499, least: 15, most: 15 },
  { from: 3700, to: 3799, least: 15, most: 15 }, // American Express
  { from: 6011, to: 6011, least: 16, most: 19 },
  { from: 6440, to: 6599, least: 16, most: 19 }, // Discover
  { from: 3000, to: 3059, least: 14, most: 19 },
  { from: 3095, to: 3095, least: 14, most: 19 }, // Diners Club
  { from: 3600, to: 3699, least: 14, most: 19 },
  { from: 3800, to: 3999, least: 14, most: 19 },
  { from: 3528, to: 3589, least: 16, most: 19 }, // JCB
  { from: 6200, to: 6299, least: 16, most: 19 },
  { from: 8100, to: 8199, least: 16, most: 19 }, // UnionPay
  { from: 5000, to: 5099, least: 13, most: 19 },
  { from: 5600, to: 5899, least: 13, most: 19 }, // Maestro
  { from: 6304, to: 6304, least: 13, most: 19 },
  { from: 6390, to: 6390, least: 13, most: 19 },
  { from: 6700, to: 6799, least: 13, most: 19 },
  { from: 2200, to: 2204, least: 16, most: 19 }, // Mir
]

const LEAST_LEADING = Math.min(...BRANDS.map(({ from }) => from))
const MOST_LEADING = Math.max(...BRANDS.map(({ to }) => to))

function brandOf(leading: number): Brand | undefined {
  if (leading < LEAST_LEADING || leading > MOST_LEADING) return undefined
  for (const brand of BRANDS) if (leading >= brand.from && leading <= brand.to) return brand
  return undefined
}

function hasLength({ from, least, most }: Brand, length: number): boolean {
  return from === 4000 ? length === 13 || length === 16 || length === 19 : length >= least && length <= most
}

/** ISO/IEC 7812-1, annex B, for every part of some digits: sums from the left, doubled at even and at odd places. */
class Luhn {
  /** Where each group of digits begins among the digits alone; at last their number. */
  readonly starts: Uint32Array
  readonly groups: number
  readonly #digits: Uint8Array
  readonly #evens: Uint32Array
  readonly #odds: Uint32Array

  /** @param run digits with single separators. */
  constructor(run: string) {
    const starts = new Uint32Array(run.length + 2)
    const digits = new Uint8Array(run.length)
    const evens = new Uint32Array(run.length + 1)
    const odds = new Uint32Array(run.length + 1)
    let groups = 0
    let count = 0
    for (let at = 0; at < run.length; at += 1) {
      const digit = run.charCodeAt(at) - ZERO
      if (digit < 0) {
        starts[(groups += 1)] = count
        continue
      }
      digits[count] = digit
      const doubled = digit > 4 ? digit * 2 - 9 : digit * 2
      const isEven = count % 2 === 0
      evens[count + 1] = (evens[count] as number) + (isEven ? doubled : digit)
      odds[count + 1] = (odds[count] as number) + (isEven ? digit : doubled)
      count += 1
    }
    starts[(groups += 1)] = count
    this.starts = starts
    this.groups = groups
    this.#digits = digits
    this.#evens = evens
    this.#odds = odds
  }

  /** The four digits that tell the brand. */
  leading(at: number): number {
    let number = 0
    for (let i = at; i < at + 4; i += 1) number = number * 10 + (this.#digits[i] ?? 0)
    return number
  }

  isValid(start: number, end: number): boolean {
    // The last digit stands as it is, the one before it is doubled.
    const sums = end % 2 === 0 ? this.#evens : this.#odds
    return ((sums[end] as number) - (sums[start] as number)) % 10 === 0
  }
}
