/** [worker] Numbers of payment cards in text, by their length, their leading digits and their check digit. */

/** Runs of at least 13 digits with single spaces or hyphens between them. */
const RUNS = /\d(?:[ -]?\d){12,}/g
const LEAST_DIGITS = 13
const MOST_DIGITS = 19
const ZERO = 48
/** Of the brands below. */
const LEADING_DIGITS = '234568'

/** Whether JSON text holds enough digits side by side. */
export const MAY_BE_CARD = /\d(?:[ -]?\d){12}/

export function scrubCards(text: string, by: string): string {
  if (!MAY_BE_CARD.test(text)) return text
  return text.replace(RUNS, (run, at: number) => scrubRun(run, by, isJoinedBefore(text, at), isJoinedAfter(text, at + run.length)))
}

/** Whether these digits, without anything between them, are a card's. */
export function isCard(digits: string): boolean {
  return digits.length >= LEAST_DIGITS && digits.length <= MOST_DIGITS && hasBrand(digits, digits.length) && new Luhn(digits).isValid(0, digits.length)
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
  let clean = ''
  let copied = 0
  for (let group = withoutFirst ? 1 : 0; group < groups;) {
    const first = starts[group] as number
    let found = -1
    const leading = run[first + group] as string
    if (LEADING_DIGITS.includes(leading)) {
      for (let next = group + 1; next <= groups; next += 1) {
        const length = (starts[next] as number) - first
        if (length > MOST_DIGITS) break
        // Each group but the first has a separator before it.
        if (length < LEAST_DIGITS || (leading === '4' && !isVisaLength(length)) || !luhn.isValid(first, first + length)) continue
        if (hasBrand(leadingDigits(run, first + group), length)) found = next
      }
    }
    if (found !== -1) {
      clean += run.slice(copied, first + group) + by
      copied = (starts[found] as number) + found - 1
    }
    group = found === -1 ? group + 1 : found
  }
  return copied === 0 ? run : clean + run.slice(copied)
}

/** The four that tell the brand, with or without separators between them. */
function leadingDigits(run: string, at: number): string {
  return run.slice(at, at + 7).replace(/[ -]/g, '').slice(0, 4)
}

/** ISO/IEC 7812: who issues what begins so, and how long its numbers are. Beside them Visa, with a 4. A time in ms, us or ns begins with a 1. */
const BRANDS: readonly (readonly [leading: RegExp, least: number, most: number])[] = [
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, 16, 16], // Mastercard
  [/^3[47]/, 15, 15], // American Express
  [/^(?:6011|64[4-9]|65)/, 16, 19], // Discover
  [/^3(?:0[0-5]|095|[689])/, 14, 19], // Diners Club
  [/^35(?:2[89]|[3-8])/, 16, 19], // JCB
  [/^(?:62|81)/, 16, 19], // UnionPay
  [/^(?:50[0-9]|5[6-8]|6304|67|6390)/, 13, 19], // Maestro
  [/^220[0-4]/, 16, 19], // Mir
]

function isVisaLength(length: number): boolean {
  return length === 13 || length === 16 || length === 19
}

function hasBrand(digits: string, length: number): boolean {
  if (digits.startsWith('4')) return isVisaLength(length)
  return BRANDS.some(([leading, least, most]) => length >= least && length <= most && leading.test(digits))
}

/** ISO/IEC 7812-1, annex B, for every part of some digits: sums from the left, doubled at even and at odd places. */
class Luhn {
  /** Where each group of digits begins among the digits alone; at last their number. */
  readonly starts: Uint32Array
  readonly groups: number
  readonly #evens: Uint32Array
  readonly #odds: Uint32Array

  /** @param run digits with single separators. */
  constructor(run: string) {
    const starts = new Uint32Array(run.length + 2)
    const evens = new Uint32Array(run.length + 1)
    const odds = new Uint32Array(run.length + 1)
    let groups = 0
    let count = 0
    for (let at = 0; at < run.length; at += 1) {
      const digit = run.charCodeAt(at) - ZERO
      if (digit < 0) {
        starts[groups += 1] = count
        continue
      }
      const doubled = digit > 4 ? digit * 2 - 9 : digit * 2
      const isEven = count % 2 === 0
      evens[count + 1] = (evens[count] as number) + (isEven ? doubled : digit)
      odds[count + 1] = (odds[count] as number) + (isEven ? digit : doubled)
      count += 1
    }
    starts[groups += 1] = count
    this.starts = starts
    this.groups = groups
    this.#evens = evens
    this.#odds = odds
  }

  isValid(start: number, end: number): boolean {
    // The last digit stands as it is, the one before it is doubled.
    const sums = end % 2 === 0 ? this.#evens : this.#odds
    return ((sums[end] as number) - (sums[start] as number)) % 10 === 0
  }
}
