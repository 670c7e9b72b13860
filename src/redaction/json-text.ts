/**
 * [worker] Redacts the parameters of URLs and of parsed queries in the JSON text of an entry. Parsing and serializing
 * the entry would take ten times as long.
 */
import { COLON, findStringEnd, findValueEnd } from '../shared/json-scan.js'
import { QuerySearch, findKey, isQueryName } from './query-search.js'
import { replaceRanges } from './url-params.js'
import type { ParamRange, Range, UrlParams } from './url-params.js'
import { REDACTED, hasUserinfo } from './userinfo.js'

/** Values that are never redacted. */
const EMPTY = /(?:null|true|false|""|\{\}|\[\])(?=[,}\]])/y

/** A string, and the colon after a key. */
const TEXT = /"((?:[^"\\]|\\.)*)"(:?)/g

/**
 * Gives the same result as the `EntryWalk` of `Redactor` without patterns. Duplicate keys are kept and redacted.
 *
 * @returns undefined if the entry must be parsed: it may contain user info, an escape may hide a letter, a parameter is in
 * a key or directly after an escape, or a query has an unusual form
 */
export function redactJsonText(json: string, params: UrlParams): string | undefined {
  if (json.includes('\\u') || json.includes('\\/') || hasUserinfo(json)) return undefined
  const ranges = params.findRanges(json)
  if (!areWithinValues(json, ranges)) return undefined
  const members = findSecretMembers(json, params)
  if (members === undefined) return undefined
  const all = members.length === 0 ? ranges : [...ranges, ...members].toSorted((a, b) => a.start - b.start)
  const clean = replaceRanges(json, all)
  // The slash in the parameter's value may have hidden user info: `http://token=a/b&user:password@host`.
  return clean !== json && hasUserinfo(clean) ? undefined : clean
}

/** Whether no range is in a key and no name directly follows a backslash. */
function areWithinValues(json: string, ranges: readonly ParamRange[]): boolean {
  let stringEnd = -1
  for (const { name, end } of ranges) {
    if (json[name - 1] === '\\') return false
    if (end <= stringEnd) continue
    stringEnd = findStringEnd(json, end - 1, json.length)
    if (json.charCodeAt(stringEnd + 1) === COLON) return false
  }
  return true
}

/** The values of listed parameters in all parsed queries; undefined if the entry must be parsed. */
function findSecretMembers(json: string, params: UrlParams): Range[] | undefined {
  const members: Range[] = []
  const search = new QuerySearch(json)
  for (let query = search.next(0), from = 0; query !== undefined; query = search.next(from)) {
    const { container } = query
    from = container + 1
    const keyEnd = container - 2
    const keyStart = json.lastIndexOf('"', keyEnd - 1) + 1
    if (json[keyStart - 2] === '\\') return undefined
    if (!isQueryName(json.slice(keyStart, keyEnd))) continue
    from = findValueEnd(json, container, json.length)
    if (from === -1 || mayContainPair(json.slice(container, from), params)) return undefined
    if (!addMembers(json, container, from, params, members)) return undefined
  }
  return members
}

/** Whether a parsed query has a list with the name of a parameter: `[['token', …]]`, `[{ name: 'token', … }]`. */
export function mayContainPair(query: string, params: UrlParams): boolean {
  if (!query.includes('[')) return false
  for (const [, text = '', colon] of query.matchAll(TEXT))
    if (colon === '' && (text.includes('\\') || params.has(text))) return true
  return false
}

/** Adds the members of a query; false if the entry must be parsed. */
function addMembers(json: string, at: number, end: number, params: UrlParams, members: Range[]): boolean {
  for (let member = findKey(json, at, end); member !== undefined;) {
    const { key, valueStart } = member
    if (key.includes('\\')) return false
    let after = valueStart
    if (params.has(key)) {
      after = findValueEnd(json, valueStart, end)
      EMPTY.lastIndex = valueStart
      if (!EMPTY.test(json)) members.push({ start: valueStart, end: after, text: `"${REDACTED}"` })
    }
    member = findKey(json, after, end)
  }
  return true
}
