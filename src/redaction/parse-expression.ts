/** Translates a custom expression from JavaScript's syntax to RE2's. Pure. */

/** The flags that affect which text matches. */
const FLAGS = /^[imsu]*$/
const LITERAL = /^\/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+)\/([a-z]*)$/is

export interface Expression {
  /** In RE2 syntax, without capturing groups. */
  readonly source: string
  readonly ignoresCase: boolean
  /** `^` and `$` also match at the ends of lines. */
  readonly isMultiline: boolean
}

/**
 * Reads characters as code points, as JavaScript does with the flag u.
 *
 * @param text an expression's source, or `/source/flags` as in a program
 * @throws SyntaxError with the engine's message, for flags other than i, m, s and u (g is ignored), and for syntax that
 * RE2 lacks.
 */
export function parseExpression(text: string): Expression {
  const literal = LITERAL.exec(text)
  const source = literal?.[1] ?? text
  const flags = (literal?.[2] ?? '').replace('g', '')
  if (!FLAGS.test(flags)) throw new SyntaxError(`the flags are i, m, s and u, not ${flags}`)
  const translated = translate(source, flags.includes('s'))
  checkSyntax(source, flags.replace('u', ''))
  return { source: translated, ignoresCase: flags.includes('i'), isMultiline: flags.includes('m') }
}

/**
 * Tries the expression with and without the flag u: `\p{…}` and a range of emoji need it, `\-` and `\_` are invalid
 * with it.
 */
function checkSyntax(source: string, flags: string): void {
  try {
    void new RegExp(source, `${flags}u`)
  } catch {
    void new RegExp(source, flags)
  }
}

const ESCAPE = String.raw`\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|[pP]\{[^}]+\}|k<[^>]*>|\d+|[^])`
const CLASS = String.raw`\[(?:\\[^]|[^\]\\])*\]`
const TOKEN = new RegExp(String.raw`${ESCAPE}|${CLASS}|\(\?(?:<?[=!]|<[^>]*>|:|[a-z-]+[:)])|[^]`, 'gu')
const CLASS_TOKEN = new RegExp(`${ESCAPE}|[^]`, 'gu')
/** Tokens with the same meaning in both syntaxes, or invalid in both. */
const SHARED = /^(?:[()|^$*+?{},\w]|\\[bBdDwW])$/

const WITHOUT_LOOKAROUND: Readonly<Record<string, string>> = {
  '(?<=': String.raw`match the prefix too, e.g. key=\w+`,
  '(?=': String.raw`match the suffix too, e.g. \w+@`,
  '(?<!': 'leave it out, which matches more',
  '(?!': 'leave it out, which matches more',
}

function translate(source: string, isDotAll: boolean): string {
  return (source.match(TOKEN) ?? [])
    .map((token) => {
      if (token === '(' || token === '(?:' || /^\(\?<[^=!]/.test(token)) return '(?:'
      if (/^\(\?<?[=!]/.test(token))
        throw new SyntaxError(`lookaround is not supported, as in ${token}…); ${WITHOUT_LOOKAROUND[token]}`)
      if (token.startsWith('(?'))
        throw new SyntaxError(
          `flags within the expression are not supported, as in ${token}; write them after it, as in /…/i`,
        )
      if (/^\\(?:k<|[1-9])/.test(token)) throw new SyntaxError(`backreferences are not supported, as in ${token}`)
      if (token === '.') return isDotAll ? ANY : String.raw`[^\n\r\x{2028}\x{2029}]`
      if (SHARED.test(token)) return token
      if (token.startsWith('[') && token.length > 1) return translateClass(token)
      const set = setOf(token)
      return set === undefined ? written(codePointOf(token)) : `[${set}]`
    })
    .join('')
}

const ANY = String.raw`[\x{0}-\x{10ffff}]`
const NONE = String.raw`[^\x{0}-\x{10ffff}]`

function translateClass(whole: string): string {
  if (whole === '[]') return NONE
  if (whole === '[^]') return ANY
  const isNegated = whole[1] === '^'
  const tokens = whole.slice(isNegated ? 2 : 1, -1).match(CLASS_TOKEN) ?? []
  let translated = ''
  for (let at = 0; at < tokens.length; at += 1) {
    const from = tokens[at] as string
    const to = tokens[at + 2]
    const set = setOf(from)
    if (set !== undefined) translated += set
    else if (tokens[at + 1] !== '-' || to === undefined || setOf(to) !== undefined)
      translated += written(codePointOf(from, true))
    else {
      translated += `${written(codePointOf(from, true))}-${written(codePointOf(to, true))}`
      at += 2
    }
  }
  return `[${isNegated ? '^' : ''}${translated}]`
}

/** ECMAScript's WhiteSpace and LineTerminator; RE2's `\s` is ASCII only. And the complement. */
const SPACES = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
const NO_SPACES =
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
  String.raw`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`

/** The members of the class that an escape denotes; undefined if it denotes one character. */
function setOf(token: string): string | undefined {
  if (/^\\[dDwW]$/.test(token)) return token
  if (token === '\\s') return SPACES
  if (token === '\\S') return NO_SPACES
  // RE2 has no property names: `\p{Script=Greek}` is `\p{Greek}`.
  return /^\\[pP]\{/.test(token) ? token.replace(/\{\w+=/, '{') : undefined
}

const CONTROLS: Readonly<Record<string, number>> = { '\\t': 9, '\\n': 10, '\\v': 11, '\\f': 12, '\\r': 13, '\\0': 0 }
const CODES = /\\[ux]\{?([\da-f]+)/gi

function codePointOf(token: string, isInClass = false): number {
  const codes = [...token.matchAll(CODES)].map(([, code]) => Number.parseInt(code as string, 16))
  // Two code units are a surrogate pair.
  const known = codes.length === 2 ? String.fromCharCode(...codes).codePointAt(0) : (codes[0] ?? CONTROLS[token])
  if (known !== undefined) return known
  if (!token.startsWith('\\')) return token.codePointAt(0) as number
  if (/^\\c[a-z]/i.test(token)) return token.charCodeAt(2) % 32
  if (isInClass && token === '\\b') return 8
  // JavaScript reads `\A` and `\Q` as letters, unlike other engines.
  if (/^\\[a-z\d]/i.test(token)) throw new SyntaxError(`JavaScript has no ${token}`)
  return token.codePointAt(1) as number
}

function written(codePoint: number): string {
  return `\\x{${codePoint.toString(16)}}`
}
