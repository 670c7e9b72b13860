/** Random expressions with worst-case texts. */

export type Random = () => number

/** mulberry32: the same sequence for the same seed. */
export function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function oneOf<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T
}

/** An expression and a text that it matches or almost matches, with `rounds` iterations of each loop. */
export interface Generated {
  readonly source: string
  sample(rounds: number): string
}

const ATOMS: readonly (readonly [string, string])[] = [
  ['a', 'a'],
  ['b', 'b'],
  ['[ab]', 'a'],
  ['[a-z]', 'a'],
  ['[a-z0-9]', 'a'],
  [String.raw`\w`, 'a'],
  [String.raw`\d`, '1'],
  [String.raw`[\w.-]`, 'a'],
  ['.', 'a'],
  ['[^,]', 'a'],
  [String.raw`\s`, ' '],
  [String.raw`\S`, 'a'],
  ['-', '-'],
  [String.raw`[^\s]`, 'a'],
  [String.raw`[\s\d]`, '1'],
  ['é', 'é'],
  [String.raw`\u00e9`, 'é'],
  ['[à-ü]', 'é'],
  [String.raw`\p{L}`, 'a'],
  ['😀', '😀'],
  [String.raw`\u{1F600}`, '😀'],
  [String.raw`\x61`, 'a'],
  [String.raw`\.`, '.'],
  ['[^]', 'a'],
  [String.raw`\W`, '-'],
  [String.raw`\D`, 'a'],
]
const ASSERTIONS = [String.raw`\b`, String.raw`\B`, '^', '$']
const QUANTIFIERS = ['*', '+', '?', '{2}', '{1,3}', '{0,2}', '{2,}', '*?', '+?', '??', '{1,3}?']
const LARGE_QUANTIFIERS = [...QUANTIFIERS, '{1,10}', '{1,30}', '{20}', '{1,100}']

export function generate(random: Random, depth: number, isLarge = false): Generated {
  const kind = depth === 0 ? 0 : random()
  if (kind < 0.25) {
    const [source, sample] = oneOf(random, ATOMS)
    return { source, sample: () => sample }
  }
  if (kind < 0.32) return { source: oneOf(random, ASSERTIONS), sample: () => '' }
  if (kind < 0.62) {
    const body = generate(random, depth - 1, isLarge)
    const quantifier = oneOf(random, isLarge ? LARGE_QUANTIFIERS : QUANTIFIERS)
    return {
      source: `(?:${body.source})${quantifier}`,
      sample: (rounds) => body.sample(Math.ceil(rounds / 8)).repeat(Math.max(1, rounds)),
    }
  }
  const parts = Array.from({ length: 2 + Math.floor(random() * 2) }, () => generate(random, depth - 1, isLarge))
  if (kind < 0.78) {
    const chosen = oneOf(random, parts)
    return { source: `(?:${parts.map(({ source }) => source).join('|')})`, sample: (rounds) => chosen.sample(rounds) }
  }
  return {
    source: parts.map(({ source }) => source).join(''),
    sample: (rounds) => parts.map((part) => part.sample(rounds)).join(''),
  }
}

/** Exactly `chars` characters: repeated input of the expression's loops, and an end that does not match. */
export function hardTexts({ sample }: Pick<Generated, 'sample'>, chars: number): string[] {
  const fill = (piece: string): string =>
    `${(piece === '' ? 'a' : piece)
      .repeat(Math.ceil(chars / Math.max(1, piece.length)))
      .slice(0, chars - 1)
      .toWellFormed()}!`
  return [fill(sample(1)), fill(sample(64)), fill(sample(64).slice(0, -1)), fill(`${sample(3)} `), fill('a')]
}
