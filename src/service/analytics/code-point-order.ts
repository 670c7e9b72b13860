/** The order of texts: by code point, which is the order of their UTF-8 bytes, so that every store sorts alike (pure). */

/** Units from which on the order of UTF-16 is another: surrogates stand below U+E000, and what they write comes after. */
const HIGH = /[\ud800-\uffff]/

function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

export function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0
  // The built-in comparison is much faster, and most texts have no such unit.
  if (!HIGH.test(a) || !HIGH.test(b)) return a < b ? -1 : 1
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const difference = rank(a.charCodeAt(at)) - rank(b.charCodeAt(at))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
