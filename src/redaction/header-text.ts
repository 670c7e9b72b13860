/**
 * [worker] Removes headers from text: lines of a request, output of languages and tools, JSON escaped any number of
 * times. docs/privacy.md lists the formats.
 *
 * It searches for the end of a name, reads backwards to its start, and reads the text after it once. The time is
 * therefore linear in the text.
 */
import { createCharSet, findRunStart } from './char-set.js'
import { ESCAPED_SPACE, WIDE_SPACES, isCredentialAt, removeCredentials } from './credentials.js'
import { AUTH, MAX_NAME_CHARS, NAME_END, REMOVED, isSecretHeader } from './header-names.js'
import { findBackslashesBefore, findQuoteAt, findQuoteBefore, findQuoteEnd } from './quotes.js'
import type { Quote } from './quotes.js'
import { REDACTED } from './userinfo.js'

const AFTER_NAME = String.raw`(?=[\s\u200b\x1b:=,"'${'`'}\\\])>]|->)`
const NAME_CHARS = createCharSet(/[\w.-]/g)
/** In an escaped line break before a name, `\nCookie`, the n is not part of the name. */
const ESCAPE = /^(?:u[\da-f]{4}|x[\da-f]{2}|[bfnrtv])/i
/** Start of a terminal style (ECMA-48, SGR), as `util.inspect` and curl write it. */
const STYLE_START = String.raw`(?:\\{0,64}\x1b|\\{1,64}(?:u001b|x1b|033|e))\[[\d;]{0,32}`
const STYLE_BEFORE = new RegExp(`${STYLE_START}$`, 'i')
const STYLE_REST = /^\d{0,3}m/
const MAX_STYLE_CHARS = 40

// Spaces, line breaks and quotes may be escaped with any number of backslashes.
const BLANK = String.raw`(?:\\{0,64}[ \t${WIDE_SPACES}]|\\{1,64}${ESCAPED_SPACE})`
const SPACE = `(?:${BLANK}|${STYLE_START}m){0,64}`
const BREAK = String.raw`(?:\\{0,64}[\r\n]|\\{1,64}[rn]){1,2}`
const QUOTE = String.raw`\\{0,64}["'${'`'}]`
/** Node divides a text of several lines after each of its line breaks: `'Cookie:\n' +\n    ' a=b'`. */
const DIVISION = `${QUOTE} \\+${BREAK}${SPACE}${QUOTE}`
/** Prefixes of the quote or bracket of a value: Python's `b`, PHP's `string(8)`, Erlang's `<<`, Node's `[Object: null prototype] `. */
const OPENING = String.raw`(?:[burf]|<<|string\(\d{1,9}\) ?|array ?(?:\(\d{0,9}\) ?)?|\[\w{1,64}(?:\(\d{1,9}\))?: null prototype\] )?(?=${QUOTE}|[[{(])`
/** Node's label of a getter before its value. */
const GETTER = String.raw`(?:\[Getter(?:\/Setter)?\]${SPACE}(?![,}\]\r\n\\]|$))?`
const SEPARATOR = new RegExp(
  String.raw`[\])>]{0,3}${SPACE}(=>|->|:=|:(?!:)|=(?!=)|,)${SPACE}(?:${BREAK}(?:${DIVISION})?${SPACE}(?=${GETTER}${OPENING})(?!${DIVISION}))?${GETTER}(?:${OPENING})?`,
  'iy',
)
/** `"name": "Cookie", "value": …`, in JSON, XML or YAML. */
const VALUE_KEY = new RegExp(
  String.raw`${SPACE},?(?:${BREAK}(?:${DIVISION})?)?${SPACE}:?(?:${QUOTE})?\w{0,32}(?:values?|content)(?:${QUOTE})?${SPACE}[:=]>?${SPACE}${GETTER}(?:${OPENING})?`,
  'iy',
)
const KEY_SEPARATOR = new RegExp(`${SPACE}:`, 'y')
/** Start of the next member of an object. Without it, a comma or a space belongs to the value: `Cookie: none, a=b`. */
const NEXT = String.raw`(?:${QUOTE})?[\w$.@/-]{1,64}(?:${QUOTE})?${SPACE}(?::(?!:)|=>|->)`
const VALUE_END = String.raw`(?=${SPACE}(?:$|[}\])]|${BREAK}|,(?:${BREAK})?${SPACE}(?:$|[}\]\[{]|${BREAK}|${NEXT})))`
const NOTHING = new RegExp(`(?:undefined|null|none|nil|true|false)${VALUE_END}`, 'iy')
/** A value that was replaced before. If more text follows, somebody else wrote the marker. */
const MARKER = new RegExp(String.raw`(?:\[removed\]|\[scrubbed\])(?:(?=${SPACE}${NEXT}|${QUOTE})|${VALUE_END})`, 'y')
const NUMBER = new RegExp(String.raw`-?\d[\d.e+-]*${VALUE_END}`, 'iy')
const QUERY_MARK = /(?:[?&]|&amp;|\\u00(?:26|3f))$/i
/** As in `UrlParams`: a single quote or an angle bracket within a word is a part of the value. */
const QUERY_VALUE = /(?:[^&#\0- "'<>`\\]|['<>](?=[\w%]))*/y
/** The value continues after a closing quote or bracket: `"a"; b=c`. */
const CONTINUATION = new RegExp(String.raw`[\w=%~@!$^(-]|;${SPACE}(?:\w|${QUOTE})`, 'y')
/** String concatenation, `'a' + 'b'`, on one or more lines. */
const SUM = new RegExp(String.raw`${SPACE}\+${SPACE}(?:${BREAK}${SPACE})?(?=${QUOTE})`, 'y')
const LINE_END = /[\r\n]|\\[rn]/
const BLANKS = new RegExp(BLANK, 'g')
const INDENT = new RegExp(`${BLANK}*`, 'y')
/** A line that starts with a space or tab continues a header (RFC 9112, section 5.2), unless it is a stack frame. */
const FOLD = new RegExp(String.raw`${BREAK}(?:${DIVISION})?(${BLANK}+)(?!${BLANK}|${BREAK}|$|at[ \t])`, 'y')
const SPACES = new RegExp(SPACE, 'y')
const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')' }

/** Removes the values of headers, and credentials. */
export function removeHeaderLines(text: string): string {
  const names = new RegExp(NAME_END + AFTER_NAME, 'gi')
  let clean = ''
  let copied = 0
  for (let match = names.exec(text); match !== null; match = names.exec(text)) {
    const nameEnd = match.index + match[0].length
    const range = valueRange(text, nameEnd, copied)
    if (range === undefined) continue
    names.lastIndex = Math.max(range.end, nameEnd)
    clean += text.slice(copied, range.start) + range.by
    copied = range.end
  }
  return removeCredentials(copied === 0 ? text : clean + text.slice(copied))
}

const PLACE = new RegExp(`(?:bearer|basic)(?=[ \\t${WIDE_SPACES}%+\\\\])|${NAME_END}${AFTER_NAME}`, 'gi')

/**
 * Position of the next header at or after `from` in compact JSON text of many lines, or Infinity. May report false
 * positives, but no false negatives. Letters must not be escaped.
 */
export function findNextHeader(json: string, from: number): number {
  let at = findHeaderName(json, from)
  while (at !== Infinity && !isHeaderAt(json, at)) at = findHeaderName(json, at + 1)
  return at
}

/** As `findNextHeader`, but reports every end of a header name and every scheme name. `isHeaderAt` decides. */
export function findHeaderName(json: string, from: number): number {
  PLACE.lastIndex = from
  return PLACE.exec(json)?.index ?? Infinity
}

/** Whether a header or a credential is at a position returned by `findHeaderName`. */
export function isHeaderAt(json: string, at: number): boolean {
  PLACE.lastIndex = at
  const name = PLACE.exec(json)?.[0] ?? ''
  if (/^b/i.test(name)) return isCredentialAt(json, at)
  const end = at + name.length
  // A string that is exactly a header name may have its value in a neighboring list item or member.
  return (
    isSecret(json.slice(startOfName(json, end, 0), end)) &&
    (json[end] === '"' || valueAfter(json, afterQuote(json, end)) !== undefined)
  )
}

interface Range {
  readonly start: number
  readonly end: number
  readonly by: string
}

/** The value of the header whose name ends at `nameEnd`. @param from start of the unprocessed text */
function valueRange(text: string, nameEnd: number, from: number): Range | undefined {
  const nameStart = startOfName(text, nameEnd, from)
  const name = text.slice(nameStart, nameEnd)
  if (!isSecret(name)) return undefined
  const opened = findQuoteBefore(text, nameStart)
  const closed = findQuoteAt(text, nameEnd)
  const isQuoted = isSameQuote(opened, closed)
  const separator = valueAfter(text, afterQuote(text, nameEnd))
  if (separator === undefined) return undefined
  const { end: at, group: sign } = separator
  const isMarker = text.startsWith(REMOVED, at) || text.startsWith(REDACTED, at)
  if (isMarker && (sign === '=' || matchAt(MARKER, text, at) !== undefined)) return undefined
  const nothing = matchAt(NOTHING, text, at)
  if (nothing !== undefined && !isFolded(text, nothing.end, nameStart)) return undefined
  const value = findQuoteAt(text, at)
  const isContainer = Object.hasOwn(CLOSING, text[at] ?? '')
  if (AUTH.test(name)) return text[at] === '{' ? containerRange(text, at, opened) : userAndPassword(text, at, value)
  if (sign === ',') return isQuoted ? listed(text, at, value, isContainer) : undefined
  const toLineEnd = (valueEnd: number): Range | undefined =>
    lineRange(text, at, valueEnd, nameStart, closed === undefined ? opened : undefined)
  if (sign === '=' && QUERY_MARK.test(text.slice(Math.max(0, nameStart - 6), nameStart))) {
    const end = matchAt(QUERY_VALUE, text, at)?.end ?? at
    return end === at ? undefined : { start: at, end, by: REMOVED }
  }
  if (value !== undefined || (isContainer && !isMarker)) {
    const quote = value ?? (isQuoted ? opened : undefined)
    const range = value === undefined ? containerRange(text, at, quote) : quotedRange(text, at, value)
    const after = value === undefined ? range.end : afterQuote(text, range.end)
    if (isSameQuote(quote, findQuoteAt(text, after)) || matchAt(CONTINUATION, text, after) !== undefined)
      return toLineEnd(after)
    return range.start === range.end ? undefined : range
  }
  const number = isQuoted ? matchAt(NUMBER, text, at) : undefined
  return number === undefined ? toLineEnd(at) : { start: at, end: number.end, by: quoted(REMOVED, opened) }
}

function isSecret(name: string): boolean {
  return isSecretHeader(name) || AUTH.test(name)
}

function startOfName(text: string, nameEnd: number, from: number): number {
  const start = findRunStart(text, nameEnd, Math.max(from, nameEnd - MAX_NAME_CHARS), NAME_CHARS)
  if (text[start - 1] === '[' || text[start - 1] === ';') {
    return STYLE_BEFORE.test(text.slice(Math.max(0, start - MAX_STYLE_CHARS), start))
      ? start + (STYLE_REST.exec(text.slice(start, nameEnd))?.[0].length ?? 0)
      : start
  }
  return text[start - 1] === '\\' ? start + (ESCAPE.exec(text.slice(start, nameEnd))?.[0].length ?? 0) : start
}

/** Start of the value and the sign before it. */
function valueAfter(text: string, at: number): ReturnType<typeof matchAt> {
  return matchAt(VALUE_KEY, text, at) ?? matchAt(SEPARATOR, text, at)
}

function matchAt(
  pattern: RegExp,
  text: string,
  at: number,
): { readonly end: number; readonly group: string } | undefined {
  pattern.lastIndex = at
  const match = pattern.exec(text)
  return match === null ? undefined : { end: at + match[0].length, group: match[1] ?? '' }
}

/**
 * The value next to a name in a list. Text before a colon is the next name, not a value; a header name is not a value,
 * either.
 */
function listed(text: string, at: number, value: Quote | undefined, isContainer: boolean): Range | undefined {
  if (value === undefined) return isContainer ? containerRange(text, at, undefined) : undefined
  const range = quotedRange(text, at, value)
  const isName =
    matchAt(KEY_SEPARATOR, text, afterQuote(text, range.end)) !== undefined ||
    isSecretHeader(text.slice(range.start, range.end))
  return isName || range.start === range.end ? undefined : range
}

function quotedRange(text: string, at: number, quote: Quote): Range {
  const start = at + quote.depth + 1
  let end = findQuoteEnd(text, start, quote, text.length)
  for (
    let sum = matchAt(SUM, text, afterQuote(text, end));
    sum !== undefined;
    sum = matchAt(SUM, text, afterQuote(text, end))
  ) {
    const next = findQuoteAt(text, sum.end)
    if (next === undefined) break
    end = findQuoteEnd(text, sum.end + next.depth + 1, next, text.length)
  }
  return { start, end, by: REMOVED }
}

function isSameQuote(one: Quote | undefined, other: Quote | undefined): boolean {
  return one !== undefined && one.char === other?.char && one.depth === other.depth
}

function afterQuote(text: string, at: number): number {
  const quote = findQuoteAt(text, at)
  return quote === undefined ? at : at + quote.depth + 1
}

/** `auth: 'user:password'`, as in the options of Node's `http`. */
function userAndPassword(text: string, at: number, quote: Quote | undefined): Range | undefined {
  const range = quote === undefined ? undefined : quotedRange(text, at, quote)
  return range !== undefined && text.slice(range.start, range.end).includes(':') ? range : undefined
}

/** A list or an object, up to its end. Brackets within quotes are not counted. */
function containerRange(text: string, at: number, by: Quote | undefined): Range {
  const opening = text[at] as string
  const closing = CLOSING[opening] as string
  let open = 0
  let end = at
  while (end < text.length) {
    const char = text[end] as string
    const quote = char === '\\' || char === '"' || char === "'" || char === '`' ? findQuoteAt(text, end) : undefined
    if (quote !== undefined) end = afterQuote(text, findQuoteEnd(text, end + quote.depth + 1, quote, text.length)) - 1
    else if (char === opening) open += 1
    else if (char === closing && --open === 0) {
      const whole = text.slice(at, end + 1)
      return { start: at, end: end + 1, by: whole === REMOVED ? whole : quoted(REMOVED, by) }
    }
    end += 1
  }
  return { start: at, end: text.length, by: quoted(REMOVED, by) }
}

/**
 * The range from `at` to the end of the line that contains `from`, including folded lines. `around` is the quote before
 * the name, if any; the range also ends at the matching quote, or in the text that follows a division.
 */
function lineRange(
  text: string,
  at: number,
  from: number,
  nameStart: number,
  around: Quote | undefined,
): Range | undefined {
  let stop = around === undefined ? text.length : findQuoteEnd(text, from, around, text.length)
  let end = lineEnd(text, from, stop)
  const indent = around === undefined && end < stop ? indentOf(text, nameStart) : 0
  for (
    let fold = matchAt(FOLD, text, end);
    fold !== undefined && widthOf(fold.group) > indent;
    fold = matchAt(FOLD, text, end)
  ) {
    if (fold.end >= stop) {
      const next = findQuoteBefore(text, fold.end - fold.group.length)
      if (next === undefined) break
      stop = findQuoteEnd(text, fold.end, next, text.length)
    }
    end = lineEnd(text, fold.end, stop)
  }
  return end === at ? undefined : { start: at, end, by: REMOVED }
}

/** Whether the line of the header is continued directly after `at`. */
function isFolded(text: string, at: number, nameStart: number): boolean {
  const fold = matchAt(FOLD, text, matchAt(SPACES, text, at)?.end ?? at)
  return fold !== undefined && widthOf(fold.group) > indentOf(text, nameStart)
}

/** Also finds escaped line breaks, as in a quoted string. */
function lineEnd(text: string, from: number, stop: number): number {
  const length = text.slice(from, stop).search(LINE_END)
  return length === -1 ? stop : findBackslashesBefore(text, from + length, from)
}

function indentOf(text: string, nameStart: number): number {
  let at = nameStart
  while (
    at > 0 &&
    text[at - 1] !== '\n' &&
    text[at - 1] !== '\r' &&
    !(text[at - 2] === '\\' && /[rn]/.test(text[at - 1] as string))
  )
    at -= 1
  return widthOf(text.slice(at, matchAt(INDENT, text, at)?.end))
}

function widthOf(indent: string): number {
  return indent.match(BLANKS)?.length ?? 0
}

function quoted(text: string, quote: Quote | undefined): string {
  if (quote === undefined) return text
  const mark = '\\'.repeat(quote.depth) + quote.char
  return mark + text + mark
}
