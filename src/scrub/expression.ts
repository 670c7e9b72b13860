/** A custom pattern's text: its flags, and its parts as far as its check needs them. Pure. */

/** Those that change what matches, without a state of their own. */
const FLAGS = /^[imsu]*$/
const NEEDS_UNICODE = /(?<!\\)(?:\\\\)*\\(?:[pP]|u)\{/
const LITERAL = /^\/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+)\/([a-z]*)$/is

export interface Expression {
  readonly source: string
  /** Among i, m, s and u. */
  readonly flags: string
  /** Global. */
  readonly regex: RegExp
}

/**
 * `source`, or `/source/flags` as in a program. What only the flag u understands, `\p{…}` and `\u{…}`, brings it along.
 *
 * @throws SyntaxError in the engine's words, or for other flags than i, m, s and u (g is understood).
 */
export function expressionOf(text: string): Expression {
  const literal = LITERAL.exec(text)
  const source = literal?.[1] ?? text
  const given = (literal?.[2] ?? '').replace('g', '')
  const flags = given.includes('u') || !NEEDS_UNICODE.test(source) ? given : `${given}u`
  if (!FLAGS.test(flags)) throw new SyntaxError(`Invalid regular expression: ${text}: flags are i, m, s and u`)
  return { source, flags, regex: new RegExp(source, `g${flags}`) }
}

/** A part of an expression. */
export type Part =
  | { readonly kind: 'character', readonly source: string }
  | { readonly kind: 'assertion', readonly source: string, readonly body?: Group, readonly isBehind?: boolean }
  | { readonly kind: 'reference' }
  | Group
  | { readonly kind: 'repeat', readonly of: Part, readonly least: number, readonly most: number }

export interface Group {
  readonly kind: 'group'
  readonly alternatives: readonly (readonly Part[])[]
}

const OPEN = /\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[a-z-]*:))?/y
const CLASS = /\[(?:\\[^]|[^\]\\])*\]/y
const ESCAPE = /\\(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|[pP]\{[^}]*\}|k<[^>]*>|[1-9]\d*|[^])/iy
const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y
const REFERENCE = /^\\(?:k<|[1-9])/
const WORD_EDGE = /^\\[bB]$/

/** @param source which the engine has accepted. */
export function partsOf({ source }: Pick<Expression, 'source'>): Group {
  return new Reader(source).group()
}

class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** Up to its closing parenthesis, or the end. */
  group(): Group {
    const alternatives: Part[][] = [[]]
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        this.#at += 1
        alternatives.push([])
      } else alternatives.at(-1)?.push(this.#quantified(this.#part()))
    }
    return { kind: 'group', alternatives }
  }

  #part(): Part {
    const start = this.#at
    const open = this.#take(OPEN)
    if (open !== undefined) {
      const body = this.group()
      this.#at += 1
      if (!/^\(\?<?[=!]$/.test(open)) return body
      return { kind: 'assertion', source: this.#source.slice(start, this.#at), body, isBehind: open.includes('<') }
    }
    const escape = this.#take(ESCAPE)
    if (escape !== undefined) {
      if (REFERENCE.test(escape)) return { kind: 'reference' }
      return { kind: WORD_EDGE.test(escape) ? 'assertion' : 'character', source: escape }
    }
    const source = this.#take(CLASS) ?? String.fromCodePoint(this.#source.codePointAt(start) as number)
    this.#at = start + source.length
    return { kind: source === '^' || source === '$' ? 'assertion' : 'character', source }
  }

  #quantified(part: Part): Part {
    QUANTIFIER.lastIndex = this.#at
    const match = QUANTIFIER.exec(this.#source)
    if (match === null) return part
    this.#at += match[0].length
    const sign = match[0][0]
    if (sign !== '{') return { kind: 'repeat', of: part, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity }
    const least = Number(match[1])
    const most = match[2] === undefined ? least : match[3] === '' ? Infinity : Number(match[3])
    return { kind: 'repeat', of: part, least, most }
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const taken = pattern.exec(this.#source)?.[0]
    if (taken !== undefined) this.#at += taken.length
    return taken
  }
}

/** Whether it may match without taking a character. */
export function mayBeEmpty(part: Part): boolean {
  switch (part.kind) {
    case 'character': return false
    case 'assertion': case 'reference': return true
    case 'repeat': return part.least === 0 || mayBeEmpty(part.of)
    case 'group': return part.alternatives.some((parts) => parts.every(mayBeEmpty))
  }
}

/** The ways through everything that has a bound, counted up to about `most`; Infinity for references, whose ways are not known. */
export function waysOf(part: Part, most: number): number {
  switch (part.kind) {
    case 'character': return 1
    case 'assertion': return part.body === undefined ? 1 : waysOf(part.body, most)
    case 'reference': return Infinity
    case 'group': return part.alternatives.reduce((total, parts) => total + parts.reduce((product, one) => product * waysOf(one, most), 1), 0)
    case 'repeat': {
      const ways = waysOf(part.of, most)
      if (part.most === Infinity) return ways
      let total = 0
      for (let rounds = part.least; rounds <= part.most && total <= most; rounds += 1) total += ways ** rounds
      return total
    }
  }
}

/** What people write, and one of each kind of letter beyond ASCII. */
const CHARACTERS = [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), 'é', 'ß', 'Ж', 'د', '中', '\u00a0', '\u2028', '😀']
const CODE = /\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2}))/gi

/** Enough characters to tell the classes of an expression apart: usual ones, and those that it names. */
export function sampleCharacters({ source }: Pick<Expression, 'source'>): readonly string[] {
  const named = [...source.matchAll(CODE)].map(([, braced, four, two]) => Number.parseInt(braced ?? four ?? two ?? '0', 16))
  return [...new Set([...CHARACTERS, ...source, ...named.filter((code) => code <= 0x10ffff).map((code) => String.fromCodePoint(code))])]
}
