/**
 * [worker] Redacts the values of named URL parameters in any text, since URLs are logged within sentences, without
 * their host, and within each other. Searches for the equals sign and reads backwards to the start of the name, in one
 * pass.
 */
import { TextMemo } from '../shared/text-memo.js'
import { createCharSet, findRunStart } from './char-set.js'
import { findOpeningQuote, findQuoteEnd } from './quotes.js'
import { REDACTED, toBare } from './secret-names.js'
import { hasUserinfo, removeUserinfo } from './userinfo.js'

/** Maximum length of a name. */
const MAX_NAME_CHARS = 128
/** Characters of a name, including percent-encoded brackets. */
const NAME_CHARS = createCharSet(/[A-Za-z0-9_.~$*%[\]-]/g)
/** A slash may be escaped, as by PHP: `a\/b`. */
const BACKSLASH = String.raw`\\(?!\\{0,64}/)`
/** `encodeURIComponent` does not encode a single quote: one within a word is a part of the value. */
const QUOTES = String.raw`["${'`'}]|['<>](?![\w%])`
/**
 * End of a value: the next parameter, the fragment, or a character that is invalid in a URL. A `;` counts only before a
 * parameter whose name has no encoded equals sign; otherwise a second redaction would find a different end.
 */
const VALUE_END = new RegExp(
  String.raw`[&#\0- \s]|${QUOTES}|${BACKSLASH}|;(?=(?:(?!%(?:25){0,8}3[Dd])[\w.%[\]-]){1,64}=)`,
  'g',
)
/** Escapes of JSON for characters that do not end a value. */
const CONTINUATION = /^\\u/
/** Also the encoded `&` or `#` of the URL that contains the parameter, or of a URL around it. */
const ENCODED_VALUE_END = new RegExp(String.raw`[&#\0- \s]|${QUOTES}|${BACKSLASH}|%((?:25)*)2[36]`, 'g')

export class UrlParams {
  readonly #names: ReadonlySet<string>
  readonly #leastChars: number
  /** Cache of results for short names, by their exact spelling. */
  readonly #known = new TextMemo((name) => (this.#isListed(name) ? 1 : 0))

  /** @param names case, hyphens and underscores are ignored */
  constructor(names: readonly string[]) {
    this.#names = new Set(names.map(toBare).filter((name) => name !== ''))
    this.#leastChars = Math.min(...[...this.#names].map((name) => name.length))
  }

  /** Whether the value of a parameter is redacted: `token`, `user[password]`, `user.password`. */
  has(name: string): boolean {
    return name !== '' && name.length <= MAX_NAME_CHARS && this.#known.get(name) === 1
  }

  #isListed(name: string): boolean {
    return (
      this.#names.has(toBare(name)) ||
      (/[.[\]]/.test(name) && name.split(/[.[\]]+/).some((part) => this.#names.has(toBare(part))))
    )
  }

  /** Whether `redact` may change JSON text: false positives, no false negatives. */
  mayMatch(json: string): boolean {
    return this.findRanges(json, true).length > 0 || hasUserinfo(json)
  }

  redact(text: string): string {
    return removeUserinfo(replaceRanges(text, this.findRanges(text)))
  }

  /**
   * The values to redact, in ascending order.
   * @param isJson whether an escape may continue a value: `token=\u00e9`
   */
  findRanges(text: string, isJson = false): Range[] {
    const ranges: Range[] = []
    if (this.#names.size === 0) return ranges
    let plain = text.indexOf('=')
    let encoded = nextEncoded(text, 0)
    let taken = 0
    while (plain !== -1 || encoded !== -1) {
      const isEncoded = plain === -1 || (encoded !== -1 && encoded < plain)
      const at = isEncoded ? encoded : plain
      let start = afterEquals(text, at)
      let end = start
      const name = this.#findName(text, at, Math.max(taken, at - MAX_NAME_CHARS))
      if (name !== -1) {
        const quote = isEncoded ? undefined : findOpeningQuote(text, start)
        if (quote !== undefined) {
          start += quote.depth + 1
          end = findQuoteEnd(text, start, quote, text.length)
        } else end = isEncoded ? findEncodedValueEnd(text, at, start) : findValueEnd(text, start)
        if ((end > start && !isScrubbed(text, start, end)) || (isJson && CONTINUATION.test(text.slice(end, end + 2))))
          ranges.push({ name, start, end })
      }
      // The next name cannot start within this name or value.
      taken = end
      if (plain !== -1 && plain < end) plain = text.indexOf('=', end)
      if (encoded !== -1 && encoded < end) encoded = nextEncoded(text, end)
    }
    return ranges
  }

  /** Start of the name before an equals sign; -1 if the name is not listed. */
  #findName(text: string, at: number, least: number): number {
    const start = findRunStart(text, at, least, NAME_CHARS)
    if (at - start < this.#leastChars) return -1
    const name = text.slice(start, at)
    if (this.has(decoded(name))) return start
    // The letter after a backslash belongs to an escape: `\ntoken=`, `\u0026token=`.
    if (text[start - 1] !== '\\') return -1
    const isListed = this.has(decoded(name.slice(1))) || (name.startsWith('u') && this.has(decoded(name.slice(5))))
    return isListed ? start : -1
  }
}

/** An equals sign in a nested URL, encoded any number of times: `%3D`, `%253D`. */
function nextEncoded(text: string, from: number): number {
  let at = text.indexOf('%', from)
  while (at !== -1 && afterEquals(text, at) === -1) at = text.indexOf('%', at + 1)
  return at
}

/** End of the equals sign, plain or encoded, that starts at `at`; -1 if another character is encoded there. */
function afterEquals(text: string, at: number): number {
  if (text[at] === '=') return at + 1
  let end = at + 1
  while (text.startsWith('25', end)) end += 2
  return text[end] === '3' && (text.charCodeAt(end + 1) | 32) === 100 ? end + 2 : -1
}

function findValueEnd(text: string, start: number): number {
  VALUE_END.lastIndex = start
  return VALUE_END.exec(text)?.index ?? text.length
}

/** A delimiter that is encoded more often than the equals sign belongs to the value. */
function findEncodedValueEnd(text: string, equals: number, start: number): number {
  const levels = start - equals - '%3D'.length
  ENCODED_VALUE_END.lastIndex = start
  for (let match = ENCODED_VALUE_END.exec(text); match !== null; match = ENCODED_VALUE_END.exec(text))
    if ((match[1] ?? '').length <= levels) return match.index
  return text.length
}

export interface Range {
  readonly start: number
  readonly end: number
  readonly name: number
}

/** Decodes a name. In a nested URL the name starts after the last delimiter. */
function decoded(name: string): string {
  if (!name.includes('%')) return name
  const text = name.replace(/%(?:25)*([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return text.slice(Math.max(...['?', '&', '#', ';', '/', ' '].map((delimiter) => text.lastIndexOf(delimiter))) + 1)
}

function isScrubbed(text: string, start: number, end: number): boolean {
  return end - start === REDACTED.length && text.startsWith(REDACTED, start)
}

/** The text with `[scrubbed]` in place of the ranges. */
export function replaceRanges(text: string, ranges: readonly Pick<Range, 'start' | 'end'>[], by = REDACTED): string {
  let clean = ''
  let copied = 0
  for (const { start, end } of ranges) {
    clean += text.slice(copied, start) + by
    copied = end
  }
  return clean + text.slice(copied)
}
