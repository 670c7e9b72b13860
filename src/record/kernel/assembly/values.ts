/** Reads values from the index of a line: valid, compact JSON only. */
import { innerKind } from './keys'

export let next: usize = 0
export function setNext(at: usize): void {
  next = at
}

/** Bits of `innerKind` that the last container had. */
export let found: i32 = 0

const MAX_OPEN = 29
/** Of one object; the reference path removes further keys. */
export const MAX_KEYS = 1_000
const MAX_INTEGER_DIGITS: usize = 200
const MAX_EXPONENT_DIGITS: usize = 2

export const QUOTE: u8 = 0x22
export const COMMA: u8 = 0x2c
export const COLON: u8 = 0x3a
export const OPEN_BRACE: u8 = 0x7b
export const CLOSE_BRACE: u8 = 0x7d
export const OPEN_BRACKET: u8 = 0x5b
export const CLOSE_BRACKET: u8 = 0x5d

export function mark(): usize {
  return load<u32>(next)
}

/** Position after the key and its colon; 0 if there is none at `at`. */
export function keyEnd(at: usize): usize {
  if (mark() !== at || load<u8>(at) !== QUOTE) return 0
  const close = <usize>load<u32>(next, 4)
  if (load<u8>(close) !== QUOTE || load<u32>(next, 8) !== <u32>(close + 1) || load<u8>(close + 1) !== COLON) return 0
  next += 12
  return close + 2
}

/** Position of the first member of the object at `at`; 0 if there is none. */
export function openObject(at: usize): usize {
  if (load<u8>(at) !== OPEN_BRACE || mark() !== at || load<u8>(at + 1) === CLOSE_BRACE) return 0
  next += 4
  return at + 1
}

/** Whether the member was the last. */
export let isClosed: bool = false
/** Position after the comma or the brace behind a member that ends at `at`; 0 if there is none. */
export function afterMember(at: usize): usize {
  const c = load<u8>(at)
  isClosed = c === CLOSE_BRACE
  if (mark() !== at || !(isClosed || c === COMMA)) return 0
  next += 4
  return at + 1
}

/** Position after the value at `at`; 0 if it is not compact JSON, or too deep. Moves to the mark after the value. */
export function valueEnd(at: usize): usize {
  const c = load<u8>(at)
  if (c === QUOTE) {
    if (mark() !== at) return 0
    const close = <usize>load<u32>(next, 4)
    next += 8
    return load<u8>(close) === QUOTE ? close + 1 : 0
  }
  if (c === OPEN_BRACE || c === OPEN_BRACKET) return mark() === at ? containerEnd(at) : 0
  return isScalar(at, mark()) ? mark() : 0
}

function isScalar(at: usize, end: usize): bool {
  const length = end - at
  const c = load<u8>(at)
  if (c === 0x74) return length === 4 && load<u32>(at) === 0x65757274
  if (c === 0x66) return length === 5 && load<u32>(at, 1) === 0x65736c61
  if (c === 0x6e) return length === 4 && load<u32>(at) === 0x6c6c756e
  return numberEnd(at) === end
}

function digitsEnd(from: usize): usize {
  let at = from
  while (<u32>load<u8>(at) - 0x30 < 10) at++
  return at
}

/** RFC 8259, section 6. Position after the number; 0 if it is none, or may exceed a double's range. */
function numberEnd(at: usize): usize {
  let i = load<u8>(at) === 0x2d ? at + 1 : at
  if (load<u8>(i) === 0x30) i++
  else {
    const first = i
    i = digitsEnd(i)
    if (i === first) return 0
  }
  if (i - at > MAX_INTEGER_DIGITS) return 0
  if (load<u8>(i) === 0x2e) {
    const first = i + 1
    i = digitsEnd(first)
    if (i === first) return 0
  }
  if ((load<u8>(i) | 0x20) === 0x65) {
    i++
    const sign = load<u8>(i)
    if (sign === 0x2b || sign === 0x2d) i++
    const first = i
    i = digitsEnd(i)
    if (i === first || i - first > MAX_EXPONENT_DIGITS) return 0
  }
  return i
}

function innerKeyEnd(at: usize): usize {
  const value = keyEnd(at)
  if (value !== 0) found |= innerKind(at + 1, value - at - 3)
  return value
}

/** As `valueEnd`, for a container whose opening mark is next. Sets `found`. */
function containerEnd(at: usize): usize {
  let open = 0 // containers around position i
  let objects: u32 = 0 // bit n is set if container n is an object
  let keys = 0
  found = 0
  let i = at
  while (true) {
    const c = load<u8>(i)
    if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      if (open === MAX_OPEN || mark() !== i) return 0
      const isObject = c === OPEN_BRACE
      next += 4
      if (load<u8>(i + 1) === (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
        next += 4
        i += 2
      } else {
        objects = isObject ? objects | (1 << open) : objects & ~(1 << open)
        open++
        i++
        if (isObject) {
          keys++
          i = innerKeyEnd(i)
          if (i === 0) return 0
        }
        continue
      }
    } else {
      i = valueEnd(i)
      if (i === 0) return 0
    }
    while (true) {
      if (open === 0) return i
      if (mark() !== i) return 0
      const after = load<u8>(i)
      const inObject = (objects & (1 << (open - 1))) !== 0
      i++
      next += 4
      if (after === COMMA) {
        if (inObject) {
          if (++keys > MAX_KEYS) return 0
          i = innerKeyEnd(i)
          if (i === 0) return 0
        }
        break
      }
      if (after !== (inObject ? CLOSE_BRACE : CLOSE_BRACKET)) return 0
      open--
    }
  }
}

export function isOpening(c: u8): bool {
  return c === OPEN_BRACE || c === OPEN_BRACKET
}

/** An integer that is the same as a number and as a string: at most 15 digits. */
export function isPlainInteger(at: usize, end: usize): bool {
  if (load<u8>(at) === 0x30) return end === at + 1
  const first = load<u8>(at) === 0x2d ? at + 1 : at
  return load<u8>(first) !== 0x30 && end > first && end - first <= 15 && digitsEnd(first) >= end
}

/** Digits that a double may not represent exactly, or `-0`. */
export function isInexactInteger(at: usize, end: usize): bool {
  const first = load<u8>(at) === 0x2d ? at + 1 : at
  if (end === first + 1) return first > at && load<u8>(first) === 0x30
  return end - first >= 16 && digitsEnd(first) >= end
}
