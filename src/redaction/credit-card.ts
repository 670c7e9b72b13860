/** [worker] Finds payment card numbers in text by length, leading digits and check digit. */

import { isDigit } from '../shared/json-scan.js'

const LEAST_DIGITS = 13
const MOST_DIGITS = 19
const ZERO = 48
const SPACE = 32
const HYPHEN = 45

/** 13 or more digits, optionally separated by single spaces or hyphens, starting with the first digit of a brand. */
const MAY_BE_CARD = /[2-68](?:[ -]?\d){12}/
const NEXT_CARD = new RegExp(MAY_BE_CARD, 'g')

/** Before a fraction's digits. A digit before the point may belong to an escape. */
const FRACTION = /^(?!.*\\u).*\d\.$/s

/**
 * Whether JSON text may have a card number. Looks at one character in 13, since the expression would try each digit of
 * an id. The digits of a fraction are not searched, unless an exponent may make them an integer.
 */
export function mayContainCard(json: string): boolean {
  for (let at = LEAST_DIGITS - 1; at < json.length; at += LEAST_DIGITS) {
    const code = json.charCodeAt(at)
    if (!isDigit(code) && !(isSeparator(code) && isDigit(json.charCodeAt(at - 1)))) continue
    let start = runStart(json, at, 0)
    at = runEnd(json, at) - 1
    if (FRACTION.test(json.slice(Math.max(0, start - 7), start)) && !/e/i.test(json[at + 1] ?? ''))
      while (isDigit(json.charCodeAt(start))) start += 1
    if (at - start >= LEAST_DIGITS - 1 && MAY_BE_CARD.test(json.slice(start, at + 1))) return true
  }
  return false
}

export function redactCards(text: string, by: string): string {
  let clean = ''
  let copied = 0
  NEXT_CARD.lastIndex = 0
  for (let match = NEXT_CARD.exec(text); match !== null; match = NEXT_CARD.exec(text)) {
    const start = runStart(text, match.index, copied)
    const end = runEnd(text, match.index + match[0].length)
    clean +=
      text.slice(copied, start) +
      redactRun(text.slice(start, end), by, isJoinedBefore(text, start), isJoinedAfter(text, end))
    copied = NEXT_CARD.lastIndex = end
  }
  return copied === 0 ? text : clean + text.slice(copied)
}

/** Start of the longest run of digits with single separators between them. */
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

function isSeparator(code: number): boolean {
  return code === SPACE || code === HYPHEN
}

/** @param digits without separators */
export function isCardNumber(digits: string): boolean {
  const { length } = digits
  if (length < LEAST_DIGITS || length > MOST_DIGITS) return false
  const leading = Number(digits.slice(0, 4))
  const brand = BRANDS.find(({ from, to }) => leading >= from && leading <= to)
  return brand !== undefined && hasLength(brand, length) && hasValidCheckDigit(digits)
}

/** Digits within an id, a fraction or a longer alphanumeric text are not a card number. */
function isJoinedBefore(text: string, at: number): boolean {
  return /[A-Za-z\d]/.test(text[at - 1] ?? '') || (text[at - 1] === '.' && /\d/.test(text[at - 2] ?? ''))
}

function isJoinedAfter(text: string, at: number): boolean {
  return /[A-Za-z\d]/.test(text[at] ?? '') || (text[at] === '.' && /\d/.test(text[at + 1] ?? ''))
}

/** Card numbers start and end at the boundaries of digit groups; positions within a group would be guesses. */
function redactRun(run: string, by: string, isFirstJoined: boolean, isLastJoined: boolean): string {
  const groups = [...run.matchAll(/\d+/g)].slice(isFirstJoined ? 1 : 0, isLastJoined ? -1 : undefined)
  const digits = groups.map(([group]) => group).join('')
  /** Offset of each group in `digits`, and the end. */
  const starts = [0]
  for (const [group] of groups) starts.push((starts.at(-1) as number) + group.length)
  let clean = ''
  let copied = 0
  for (let first = 0; first < groups.length; first += 1) {
    const start = starts[first] as number
    let last = -1
    for (let next = first; next < groups.length && (starts[next + 1] as number) - start <= MOST_DIGITS; next += 1) {
      if (isCardNumber(digits.slice(start, starts[next + 1]))) last = next
    }
    if (last === -1) continue
    const { 0: lastGroup, index } = groups[last] as RegExpExecArray
    clean += run.slice(copied, groups[first]?.index) + by
    copied = index + lastGroup.length
    first = last
  }
  return copied === 0 ? run : clean + run.slice(copied)
}

interface Brand {
  /** Range of the first four digits, inclusive. */
  readonly from: number
  readonly to: number
  readonly least: number
  readonly most: number
}

/**
 * ISO/IEC 7812: prefixes of the brands and the lengths of their numbers. No brand starts with 1, unlike a timestamp in
 * ms, us or ns.
 */
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

function hasLength({ from, least, most }: Brand, length: number): boolean {
  return from === 4000 ? length === 13 || length === 16 || length === 19 : length >= least && length <= most
}

/** ISO/IEC 7812-1, annex B: from the right, every second digit is doubled. */
function hasValidCheckDigit(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at += 1) {
    const digit = digits.charCodeAt(at) - ZERO
    const isDoubled = (digits.length - at) % 2 === 0
    sum += isDoubled ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit
  }
  return sum % 10 === 0
}
