/**
 * [worker] Takes secrets out of an entry, given as compact JSON: URL parameters, and what the user's patterns match.
 *
 * The text is walked from string to string; numbers keep their digits, and what nothing matches keeps its bytes. What an entry
 * must have to be valid is left alone: its own field names, `level`, the timestamps, the ids of a trace.
 */
import { makeKeysUnique } from './unique-keys.js'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  findNumberEnd,
  findStringEnd,
  findValueEnd,
} from './json-text.js'
import { isCardNumber } from './credit-card.js'
import { createPattern } from './patterns.js'
import type { Pattern } from './patterns.js'
import { findNextQuery } from './query-search.js'
import { TextBudget } from './text-budget.js'
import { UrlParams } from './url-params.js'
import { REDACTED } from './userinfo.js'

export interface RedactorOptions {
  /** Built-in names, and expressions that `checkExpression` accepts. */
  readonly patterns: readonly string[]
  readonly urlParams: readonly string[]
  /** Characters of one text that custom expressions read, and twice as many of one entry: at least the bytes of an entry that are sent. Default no limit. */
  readonly maxTextChars?: number
}

/** What a container's members are: fields of the interface, or the application's own. */
type Role = 'entry' | 'fields' | 'trace' | 'crumbs' | 'crumb' | 'free' | 'query'

/** Under these, frameworks log a query that they have parsed. */
const QUERY =
  /^(?:query|params|query_?params|search_?params|query_?string_?parameters|multi_?value_?query_?string_?parameters)$/i
const MAX_QUERY_KEY_CHARS = 12
/** Chunks are searched in pieces of this length. */
const PIECE_CHARS = 4_096
/** A longer query is not looked at, and concerned. */
const QUERY_CHARS = 1_024
const ESCAPED_LETTER = /\\u00[2-7]/
const HEX_ID = /^[\da-f]{16,32}$/i
const DIGITS = /^\d+$/

export class Redactor {
  /** Whether the user named any. */
  readonly hasPatterns: boolean
  readonly #patterns: readonly Pattern[]
  readonly #params: UrlParams
  readonly #maxTextChars: number

  /** @throws SyntaxError for an expression that is none. */
  constructor({ patterns, urlParams, maxTextChars = Infinity }: RedactorOptions) {
    this.hasPatterns = patterns.length > 0
    this.#patterns = patterns.map(createPattern)
    this.#params = new UrlParams(urlParams)
    this.#maxTextChars = maxTextChars
  }

  /** Whether `scrubJson` may have something to do: never a wrong no. */
  mayMatch(json: string): boolean {
    return (
      this.#params.mayMatch(json) ||
      findNextQuery(json, 0) !== undefined ||
      isHiding(json) ||
      this.#patterns.some((pattern) => pattern.mayMatch(json))
    )
  }

  /**
   * Position at or after `from` of the next place that concerns the URL parameters, or Infinity. For JSON text of many lines, with
   * no letter or slash written as an escape.
   */
  findNextParam(text: string, from: number): number {
    // In pieces: what is not there would else be searched to the end of the text, for each place that is.
    for (let at = from; at < text.length; at += PIECE_CHARS) {
      const end = Math.min(at + PIECE_CHARS, text.length)
      const place = Math.min(this.#params.findNext(text, at, end), this.#nextQuery(text, at, end))
      if (place !== Infinity) return place
    }
    return Infinity
  }

  #nextQuery(text: string, from: number, end: number): number {
    const part = text.slice(from, end + MAX_QUERY_KEY_CHARS)
    for (let place = findNextQuery(part, 0); place !== undefined; place = findNextQuery(part, place.container + 1)) {
      if (this.#namesParam(text, from + place.container)) return from + place.at
    }
    return Infinity
  }

  /** Whether a member of the container at `at` may be one of the parameters. */
  #namesParam(text: string, at: number): boolean {
    const part = text.slice(at, at + QUERY_CHARS)
    const end = findValueEnd(part, 0)
    if (end <= 0 || (end === part.length && at + end < text.length)) return true
    for (let quote = part.indexOf('"'); quote !== -1 && quote < end;) {
      const after = findStringEnd(part, quote) + 1
      if (after === 0) return true
      const key = part.slice(quote + 1, after - 1)
      if (part.charCodeAt(after) === COLON && (key.includes('\\') || this.#params.has(key))) return true
      quote = part.indexOf('"', after)
    }
    return false
  }

  /** A text without what is to be scrubbed. Never throws. */
  redactText(text: string): string {
    return this.#scrubWith(text, this.#patterns, new TextBudget(this.#maxTextChars))
  }

  /**
   * The entry without what is to be scrubbed; the same string where there is nothing. Never throws.
   *
   * @param json an entry as compact JSON.
   */
  redactJson(json: string): string {
    if (!this.mayMatch(json)) return json
    const isHidden = isHiding(json)
    const patterns = this.#patterns.filter((pattern) => isHidden || pattern.mayMatch(json))
    const budget = new TextBudget(this.#maxTextChars)
    const walk = new Walk(
      json,
      (text) => this.#scrubWith(text, patterns, budget),
      this.#params,
      patterns.some(({ matchesNumbers: takesNumbers }) => takesNumbers),
    )
    return walk.run()
  }

  #scrubWith(text: string, patterns: readonly Pattern[], budget: TextBudget): string {
    const scrub = (one: string): string => patterns.reduce((clean, pattern) => pattern.redact(clean), one)
    const clean = this.#params.redact(text)
    return patterns.some(({ isCustom }) => isCustom) ? budget.apply(clean, scrub) : scrub(clean)
  }
}

/** A letter that is written as an escape may hide anything. */
function isHiding(json: string): boolean {
  return json.includes('\\/') || (json.includes('\\u00') && ESCAPED_LETTER.test(json))
}

interface Holder {
  readonly role: Role
  readonly isObject: boolean
}

class Walk {
  readonly #json: string
  readonly #scrub: (text: string) => string
  readonly #params: UrlParams
  readonly #takesNumbers: boolean
  readonly #open: Holder[] = []
  #clean = ''
  #copied = 0
  #hasNewKeys = false

  constructor(json: string, scrub: (text: string) => string, params: UrlParams, takesNumbers: boolean) {
    this.#json = json
    this.#scrub = scrub
    this.#params = params
    this.#takesNumbers = takesNumbers
  }

  run(): string {
    const json = this.#json
    let key = ''
    for (let at = 0; at < json.length;) {
      const holder = this.#open.at(-1)
      const code = json.charCodeAt(at)
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        const isObject = code === OPEN_BRACE
        this.#open.push({ role: holder === undefined ? 'entry' : roleOf(holder, key), isObject })
        key = ''
        at += 1
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        this.#open.pop()
        key = ''
        at += 1
      } else if (code === QUOTE) {
        const end = findStringEnd(json, at) + 1
        if (end === 0) return json
        if (holder?.isObject === true && json.charCodeAt(end) === COLON) {
          key = textOf(json.slice(at, end))
          if (holder.role === 'free' || holder.role === 'query') this.#replaceKey(at, end, key)
          at = end + 1
          if (holder.role === 'query' && this.#params.has(key)) at = this.#replaceSecret(at)
        } else {
          if (!isFixed(holder, key, json, at, end)) this.#replaceText(at, end)
          at = end
        }
      } else {
        const end = findNumberEnd(json, at)
        if (end > at && this.#takesNumbers && (holder?.role === 'free' || holder?.role === 'query'))
          this.#replaceNumber(at, end)
        at = Math.max(end, at + 1)
      }
    }
    if (this.#copied === 0) return json
    const clean = this.#clean + json.slice(this.#copied)
    return this.#hasNewKeys ? makeKeysUnique(clean) : clean
  }

  #replaceKey(at: number, end: number, key: string): void {
    const clean = this.#scrub(key)
    if (clean === key) return
    this.#hasNewKeys = true
    this.#replace(at, end, JSON.stringify(clean))
  }

  #replaceText(at: number, end: number): void {
    const text = textOf(this.#json.slice(at, end))
    const clean = this.#scrub(text)
    if (clean !== text) this.#replace(at, end, JSON.stringify(clean))
  }

  #replaceNumber(at: number, end: number): void {
    const digits = this.#json.slice(at, end)
    if (DIGITS.test(digits) && isCardNumber(digits)) this.#replace(at, end, JSON.stringify(this.#scrub(digits)))
  }

  /** The value of a parameter, whatever it is; position after it. */
  #replaceSecret(at: number): number {
    const end = findValueEnd(this.#json, at)
    const value = this.#json.slice(at, end)
    const isNothing =
      value === 'null' || value === 'true' || value === 'false' || value === '""' || value === '[]' || value === '{}'
    if (!isNothing && value !== `"${REDACTED}"`) this.#replace(at, end, `"${REDACTED}"`)
    return end
  }

  #replace(at: number, end: number, by: string): void {
    this.#clean += this.#json.slice(this.#copied, at) + by
    this.#copied = end
  }
}

function textOf(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
}

/** What the container is that stands under this key. */
function roleOf({ role, isObject }: Holder, key: string): Role {
  switch (role) {
    case 'entry':
      return key === 'metadata' ? 'free' : key === 'breadcrumbs' ? 'crumbs' : key === 'trace' ? 'trace' : 'fields'
    case 'crumbs':
      return 'crumb'
    case 'crumb':
      return key === 'data' ? 'free' : 'fields'
    case 'free':
      return isObject && QUERY.test(key) ? 'query' : 'free'
    default:
      return role
  }
}

function isFixed(holder: Holder | undefined, key: string, json: string, at: number, end: number): boolean {
  switch (holder?.role) {
    case 'entry':
      return holder.isObject && (key === 'level' || key === 'timestamp')
    case 'crumb':
      return holder.isObject && key === 'timestamp'
    case 'trace':
      return HEX_ID.test(json.slice(at + 1, end - 1))
    default:
      return false
  }
}
