/** Reads the parts of a query from its text: quoted texts, regular expressions, field names (pure). */

/** Characters that end a word. */
const WORD = /[^\s()"]+/y
/** In a list of values a comma ends a value, too. */
const LIST_WORD = /[^\s()",]+/y
const SPACE = /\s*/y
/** A name does not start with a digit, so that `10:04:05` is a text; nor is `https://…` a field. */
const FIELD = /([\p{L}_@$][\p{L}\p{N}_@$.\-[\]]*):(?!\/\/)/uy
const QUOTED = /"((?:[^"\\]|\\[^])*)"/y
/** The first `/` that is not escaped must be the last character, except for the flag. */
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

/** The name and the position after the colon. */
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

/** Every other backslash is part of the text, so that a Windows path can be typed. */
function unescapeText(text: string): string {
  return text.replace(/\\(["\\])/g, '$1')
}

export function quoteText(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

export function formatFieldName(name: string): string {
  return FIELD_ALONE.test(name) ? name : quoteText(name)
}
