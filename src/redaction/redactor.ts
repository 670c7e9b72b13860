/**
 * [worker] Removes secrets from entries: values of URL parameters, user info of URLs, and matches of the user's
 * patterns.
 */
import type { Json, JsonObject } from '../protocol/log-entry.js'
import { isMarkedNumber, parseExact, stringifyExact, unmarkNumber } from '../shared/exact-json.js'
import { COLON, findStringEnd } from '../shared/json-scan.js'
import { isCardNumber } from './credit-card.js'
import { createSearchTime } from './custom-pattern.js'
import { createPattern } from './patterns.js'
import type { Pattern } from './patterns.js'
import { SecretNames } from './secret-names.js'
import { UrlParams, replaceRanges } from './url-params.js'
import { hasUserinfo } from './userinfo.js'

export interface RedactorOptions {
  /** Built-in names, and expressions that `checkExpression` accepts. */
  readonly patterns: readonly string[]
  /** Names of keys and of URL parameters. */
  readonly keys: readonly string[]
}

/** The meaning of a container's members: fields of the interface or application data. */
type Role = 'entry' | 'fields' | 'trace' | 'breadcrumbs' | 'breadcrumb' | 'free'

const ESCAPED_LETTER = /\\u00[2-7]/
const HEX_ID = /^[\da-f]{16,32}$/i
const DIGITS = /^\d+$/

export class Redactor {
  readonly hasPatterns: boolean
  readonly keys: readonly string[]
  readonly names: SecretNames
  readonly #patterns: readonly Pattern[]
  readonly #params: UrlParams

  /** @throws SyntaxError for an invalid expression */
  constructor({ patterns, keys }: RedactorOptions) {
    this.hasPatterns = patterns.length > 0
    this.keys = keys
    this.names = new SecretNames(keys)
    this.#patterns = patterns.map(createPattern)
    this.#params = new UrlParams(keys)
  }

  /** Whether `redactJson` may change the JSON text: false positives, no false negatives. */
  mayMatch(json: string): boolean {
    return this.mayMatchUrl(json) || mayHideLetters(json) || this.#patterns.some((pattern) => pattern.mayMatch(json))
  }

  /** As `mayMatch`, for URL parameters and user info in JSON text without escaped letters. */
  mayMatchUrl(json: string): boolean {
    return this.#params.mayMatch(json)
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
      patterns.some(({ matchesNumbers }) => matchesNumbers),
    )
    const redacted = walk.redactObject(parseExact(json) as JsonObject, 'entry')
    // The parser keeps only the last of duplicate keys, so the text then has more keys than the walk has visited.
    return walk.hasChanged || walk.keys !== countKeys(json) ? stringifyExact(redacted) : json
  }
}

/**
 * The same result without parsing, which would take five times as long; undefined if the entry must be parsed: it may
 * contain user info, an escape may hide a letter, or a parameter is in a key or next to an escape.
 */
function redactJsonText(json: string, params: UrlParams): string | undefined {
  if (mayHideLetters(json) || hasUserinfo(json)) return undefined
  const ranges = params.findRanges(json, true)
  if (ranges.length === 0) return json
  let stringEnd = -1
  for (const { name, start, end } of ranges) {
    if (json[name - 1] === '\\' || json.slice(start - 1, end + 1).includes('\\')) return undefined
    if (end > stringEnd) stringEnd = findStringEnd(json, end - 1, json.length)
    if (json.charCodeAt(stringEnd + 1) === COLON) return undefined
  }
  const clean = replaceRanges(json, ranges)
  // The slash in the parameter's value may have hidden user info: `http://token=a/b&user:password@host`.
  return hasUserinfo(clean) ? undefined : clean
}

/** Creates a function that redacts the texts of one entry within one time limit. */
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
  keys = 0
  readonly #redact: (text: string) => string
  readonly #matchesNumbers: boolean

  constructor(redact: (text: string) => string, matchesNumbers: boolean) {
    this.#redact = redact
    this.#matchesNumbers = matchesNumbers
  }

  /** Changes `holder`; returns a copy if keys change. */
  redactObject(holder: JsonObject, role: Role): JsonObject {
    let newKeys: Map<string, string> | undefined
    for (const key of Object.keys(holder)) {
      this.keys += 1
      const newKey = role === 'free' ? this.#redact(key) : key
      if (newKey !== key) (newKeys ??= new Map<string, string>()).set(key, newKey)
      if (isFixedField(role, key)) continue
      const value = holder[key] as Json
      const newValue = this.#redactValue(value, role, memberRole(role, key))
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
      const newItem = this.#redactValue(item, role, itemRole)
      if (newItem === item) continue
      list[at] = newItem
      this.hasChanged = true
    }
    return list
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
    return this.#matchesNumbers && role === 'free' && DIGITS.test(digits) && isCardNumber(digits)
      ? this.#redact(digits)
      : value
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
    default:
      return role
  }
}

function isFixedField(role: Role, key: string): boolean {
  return (key === 'timestamp' && (role === 'entry' || role === 'breadcrumb')) || (key === 'level' && role === 'entry')
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
