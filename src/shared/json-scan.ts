/**
 * Finds values in JSON text without parsing it. Works on positions and allocates nothing.
 *
 * Supports only the compact JSON that pino writes, without white space between tokens. For other text the functions
 * return -1 and the caller falls back to JSON.parse. Accepted text is valid JSON if the range has no raw control
 * character and no invalid escape.
 */

export const QUOTE = 34
const BACKSLASH = 92
export const COMMA = 44
export const COLON = 58
export const OPEN_BRACE = 123
export const CLOSE_BRACE = 125
export const OPEN_BRACKET = 91
export const CLOSE_BRACKET = 93
const MINUS = 45
const PLUS = 43
const DOT = 46
const ZERO = 48

/** Nesting depth of a value; one bit for each level below. Deeper values take the reference path, which cuts them. */
const MAX_OPEN = 29

/**
 * Keys of all objects in a value. Values with more keys take the reference path, which cuts objects with too many keys.
 */
const MAX_KEYS_IN_VALUE = 1_000

function oddBackslashesBefore(text: string, at: number): boolean {
  let before = at - 1
  while (before >= 0 && text.charCodeAt(before) === BACKSLASH) before -= 1
  return ((at - 1 - before) & 1) === 1
}

/** @param start position of the opening quote @returns position of the closing quote */
export function findStringEnd(text: string, start: number, end: number): number {
  // From four characters on, indexOf is faster than a loop over character codes.
  let quote = text.indexOf('"', start + 1)
  while (quote !== -1 && quote < end) {
    if (text.charCodeAt(quote - 1) !== BACKSLASH || !oddBackslashesBefore(text, quote)) return quote
    quote = text.indexOf('"', quote + 1)
  }
  return -1
}

export function isDigit(code: number): boolean {
  return code >= ZERO && code <= 57
}

/**
 * Numbers with more digits, or more exponent digits, may exceed a double's range (1.8e308) and take the reference path.
 */
const MAX_INTEGER_DIGITS = 200
const MAX_EXPONENT_DIGITS = 2

/** RFC 8259, section 6. `at` is on the first character. */
function findNumberEnd(text: string, at: number): number {
  let i = text.charCodeAt(at) === MINUS ? at + 1 : at
  if (text.charCodeAt(i) === ZERO) i += 1
  else {
    const first = i
    while (isDigit(text.charCodeAt(i))) i += 1
    if (i === first) return -1
  }
  if (i - at > MAX_INTEGER_DIGITS) return -1
  if (text.charCodeAt(i) === DOT) {
    const first = (i += 1)
    while (isDigit(text.charCodeAt(i))) i += 1
    if (i === first) return -1
  }
  if ((text.charCodeAt(i) | 32) === 101) {
    i += 1
    const sign = text.charCodeAt(i)
    if (sign === PLUS || sign === MINUS) i += 1
    const first = i
    while (isDigit(text.charCodeAt(i))) i += 1
    if (i === first || i - first > MAX_EXPONENT_DIGITS) return -1
  }
  return i
}

/** Position after a value that is not a container, or -1. */
function scalarEnd(text: string, at: number, end: number): number {
  switch (text.charCodeAt(at)) {
    case QUOTE: {
      const quote = findStringEnd(text, at, end)
      return quote === -1 ? -1 : quote + 1
    }
    case 116:
      return text.startsWith('true', at) ? at + 4 : -1
    case 102:
      return text.startsWith('false', at) ? at + 5 : -1
    case 110:
      return text.startsWith('null', at) ? at + 4 : -1
    default:
      return findNumberEnd(text, at)
  }
}

/** Position after the key and colon at `at`, or -1. */
export function findKeyEnd(text: string, at: number, end: number): number {
  if (text.charCodeAt(at) !== QUOTE) return -1
  const quote = findStringEnd(text, at, end)
  return quote !== -1 && text.charCodeAt(quote + 1) === COLON ? quote + 2 : -1
}

/** Position after the value at `at`, or -1 if it is not compact JSON, or too deep. Never beyond `end`. */
export function findValueEnd(text: string, at: number, end: number): number {
  const first = text.charCodeAt(at)
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    const after = scalarEnd(text, at, end)
    return after > end ? -1 : after
  }
  let i = at
  let open = 0 // containers around position i
  let objects = 0 // bit n is set if container n is an object
  let keys = 0
  for (;;) {
    // Start of a value.
    const code = text.charCodeAt(i)
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (open === MAX_OPEN) return -1
      const isObject = code === OPEN_BRACE
      if (text.charCodeAt(i + 1) === (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) i += 2
      else {
        objects = isObject ? objects | (1 << open) : objects & ~(1 << open)
        open += 1
        i += 1
        if (isObject) {
          keys += 1
          i = findKeyEnd(text, i, end)
          if (i === -1) return -1
        }
        continue
      }
    } else {
      i = scalarEnd(text, i, end)
      if (i === -1) return -1
    }
    // End of a value: close the containers that end here, or continue with the next value.
    for (;;) {
      if (open === 0) return i > end ? -1 : i
      const after = text.charCodeAt(i)
      const inObject = (objects & (1 << (open - 1))) !== 0
      i += 1
      if (after === COMMA) {
        if (inObject) {
          if (++keys > MAX_KEYS_IN_VALUE) return -1
          i = findKeyEnd(text, i, end)
          if (i === -1) return -1
        }
        break
      }
      if (after !== (inObject ? CLOSE_BRACE : CLOSE_BRACKET)) return -1
      open -= 1
    }
  }
}
