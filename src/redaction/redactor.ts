/**
 * [worker] Removes secrets from entries: values of URL parameters, user info of URLs, and matches of the user's
 * patterns.
 */
import type { Json, JsonObject } from '../protocol/log-entry.js'
import { isMarkedNumber, parseExact, stringifyExact, unmarkNumber } from '../shared/exact-json.js'
import { findValueEnd } from '../shared/json-scan.js'
import { isCardNumber } from './credit-card.js'
import { createSearchTime } from './custom-pattern.js'
import { createPattern } from './patterns.js'
import type { Pattern } from './patterns.js'
import { NAME_KEY, VALUE_KEY } from './header-members.js'
import { mayContainPair, redactJsonText } from './json-text.js'
import { QuerySearch, findKey, isQueryName } from './query-search.js'
import { UrlParams } from './url-params.js'
import { REDACTED } from './userinfo.js'

export interface RedactorOptions {
  /** Built-in names, and expressions that `checkExpression` accepts. */
  readonly patterns: readonly string[]
  readonly urlParams: readonly string[]
}

/** The meaning of a container's members: fields of the interface or application data. */
type Role = 'entry' | 'fields' | 'trace' | 'breadcrumbs' | 'breadcrumb' | 'free' | 'query'

const MAX_QUERY_KEY_CHARS = 12
/** Length of the pieces in which chunks are searched. */
const PIECE_CHARS = 4_096
/** A longer query is not examined but assumed to contain a secret. */
const QUERY_CHARS = 1_024
const ESCAPED_LETTER = /\\u00[2-7]/
const HEX_ID = /^[\da-f]{16,32}$/i
const DIGITS = /^\d+$/

export class Redactor {
  /** Whether the user configured any pattern. */
  readonly hasPatterns: boolean
  /** Names of the parameters. */
  readonly urlParams: readonly string[]
  readonly #patterns: readonly Pattern[]
  readonly #params: UrlParams

  /** @throws SyntaxError for an invalid expression */
  constructor({ patterns, urlParams }: RedactorOptions) {
    this.hasPatterns = patterns.length > 0
    this.urlParams = urlParams
    this.#patterns = patterns.map(createPattern)
    this.#params = new UrlParams(urlParams)
  }

  /** Whether `redactJson` may change the JSON text: false positives, no false negatives. */
  mayMatch(json: string): boolean {
    return (
      this.#params.mayMatch(json) ||
      new QuerySearch(json).next(0) !== undefined ||
      mayHideLetters(json) ||
      this.mayMatchPattern(json)
    )
  }

  /** As `mayMatch`, for JSON text without escaped letters, URL parameters and user info. */
  mayMatchPattern(json: string): boolean {
    return this.#patterns.some((pattern) => pattern.mayMatch(json))
  }

  /**
   * Next position at or after `from` that may be a URL parameter to redact, or Infinity. For JSON text of many lines
   * without escaped letters or slashes.
   */
  findNextParam(text: string, from: number): number {
    // In pieces: otherwise each match of one form would search for the absent forms up to the end of the text.
    for (let at = from; at < text.length; at += PIECE_CHARS) {
      const end = Math.min(at + PIECE_CHARS, text.length)
      const param = this.#params.findNext(text, at, end)
      const found = Math.min(param, this.#findNextQuery(text, at, Math.min(param, end)))
      if (found !== Infinity) return found
    }
    return Infinity
  }

  #findNextQuery(text: string, from: number, end: number): number {
    const part = text.slice(from, end + MAX_QUERY_KEY_CHARS)
    const search = new QuerySearch(part)
    for (let query = search.next(0); query !== undefined; query = search.next(query.container + 1)) {
      if (this.#mayNameParam(text, from + query.container)) return from + query.at
    }
    return Infinity
  }

  /** Whether a member of the container at `at` may be one of the parameters. */
  #mayNameParam(text: string, at: number): boolean {
    const part = text.slice(at, at + QUERY_CHARS)
    const end = findValueEnd(part, 0, part.length)
    if (end === -1) return true
    if (mayContainPair(part.slice(0, end), this.#params)) return true
    for (let member = findKey(part, 0, end); member !== undefined; member = findKey(part, member.valueStart, end))
      if (member.key.includes('\\') || this.#params.has(member.key)) return true
    return false
  }

  /** Never throws. */
  redactText(text: string): string {
    return createTextRedaction(this.#params, this.#patterns)(text)
  }

  /** Never throws. @param json an entry */
  redactJson(json: string): string {
    return (this.hasPatterns ? undefined : redactJsonText(json, this.#params)) ?? this.#redactParsed(json)
  }

  #redactParsed(json: string): string {
    if (!this.mayMatch(json)) return json
    const hidesLetters = mayHideLetters(json)
    const patterns = this.#patterns.filter((pattern) => hidesLetters || pattern.mayMatch(json))
    const redact = createTextRedaction(this.#params, patterns)
    const walk = new EntryWalk(
      redact,
      this.#params,
      patterns.some(({ matchesNumbers }) => matchesNumbers),
    )
    const redacted = walk.redactObject(parseExact(json) as JsonObject, 'entry')
    // The parser keeps only the last of duplicate keys, so the text then has more keys than the walk has visited.
    return walk.hasChanged || walk.keys !== countKeys(json) ? stringifyExact(redacted) : json
  }
}

/** For the texts of one entry. */
function createTextRedaction(params: UrlParams, patterns: readonly Pattern[]): (text: string) => string {
  const time = createSearchTime()
  return (text) => {
    let clean = params.redact(text)
    for (const pattern of patterns) clean = pattern.redact(clean, time)
    return clean
  }
}

/** Whether the text has escaped letters, which may be part of any secret. */
function mayHideLetters(json: string): boolean {
  return json.includes('\\/') || (json.includes('\\u00') && ESCAPED_LETTER.test(json))
}

/**
 * Redacts a parsed entry in place. Keeps the fields that make an entry valid: the interface's field names, `level`, the
 * timestamps, trace ids. The recursion is bounded: an entry has at most 36 levels.
 */
class EntryWalk {
  hasChanged = false
  /** Number of keys in all visited objects. */
  keys = 0
  readonly #redact: (text: string) => string
  readonly #params: UrlParams
  readonly #matchesNumbers: boolean

  constructor(redact: (text: string) => string, params: UrlParams, matchesNumbers: boolean) {
    this.#redact = redact
    this.#params = params
    this.#matchesNumbers = matchesNumbers
  }

  /** Changes `holder`; returns a copy if keys change. */
  redactObject(holder: JsonObject, role: Role): JsonObject {
    const hasOwnKeys = role === 'free' || role === 'query'
    let newKeys: Map<string, string> | undefined
    for (const key of Object.keys(holder)) {
      this.keys += 1
      const newKey = hasOwnKeys ? this.#redact(key) : key
      if (newKey !== key) (newKeys ??= new Map<string, string>()).set(key, newKey)
      if (isFixedField(role, key)) continue
      const value = holder[key] as Json
      const isSecret = role === 'query' && this.#params.has(key)
      const newValue = isSecret ? redactParam(value) : this.#redactValue(value, role, memberRole(role, key))
      if (newValue === value) continue
      holder[key] = newValue
      this.hasChanged = true
    }
    if (newKeys === undefined) return holder
    this.hasChanged = true
    const members = Object.entries(holder).map(([key, value]): [string, Json] => [
      newKeys.get(key) ?? key,
      value as Json,
    ])
    return Object.fromEntries(withUniqueKeys(members))
  }

  #redactList(list: Json[], role: Role): Json[] {
    const itemRole = role === 'breadcrumbs' ? 'breadcrumb' : role
    for (let at = 0; at < list.length; at += 1) {
      const item = list[at] as Json
      const newItem = this.#redactValue(role === 'query' ? this.#redactPair(item) : item, role, itemRole)
      if (newItem === item) continue
      list[at] = newItem
      this.hasChanged = true
    }
    return list
  }

  /** In a list of parameters: `['token', value]` or `{ name: 'token', value }`. */
  #redactPair(item: Json): Json {
    if (typeof item !== 'object' || item === null) return item
    if (Array.isArray(item))
      return isNamed(item[0], this.#params)
        ? item.map((value, index) => (index === 0 ? value : redactParam(value)))
        : item
    const members = Object.entries(item)
    if (!members.some(([key, value]) => NAME_KEY.test(key) && isNamed(value as Json, this.#params))) return item
    return Object.fromEntries(
      members.map(([key, value]) => [key, VALUE_KEY.test(key) ? redactParam(value as Json) : (value as Json)]),
    )
  }

  #redactValue(value: Json, holderRole: Role, ownRole: Role): Json {
    if (Array.isArray(value)) return this.#redactList(value, ownRole)
    if (typeof value === 'object' && value !== null) return this.redactObject(value, ownRole)
    if (typeof value === 'number') return this.#redactNumber(value, String(value), holderRole)
    if (typeof value !== 'string') return value
    if (isMarkedNumber(value)) return this.#redactNumber(value, unmarkNumber(value), holderRole)
    return holderRole === 'trace' && HEX_ID.test(value) ? value : this.#redact(value)
  }

  #redactNumber(value: number | string, digits: string, role: Role): number | string {
    const isData = role === 'free' || role === 'query'
    return this.#matchesNumbers && isData && DIGITS.test(digits) && isCardNumber(digits) ? this.#redact(digits) : value
  }
}

/** Number of keys in compact JSON text. Counts too many if a string has a quote before a colon. */
function countKeys(json: string): number {
  let count = 0
  for (let at = json.indexOf('":'); at !== -1; at = json.indexOf('":', at + 2)) count += 1
  return count
}

function memberRole(role: Role, key: string): Role {
  switch (role) {
    case 'entry':
      return key === 'metadata' ? 'free' : key === 'breadcrumbs' || key === 'trace' ? key : 'fields'
    case 'breadcrumb':
      return key === 'data' ? 'free' : 'fields'
    case 'free':
      return isQueryName(key) ? 'query' : 'free'
    default:
      return role
  }
}

function isFixedField(role: Role, key: string): boolean {
  return (key === 'timestamp' && (role === 'entry' || role === 'breadcrumb')) || (key === 'level' && role === 'entry')
}

function isNamed(name: Json | undefined, params: UrlParams): boolean {
  return typeof name === 'string' && params.has(name)
}

/** Replaces the value of a parameter, of any type. */
function redactParam(value: Json): Json {
  const isEmpty =
    value === null ||
    typeof value === 'boolean' ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  return isEmpty ? value : REDACTED
}

/**
 * If redaction makes keys equal, the second gets the suffix `_2`, the third `_3`, unless another member has that name.
 */
function withUniqueKeys(members: readonly [string, Json][]): [string, Json][] {
  const names = new Set(members.map(([key]) => key))
  const counts = new Map<string, number>()
  return members.map(([key, value]) => {
    let count = (counts.get(key) ?? 0) + 1
    if (count > 1) while (names.has(`${key}_${count}`)) count += 1
    counts.set(key, count)
    return [count === 1 ? key : `${key}_${count}`, value]
  })
}
