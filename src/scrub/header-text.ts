/**
 * [worker] Headers inside a text: lines of a request, what curl prints, what `util.inspect` prints, JSON inside of a text.
 *
 * One pass: the end of a name is searched for, its beginning found by going back, and what follows is read once, so that
 * the time grows with the text and not with its square.
 */
import { charSet, runStart } from './chars.js'
import { AUTH, MAX_NAME_CHARS, isRemovedHeader, namePlaces } from './header-names.js'

export const REMOVED = '[removed]'

/** Names that are also words: in the middle of a sentence their value must look like one. */
const EVERYDAY = /^(?:authorization|cookies?2?)$/i
const CREDENTIAL = /(?:bearer|basic|digest|token|negotiate|ntlm|apikey|hawk|oauth|dpop|hmac|signature|aws4-hmac-sha256)[ \t]|[^\s=;,]{1,64}=|[^\s]{16}/iy
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const BACKSLASH = 92
const MAX_INDENT_CHARS = 48
const NAME_CHARS = charSet(/[A-Za-z0-9_-]/)
const SEPARATOR = /[ \t]{0,64}(?:=>|[:=,])[ \t]{0,64}(?:\r?\n[ \t]{0,256}(?=["'`[{]))?/y
const VALUE_KEY = /(?:\\{0,64}["'])?value(?:\\{0,64}["'])?[ \t]{0,8}:[ \t]{0,8}/y
const WORD_END = /[\s&;,"'`}\])]/g
const LITERAL_END = /[\s,}\]]/g
const SCHEME = /(?:bearer|basic|digest|token|negotiate|apikey)[ \t]{1,8}/iy
const NOTHING = /(?:undefined|null|true|false)(?![\w-])/y
/** What may stand before a header at the beginning of its line: an indent, a quotation, curl's and diff's marks. */
const LINE_START = /(?:^|[\r\n]|\\[rnt])[ \t]{0,32}(?:[<>*|+-][ \t]{0,8})?$/

/** The same text, but for the headers' values. */
export function removeHeaderLines(text: string): string {
  const places = namePlaces()
  let clean = ''
  let copied = 0
  for (let match = places.exec(text); match !== null; match = places.exec(text)) {
    const range = valueRange(text, match.index + match[0].length, copied)
    if (range === undefined) continue
    places.lastIndex = Math.max(range.end, match.index + match[0].length)
    if (range.end - range.start === range.by.length && text.startsWith(range.by, range.start)) continue
    clean += text.slice(copied, range.start) + range.by
    copied = range.end
  }
  return copied === 0 ? text : clean + text.slice(copied)
}

interface Range {
  readonly start: number
  readonly end: number
  readonly by: string
}

interface Quote {
  /** Backslashes before it: 0 in plain text, 1 in JSON inside of a text, 3 one deeper. */
  readonly depth: number
  readonly char: string
}

/** Where the value of the header stands whose name ends at `nameEnd`; `from` is where the text begins that is still looked at. */
function valueRange(text: string, nameEnd: number, from: number): Range | undefined {
  const nameStart = startOfName(text, nameEnd, from)
  const name = text.slice(nameStart, nameEnd)
  const isAuth = AUTH.test(name)
  if (!isAuth && !isRemovedHeader(name)) return undefined
  const opened = quoteBefore(text, nameStart)
  let at = nameEnd
  const closed = opened === undefined ? undefined : quoteAt(text, at)
  const isQuotedName = opened !== undefined && closed !== undefined && closed.char === opened.char && closed.depth === opened.depth
  if (isQuotedName) at += opened.depth + 1
  else if (closed !== undefined) return undefined
  SEPARATOR.lastIndex = at
  const separator = SEPARATOR.exec(text)?.[0]
  if (separator === undefined) return undefined
  at += separator.length
  const sign = separator.trim()
  if (sign === ',') {
    // A list of names and values, or `{ name: 'Cookie', value: … }`.
    if (!isQuotedName) return undefined
    VALUE_KEY.lastIndex = at
    at += VALUE_KEY.exec(text)?.[0].length ?? 0
  }
  const value = quoteAt(text, at)
  if (sign === ',' && value === undefined) return undefined
  if (isAuth) return text[at] === '{' ? containerRange(text, at, opened) : userAndPassword(text, at, value)
  if (value !== undefined) return quotedRange(text, at, value, sign)
  NOTHING.lastIndex = at
  if (NOTHING.test(text) || at >= text.length) return undefined
  if (text.startsWith(REMOVED, at)) return { start: at, end: at + REMOVED.length, by: REMOVED }
  if (text[at] === '[' || text[at] === '{') return containerRange(text, at, isQuotedName ? opened : undefined)
  if (isQuotedName) return { start: at, end: next(LITERAL_END, text, at), by: quoted(REMOVED, opened) }
  if (sign !== ':') return wordRange(text, at)
  if (EVERYDAY.test(name) && opened === undefined && !isAtLineStart(text, nameStart) && !looksLikeCredential(text, at)) return undefined
  const end = opened === undefined ? text.length : quoteEnd(text, at, opened, text.length)
  return { start: at, end: lineEnd(text, at, end), by: REMOVED }
}

function startOfName(text: string, nameEnd: number, from: number): number {
  const least = Math.max(from, nameEnd - MAX_NAME_CHARS - 1)
  const start = runStart(text, nameEnd, least, NAME_CHARS)
  // In `\nCookie` the n belongs to a line break that is written out.
  return text[start - 1] === '\\' && /[nrt]/.test(text[start] as string) ? start + 1 : start
}

/** Also where a line break is written out, as in the printed form of a text: with one backslash, or more when printed again. */
function lineEnd(text: string, from: number, end: number): number {
  for (let at = from; at < end; at += 1) {
    const code = text.charCodeAt(at)
    if (code === CARRIAGE_RETURN || code === LINE_FEED) return at
    if (code !== BACKSLASH) continue
    const first = at
    while (text.charCodeAt(at + 1) === BACKSLASH) at += 1
    const letter = text[at + 1]
    if (letter === 'r' || letter === 'n') return first
  }
  return end
}

function isAtLineStart(text: string, nameStart: number): boolean {
  const before = text.slice(Math.max(0, nameStart - MAX_INDENT_CHARS), nameStart)
  return nameStart > MAX_INDENT_CHARS && before.trim() === '' ? false : LINE_START.test(before)
}

function looksLikeCredential(text: string, at: number): boolean {
  CREDENTIAL.lastIndex = at
  return CREDENTIAL.test(text)
}

function quoteBefore(text: string, at: number): Quote | undefined {
  const char = text[at - 1]
  if (char !== '"' && char !== '\'' && char !== '`') return undefined
  let first = at - 1
  while (first > 0 && at - first < MAX_NAME_CHARS && text[first - 1] === '\\') first -= 1
  return { depth: at - 1 - first, char }
}

function quoteAt(text: string, at: number): Quote | undefined {
  let end = at
  while (end - at < MAX_NAME_CHARS && text[end] === '\\') end += 1
  const char = text[end]
  return char === '"' || char === '\'' || char === '`' ? { depth: end - at, char } : undefined
}

/** Position of the quote that closes, with its backslashes, or `end` where none does. */
function quoteEnd(text: string, from: number, { depth, char }: Quote, end: number): number {
  for (let at = text.indexOf(char, from); at !== -1 && at < end; at = text.indexOf(char, at + 1)) {
    let first = at
    while (first > from && text[first - 1] === '\\') first -= 1
    // An escaped quote of this depth has twice as many backslashes and one more; each pair before it is the value's own.
    if ((at - first) % (2 * (depth + 1)) === depth) return at - depth
  }
  return end
}

function quotedRange(text: string, at: number, quote: Quote, sign: string): Range | undefined {
  const start = at + quote.depth + 1
  const end = quoteEnd(text, start, quote, text.length)
  // In `"vary": "cookie", "server": …` the text after the comma is a name, and no value.
  if (sign === ',' && /^[ \t]{0,8}:/.test(text.slice(end + quote.depth + 1, end + quote.depth + 10))) return undefined
  return start === end ? undefined : { start, end, by: REMOVED }
}

/** `auth: 'user:password'`, as Node's `http` takes it. */
function userAndPassword(text: string, at: number, quote: Quote | undefined): Range | undefined {
  const range = quote === undefined ? undefined : quotedRange(text, at, quote, ':')
  return range !== undefined && text.slice(range.start, range.end).includes(':') ? range : undefined
}

/** A list or an object, up to its own end. Its brackets are counted outside of quotes only. */
function containerRange(text: string, at: number, by: Quote | undefined): Range {
  let open = 0
  let end = at
  while (end < text.length) {
    const char = text[end] as string
    const quote = char === '\\' || char === '"' || char === '\'' || char === '`' ? quoteAt(text, end) : undefined
    if (quote !== undefined) end = quoteEnd(text, end + quote.depth + 1, quote, text.length) + quote.depth
    else if (char === '[' || char === '{') open += 1
    else if ((char === ']' || char === '}') && --open === 0) return { start: at, end: end + 1, by: quoted(REMOVED, by) }
    end += 1
  }
  return { start: at, end: text.length, by: quoted(REMOVED, by) }
}

function wordRange(text: string, at: number): Range | undefined {
  SCHEME.lastIndex = at
  const start = at + (SCHEME.exec(text)?.[0].length ?? 0)
  const end = next(WORD_END, text, start)
  return end === at || text[at] === '=' ? undefined : { start: at, end, by: REMOVED }
}

function quoted(text: string, quote: Quote | undefined): string {
  if (quote === undefined) return text
  const mark = '\\'.repeat(quote.depth) + quote.char
  return mark + text + mark
}

function next(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}
