/** [worker] Removes headers with credentials from members, list items and texts of a record. */
import type { Json, JsonObject } from '../protocol/log-entry.js'
import { TextMemo } from '../shared/text-memo.js'
import { AUTH, REMOVED, isSecretHeader } from './header-names.js'
import { removeHeaderLines } from './header-text.js'

/**
 * `{ name: 'Cookie', value: … }` is the format of HAR, Postman, Playwright, Envoy and AWS; express-validator uses
 * `path` and `param`.
 */
export const NAME_KEY = /(?:name|key|field|header|path|param)$/i
export const VALUE_KEY = /(?:values?|content)$/i

/** Bits of a key's kinds. */
const SECRET = 1
const NAME = 2
const VALUE = 4
const CREDENTIALS = 8
const KINDS = new TextMemo(
  (key) =>
    (isSecretHeader(key) ? SECRET : 0) |
    (NAME_KEY.test(key) ? NAME : 0) |
    (VALUE_KEY.test(key) ? VALUE : 0) |
    (AUTH.test(key) ? CREDENTIALS : 0),
)

/**
 * Removes headers from a parsed record in place: members with such a name, values next to such a name in objects and
 * lists, credentials of basic authentication, and headers within texts and keys, whose values become `[removed]`. Not
 * recursive.
 *
 * @returns the number of removed headers
 */
export function removeHeaders(tree: JsonObject): number {
  let removed = 0
  const open: (JsonObject | Json[])[] = [tree]
  const look = (value: Json): Json => {
    if (typeof value === 'object' && value !== null) open.push(value)
    if (typeof value !== 'string') return value
    const clean = removeHeaderLines(value)
    if (clean !== value) removed += 1
    return clean
  }
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    if (Array.isArray(holder)) {
      removed += removeItems(holder)
      for (let at = 0; at < holder.length; at += 1) holder[at] = look(holder[at] as Json)
      continue
    }
    removed += removeHeaderMembers(holder)
    let renamed = 1
    for (const key of Object.keys(holder)) {
      if (holder[key] === undefined) continue
      const value = look(holder[key])
      const cleanKey = removeHeaderLines(key)
      if (cleanKey === key) holder[key] = value
      else {
        delete holder[key]
        removed += 1
        renamed += 1
        holder[Object.hasOwn(holder, cleanKey) ? `${cleanKey}_${renamed}` : cleanKey] = value
      }
    }
  }
  return removed
}

/** As `removeHeaders`, but only for the members of one object. */
export function removeHeaderMembers(holder: JsonObject): number {
  let removed = 0
  const keys = Object.keys(holder)
  let found = 0
  for (const key of keys) found |= KINDS.get(key)
  const isPair = (found & VALUE) !== 0 && keys.some((key) => (KINDS.get(key) & NAME) !== 0 && isHeaderName(holder[key]))
  if (!isPair && (found & (SECRET | CREDENTIALS)) === 0) return 0
  for (const key of keys) {
    const value = holder[key]
    if (value === undefined) continue
    const kind = KINDS.get(key)
    if (
      (kind & SECRET) !== 0 ||
      (isPair && (kind & VALUE) !== 0) ||
      ((kind & CREDENTIALS) !== 0 && typeof value === 'string' && value.includes(':'))
    ) {
      delete holder[key]
      removed += 1
    } else if (
      (kind & CREDENTIALS) !== 0 &&
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.hasOwn(value, 'password')
    ) {
      delete value['password']
      removed += 1
    }
  }
  return removed
}

/** Lists in which a value follows its name: Node's `rawHeaders`, pairs, entries of a Map, arguments of a program. */
function removeItems(list: Json[]): number {
  let removed = 0
  let isValue = false
  for (let at = 0; at < list.length; at += 1) {
    const item = list[at] as Json
    const isName = isHeaderName(item)
    if (isValue && !isName && item !== REMOVED && item !== null && typeof item !== 'boolean') {
      list[at] = REMOVED
      removed += 1
    }
    isValue = isName
  }
  return removed
}

function isHeaderName(value: Json | undefined): boolean {
  return typeof value === 'string' && isSecretHeader(value)
}
