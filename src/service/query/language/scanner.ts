/** Scans the tokens of a query: words, quoted texts, regular expressions, field names (pure). */

/** A word. Whitespace, brackets and quotes end it. */
const WORD = /[^\s()"]+/y
/** A word in a list of values; a comma ends it, too. */
const LIST_WORD = /[^\s()",]+/y
const SPACE = /\s*/y
/** A field name and a colon. A name does not start with a digit, because `10:04:05` is a text; `https://…` is a text, too. */
const FIELD = /([\p{L}_@$][\p{L}\p{N}_@$.\-[\]]*):(?!\/\/)/uy
const QUOTED = /"((?:[^"\\]|\\[^])*)"/y
/** A regular expression. Its first unescaped `/` must end it, followed only by the flag. */
const PATTERN = /\/((?:[^/\\\n]|\\[^\n])+)\/(i?)(?=[\s),]|$)/y
const FIELD_ALONE = /^[\p{L}_@$][\p{L}\p{N}_@$.\-[\]]*$/u

function matchAt(expression: RegExp, text: string, position: number): RegExpExecArray | null {
  expression.lastIndex = position
  return expression.exec(text)
}

export interface Scanned {
  readonly text: string
  readonly end: number
}

export function skipSpace(text: string, position: number): number {
  return position + (matchAt(SPACE, text, position)?.[0].length ?? 0)
}

export function scanWord(text: string, position: number, isList = false): Scanned {
  const word = matchAt(isList ? LIST_WORD : WORD, text, position)?.[0] ?? ''
  return { text: word, end: position + word.length }
}

/** @returns undefined if the closing quote is missing */
export function scanQuoted(text: string, position: number): Scanned | undefined {
  const found = matchAt(QUOTED, text, position)
  return found === null ? undefined : { text: unescapeText(found[1] as string), end: position + found[0].length }
}

/** Returns the name and the position after the colon. */
export function scanField(text: string, position: number): Scanned | undefined {
  const found = matchAt(FIELD, text, position)
  if (found !== null) return { text: found[1] as string, end: position + found[0].length }
  const quoted = text[position] === '"' ? scanQuoted(text, position) : undefined
  return quoted !== undefined && text[quoted.end] === ':' ? { text: quoted.text, end: quoted.end + 1 } : undefined
}

export function scanPattern(
  text: string,
  position: number,
): { readonly source: string; readonly ignoresCase: boolean; readonly end: number } | undefined {
  const found = matchAt(PATTERN, text, position)
  if (found === null) return undefined
  return { source: found[1] as string, ignoresCase: found[2] === 'i', end: position + found[0].length }
}

/** Unescapes `\"` and `\\`. Other backslashes stay, which permits typing a Windows path. */
function unescapeText(text: string): string {
  return text.replace(/\\(["\\])/g, '$1')
}

export function quoteText(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

export function formatFieldName(name: string): string {
  return FIELD_ALONE.test(name) ? name : quoteText(name)
}
