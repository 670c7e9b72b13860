/** Compares and searches text of a line. */
import { Range } from './output'
import { hasEscape } from './scan'

export function startsWith(at: usize, end: usize, text: string): bool {
  const chars = <usize>text.length
  if (at + chars > end) return false
  for (let i: usize = 0; i < chars; i++)
    if (<u16>load<u8>(at + i) !== load<u16>(changetype<usize>(text) + (i << 1))) return false
  return true
}

/** Position of the first occurrence; 0 if there is none. @param text at least two ASCII characters */
export function find(from: usize, to: usize, text: string): usize {
  const first = i8x16.splat(<i8>text.charCodeAt(0))
  const second = i8x16.splat(<i8>text.charCodeAt(1))
  for (let i = from; i < to; i += 16) {
    let starts: u32 = i8x16.bitmask(v128.and(i8x16.eq(v128.load(i), first), i8x16.eq(v128.load(i, 1), second)))
    for (; starts !== 0; starts &= starts - 1) {
      const place = i + <usize>ctz(starts)
      if (startsWith(place, to, text)) return place
    }
  }
  return 0
}

export function equalsText(range: Range, text: string): bool {
  return range.end - range.start === <usize>text.length && startsWith(range.start, range.end, text)
}

export function hasByte(from: usize, to: usize, byte: u8): bool {
  for (let i = from; i < to; i++) if (load<u8>(i) === byte) return true
  return false
}

export function hasEscapeIn(from: usize, to: usize): bool {
  return hasEscape && hasByte(from, to, 0x5c)
}
