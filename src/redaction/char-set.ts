/** [worker] Sets of characters as tables: ten times faster than a regular expression for single characters. */

export interface CharSet {
  has(code: number): boolean
}

const ASCII = 128

/** @param others whether characters beyond ASCII are in the set. Surrogates never are, since half a character must not be removed. */
export function createCharSet(ascii: RegExp, others: (code: number) => boolean = () => false): CharSet {
  const table = Uint8Array.from({ length: ASCII }, (_, code) => (ascii.test(String.fromCharCode(code)) ? 1 : 0))
  return { has: (code) => (code < ASCII ? table[code] === 1 : !(code >= 0xd800 && code <= 0xdfff) && others(code)) }
}

/** Letters and digits beyond ASCII, roughly: no punctuation, no spaces. */
export function isNonAsciiLetter(code: number): boolean {
  return code >= 0xc0 && !(code >= 0x2000 && code <= 0x2bff) && !(code >= 0x3000 && code <= 0x303f) && code < 0xfe00
}

/** Position of the first character of the set's run that ends before `end`. */
export function findRunStart(text: string, end: number, least: number, set: CharSet): number {
  let start = end
  while (start > least && set.has(text.charCodeAt(start - 1))) start -= 1
  return start
}
