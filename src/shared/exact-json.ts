/**
 * JSON.parse that keeps integers beyond the precision of a double, such as a BigInt in pino's output or a nanosecond
 * clock.
 *
 * Node 20 does not pass source text to a reviver. Such literals are therefore parsed as marked strings, and the mark is
 * removed when the result is written. The mark is random per process, so logged text cannot imitate it. A number beyond
 * a double's range becomes a string: JSON.stringify would write null, and most parsers would read it as infinite.
 */
import { randomBytes } from 'node:crypto'
import { findStringEnd } from './json-scan.js'

/** Begins with a character that texts hardly have, so the search for it is fast. */
const MARK = `\x7f${randomBytes(12).toString('hex')}#`
/** Only at the start of a number: fractions may have any number of digits, and strings may contain hexadecimal ids. */
const OUT_OF_RANGE = /(?:^|[\s:,[])(?:-0(?![.\deE])|-?(?:\d{16}|[\d.]+[eE]\+?\d{3}))/
const LEAST_OF_16_DIGITS = 1e15
const NUMBERS = /-?\d[\d.eE+-]*/g
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g')

/** @throws SyntaxError as JSON.parse does. */
export function parseExact(json: string): unknown {
  const value = JSON.parse(json) as unknown
  return OUT_OF_RANGE.test(json) ? (JSON.parse(markIntegers(json)) as unknown) : value
}

/** Whether `parseExact` may read the literal of this number differently than `JSON.parse`. */
export function mayBeInexact(number: number): boolean {
  return !(Math.abs(number) < LEAST_OF_16_DIGITS) || Object.is(number, -0)
}

/** JSON text of a value that may contain marked numbers. */
export function stringifyExact(value: unknown): string {
  const json = JSON.stringify(value)
  return json.includes(MARK) ? json.replace(MARKED, '$1') : json
}

/** Whether this string is a marked number. */
export function isMarkedNumber(text: string): boolean {
  return text.startsWith(MARK)
}

/** Digits of a marked number; other text unchanged. */
export function unmarkNumber(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text
}

/** `json` must be valid, so a quote outside a string always starts a string. */
function markIntegers(json: string): string {
  let marked = ''
  let at = 0
  for (let quote = json.indexOf('"'); quote !== -1; quote = json.indexOf('"', at)) {
    const after = findStringEnd(json, quote, json.length) + 1
    marked += json.slice(at, quote).replace(NUMBERS, mark) + json.slice(quote, after)
    at = after
  }
  return marked + json.slice(at).replace(NUMBERS, mark)
}

/** Fractions are read as doubles; only integers must keep every digit. */
function mark(literal: string): string {
  const number = Number(literal)
  if (!Number.isFinite(number)) return `"${literal}"`
  return /[.eE]/.test(literal) || String(number) === literal ? literal : `"${MARK}${literal}"`
}
