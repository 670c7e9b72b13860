/**
 * [worker] Removes named secrets from text: lines of a request, output of Node and of its tools, JSON that was escaped.
 * README.md lists the rules.
 *
 * It searches for the end of a name, reads backwards to its start, and reads the text after it once. The time is
 * therefore linear in the text.
 */
import { findValueEnd } from '../shared/json-scan.js'
import { createCharSet, findRunStart } from './char-set.js'
import { isCredentialAt, removeCredentials } from './credentials.js'
import { findBackslashesBefore, findOpeningQuote, findQuoteAt, findQuoteBefore, findQuoteEnd } from './quotes.js'
import type { Quote } from './quotes.js'
import { Kind, MARKERS, MAX_NAME_CHARS, REDACTED, REMOVED, WIDE_SPACES, isSecretHeader } from './secret-names.js'
import type { SecretNames } from './secret-names.js'
import { replaceRanges } from './url-params.js'

const NAME_CHARS = createCharSet(/[\w.-]/g)
/** In an escaped line break before a name, `\nCookie`, the n is not part of the name. */
const ESCAPE = /^(?:u[\da-f]{4}|x[\da-f]{2}|[bfnrtv])/i
/** Start of a terminal style (ECMA-48, SGR), as `util.inspect` and curl write it. */
const STYLE_START = String.raw`(?:\\{0,64}\x1b|\\{1,64}(?:u001b|x1b|033|e))\[[\d;]{0,32}`
const STYLE_BEFORE = new RegExp(`${STYLE_START}$`, 'i')
const STYLE_ESCAPE = /(?:\x1b|u001b|x1b)$/i
const STYLE_REST = /^\d{0,3}m/
const MAX_STYLE_CHARS = 40
/** Maximum number of characters that are searched for the bracket before a pair. */
const MAX_PAIR_CHARS = 80

// Spaces, line breaks and quotes may be escaped with any number of backslashes.
const BLANK = String.raw`(?:\\{0,64}[ \t${WIDE_SPACES}]|\\{1,64}t)`
const SPACE = `(?:${BLANK}|${STYLE_START}m){0,64}`
const BREAK = String.raw`(?:\\{0,64}[\r\n]|\\{1,64}[rn]){1,2}`
const QUOTE = String.raw`\\{0,64}["'${'`'}]`
/** Node divides a text of several lines after each of its line breaks: `'Cookie:\n' +\n    ' a=b'`. */
const DIVISION = `${QUOTE} \\+${BREAK}${SPACE}${QUOTE}`
/** `[Object: null prototype] `, which `util.inspect` writes before an object without a prototype; then the value. */
const OPENING = String.raw`(?:\[\w{1,64}(?:\(\d{1,9}\))?: null prototype\] )?(?=${QUOTE}|[[{])`
/** Node's label of a getter before its value. */
const GETTER = String.raw`(?:\[Getter(?:\/Setter)?\]${SPACE}(?![,}\]\r\n\\]|$))?`
const SEPARATOR = new RegExp(
  String.raw`[\])]{0,2}${SPACE}(=>|:(?!:)|=(?!=)|,)${SPACE}(?:${BREAK}(?:${DIVISION})?${SPACE}(?=${GETTER}${OPENING})(?!${DIVISION}))?${GETTER}(?:${OPENING})?`,
  'iy',
)
/** `"name": "Cookie", "value": …` */
const VALUE_KEY = new RegExp(
  String.raw`${SPACE},(?:${BREAK}(?:${DIVISION})?)?${SPACE}(?:${QUOTE})?\w{0,32}(?:values?|content)(?:${QUOTE})?${SPACE}:${SPACE}${GETTER}(?:${OPENING})?`,
  'iy',
)
const KEY_SEPARATOR = new RegExp(`${SPACE}:`, 'y')
/** Start of the next member of an object. Without it, a comma or a space belongs to the value: `Cookie: none, a=b`. */
const NEXT = String.raw`(?:${QUOTE})?[\w$.@/-]{1,64}(?:${QUOTE})?${SPACE}(?::(?!:)|=>)`
const VALUE_END = String.raw`(?=${SPACE}(?:$|[}\])]|${BREAK}|,(?:${BREAK})?${SPACE}(?:$|[}\]\[{]|${BREAK}|${NEXT})))`
const NOTHING = new RegExp(`(?:undefined|null|none|true|false)${VALUE_END}`, 'iy')
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
/** White space, escaped or not, and terminal styles. */
const GAP = String.raw`(?:${BLANK}|\\{0,64}[\r\n]|\\{1,64}[rn]|${STYLE_START}m){0,64}`
const PAIR_END = new RegExp(`${GAP}\\]`, 'y')
const PAIR_START = new RegExp(`\\[${GAP}$`)
/** Start of an object or list, but not a bracket in prose: `Unexpected token: { in "…"`. */
const CONTAINER_START = new RegExp(String.raw`[[{]${GAP}(?:${QUOTE}|[[{]|[\w$]{1,64}:)`, 'y')
const IS_EMPTY = /^.\s*[\]}]/
/** Class of an object, as `util.inspect` writes it. */
const CLASS = /[A-Z]\w{0,64}(?:\(\d{1,9}\))? (?=[[{])/y
const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}' }

export function removeSecretsFromText(text: string, names: SecretNames): string {
  const { ends } = names
  ends.lastIndex = 0
  let clean = ''
  let copied = 0
  for (let match = ends.exec(text); match !== null; match = ends.exec(text)) {
    const nameEnd = match.index + match[0].length
    const range = valueRange(text, nameEnd, copied, names)
    if (range === undefined) continue
    ends.lastIndex = Math.max(range.end, nameEnd)
    clean += text.slice(copied, range.start) + range.by
    copied = range.end
  }
  return removeCredentials(copied === 0 ? text : clean + text.slice(copied))
}

/**
 * Position of the next secret at or after `from` in compact JSON text, or Infinity. May report false positives, but no
 * false negatives. Letters must not be escaped.
 */
export function findNextSecret(json: string, from: number, names: SecretNames): number {
  const { candidates } = names
  candidates.lastIndex = from
  for (let match = candidates.exec(json); match !== null; match = candidates.exec(json)) {
    const at = match.index
    const isSecret = /^b(?:earer|asic)$/i.test(match[0])
      ? isCredentialAt(json, at)
      : isSecretAt(json, at + match[0].length, names)
    if (isSecret) return at
    candidates.lastIndex = at + 1
  }
  return Infinity
}

/** Whether JSON text may have secrets: false positives, no false negatives. */
export function mayHaveSecret(json: string, names: SecretNames): boolean {
  return findNextSecret(json, 0, names) !== Infinity
}

/** Has no text around it, which may be a secret itself. */
const PLAIN_NAME = /^[\w.[\]-]+$/

/**
 * The compact JSON text of an entry with the values of keys replaced, without parsing it; undefined if it must be
 * parsed, since it may have other secrets.
 */
export function redactMembers(json: string, names: SecretNames): string | undefined {
  const values: { start: number; end: number }[] = []
  for (let at = findNextSecret(json, 0, names); at !== Infinity;) {
    const quote = json.indexOf('"', at)
    const nameStart = json.lastIndexOf('"', at) + 1
    const name = json.slice(nameStart, quote)
    const start = quote + 2
    const end = json[quote + 1] === ':' ? findValueEnd(json, start, json.length) : -1
    if (end === -1 || json[nameStart - 2] === '\\' || !PLAIN_NAME.test(name) || !names.isSecretKey(name))
      return undefined
    const value = json.slice(start, end)
    const isEmpty = value.length === 2 || MARKERS.has(value.slice(1, -1))
    if (/^["[{]/.test(value) ? !isEmpty : /^-?\d/.test(value) && isSecretHeader(name)) values.push({ start, end })
    at = findNextSecret(json, end, names)
  }
  return replaceRanges(json, values, `"${REDACTED}"`)
}

/** Whether a name that ends at `end` may have a value, also in a neighboring list item or member. */
function isSecretAt(json: string, end: number, names: SecretNames): boolean {
  const kinds = names.readKinds(json.slice(startOfName(json, end, 0), end))
  const isHeader = (kinds & (Kind.header | Kind.auth)) !== 0
  if (!isHeader && (kinds & Kind.secretKey) === 0) return false
  if (json[end] === '"' && json[end + 1] !== ':') {
    const text = json.slice(json.lastIndexOf('"', end - 1) + 1, end)
    if (isSecretHeader(text) || names.isSecretKey(text)) return true
  }
  // In a key such as `user[password]`, the bracket hides the separator. It is assumed to have a value.
  if (json[end] === ']') return true
  return isHeader
    ? valueAfter(json, afterQuote(json, end)) !== undefined
    : valueRange(json, end, 0, names) !== undefined
}

interface Range {
  readonly start: number
  readonly end: number
  readonly by: string
}

/** The value after the name that ends at `nameEnd`. @param from start of the unprocessed text */
function valueRange(text: string, nameEnd: number, from: number, names: SecretNames): Range | undefined {
  const nameStart = startOfName(text, nameEnd, from)
  const kinds = names.readKinds(text.slice(nameStart, nameEnd))
  const isAuth = (kinds & Kind.auth) !== 0
  const isHeader = isAuth || (kinds & Kind.header) !== 0
  if (!isHeader && (kinds & Kind.secretKey) === 0) return undefined
  const opened = findQuoteBefore(text, nameStart)
  const closed = findQuoteAt(text, nameEnd)
  const isQuoted = isSameQuote(opened, closed)
  const separator = valueAfter(text, afterQuote(text, nameEnd))
  if (separator === undefined) return undefined
  const { end: at, group: sign } = separator
  if (!isHeader) return secretKeyRange(text, at, sign, nameStart, isQuoted ? opened : undefined)
  const isMarker = text.startsWith(REMOVED, at) || text.startsWith(REDACTED, at)
  if (isMarker && (sign === '=' || matchAt(MARKER, text, at) !== undefined)) return undefined
  const nothing = matchAt(NOTHING, text, at)
  if (nothing !== undefined && !isFolded(text, nothing.end, nameStart)) return undefined
  const value = findQuoteAt(text, at)
  const isContainer = Object.hasOwn(CLOSING, text[at] ?? '')
  if (isAuth) return text[at] === '{' ? containerRange(text, at, opened, REMOVED) : userAndPassword(text, at, value)
  if (sign === ',') return isQuoted ? listed(text, at, value, isContainer) : undefined
  const toLineEnd = (valueEnd: number): Range | undefined =>
    lineRange(text, at, valueEnd, nameStart, closed === undefined ? opened : undefined)
  if (sign === '=' && QUERY_MARK.test(text.slice(Math.max(0, nameStart - 6), nameStart))) {
    const end = matchAt(QUERY_VALUE, text, at)?.end ?? at
    return end === at ? undefined : { start: at, end, by: REMOVED }
  }
  if (value !== undefined || (isContainer && !isMarker)) {
    const quote = value ?? (isQuoted ? opened : undefined)
    const range = value === undefined ? containerRange(text, at, quote, REMOVED) : quotedRange(text, at, value, REMOVED)
    const after = value === undefined ? range.end : afterQuote(text, range.end)
    if (matchAt(CONTINUATION, text, after) !== undefined) return toLineEnd(after)
    return range.start === range.end ? undefined : range
  }
  const number = isQuoted ? matchAt(NUMBER, text, at) : undefined
  return number === undefined ? toLineEnd(at) : { start: at, end: number.end, by: quoted(REMOVED, opened) }
}

/**
 * The value of a key: a quoted text, an object, or a list. The rest may be prose.
 * @param quote around the name
 */
function secretKeyRange(
  text: string,
  at: number,
  sign: string,
  nameStart: number,
  quote: Quote | undefined,
): Range | undefined {
  const value = quote === undefined ? findOpeningQuote(text, at) : findQuoteAt(text, at)
  if (value !== undefined) {
    const range = quotedRange(text, at, value, REDACTED)
    const isValue = sign !== ',' || text[nameStart] === '-' || isPair(text, nameStart, range.end, quote)
    return isValue && range.start < range.end && !MARKERS.has(text.slice(range.start, range.end)) ? range : undefined
  }
  const start = matchAt(CLASS, text, at)?.end ?? at
  if (sign === ',' || !Object.hasOwn(CLOSING, text[start] ?? '')) return undefined
  if (quote === undefined && matchAt(CONTAINER_START, text, start) === undefined) return undefined
  const { end, by } = containerRange(text, start, quote, REDACTED)
  const content = text.slice(start, end)
  return IS_EMPTY.test(content) || MARKERS.has(content) ? undefined : { start: at, end, by }
}

/** Whether the name and the value that ends at `end` are a whole list. */
function isPair(text: string, nameStart: number, end: number, quote: Quote | undefined): boolean {
  if (quote === undefined) return false
  const before = text.slice(Math.max(0, nameStart - MAX_PAIR_CHARS), nameStart - quote.depth - 1)
  return PAIR_START.test(before) && matchAt(PAIR_END, text, afterQuote(text, end)) !== undefined
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
  if (value === undefined) return isContainer ? containerRange(text, at, undefined, REMOVED) : undefined
  const range = quotedRange(text, at, value, REMOVED)
  const isName =
    matchAt(KEY_SEPARATOR, text, afterQuote(text, range.end)) !== undefined ||
    isSecretHeader(text.slice(range.start, range.end))
  return isName || range.start === range.end ? undefined : range
}

function quotedRange(text: string, at: number, quote: Quote, by: string): Range {
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
  return { start, end, by }
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
  const range = quote === undefined ? undefined : quotedRange(text, at, quote, REMOVED)
  return range !== undefined && text.slice(range.start, range.end).includes(':') ? range : undefined
}

/** A list or an object, up to its end. Brackets within quotes are not counted. */
function containerRange(text: string, at: number, quote: Quote | undefined, by: string): Range {
  const opening = text[at] as string
  const closing = CLOSING[opening] as string
  let open = 0
  let end = at
  while (end < text.length) {
    const char = text[end] as string
    const inner = char === '\\' || char === '"' || char === "'" || char === '`' ? findQuoteAt(text, end) : undefined
    if (inner !== undefined) end = afterQuote(text, findQuoteEnd(text, end + inner.depth + 1, inner, text.length)) - 1
    else if (char === opening && !(char === '[' && STYLE_ESCAPE.test(text.slice(end - 5, end)))) open += 1
    else if (char === closing && --open === 0) {
      const whole = text.slice(at, end + 1)
      return { start: at, end: end + 1, by: whole === by ? whole : quoted(by, quote) }
    }
    end += 1
  }
  return { start: at, end: text.length, by: quoted(by, quote) }
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
