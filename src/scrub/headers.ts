/** [worker] Headers that carry credentials, removed from a record wherever they turn up: errors of HTTP clients bring them along. */
import type { Json, JsonObject } from '../protocol/entry.js'
import { AUTH, isRemovedHeader } from './header-names.js'
import { removeHeaderLines } from './header-text.js'

export { mayHoldHeaders } from './header-names.js'

/** `{ name: 'Cookie', value: … }`: HAR, Playwright, Puppeteer and Envoy write headers so. */
const NAME_KEYS = ['name', 'key', 'header']

/**
 * Removes from a parsed record, in place: members with such a name, names and values in lists, credentials of basic
 * authentication, and header lines inside texts, whose value becomes `[removed]`. The record's own members count too.
 * Without recursion.
 *
 * @returns how many were removed.
 */
export function removeHeaders(tree: JsonObject): number {
  let removed = 0
  const open: (JsonObject | Json[])[] = [tree]
  const look = (value: Json): Json => {
    if (typeof value === 'string') {
      const clean = removeHeaderLines(value)
      if (clean !== value) removed += 1
      return clean
    }
    if (typeof value === 'object' && value !== null) open.push(value)
    return value
  }
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    if (Array.isArray(holder)) {
      const kept = withoutHeaders(holder)
      removed += holder.length - kept.length
      holder.length = 0
      for (const item of kept) holder.push(look(item))
      continue
    }
    removed += removeMembers(holder)
    for (const key of Object.keys(holder)) {
      const value = holder[key] as Json
      const clean = look(value)
      if (clean !== value) holder[key] = clean
    }
  }
  return removed
}

function removeMembers(holder: JsonObject): number {
  let removed = 0
  const remove = (key: string): void => {
    delete holder[key]
    removed += 1
  }
  const nameKey = namedHeader(holder)
  if (nameKey !== undefined) {
    remove(nameKey)
    delete holder['value']
  }
  for (const key of Object.keys(holder)) {
    if (isRemovedHeader(key)) remove(key)
    else if (AUTH.test(key)) {
      const auth = holder[key] as Json
      // Node's `http` takes `user:password` as one text.
      if (typeof auth === 'string' && auth.includes(':')) remove(key)
      else if (isObject(auth) && Object.hasOwn(auth, 'password')) {
        delete auth['password']
        removed += 1
      }
    }
  }
  return removed
}

function namedHeader(holder: JsonObject): string | undefined {
  if (!Object.hasOwn(holder, 'value')) return undefined
  return NAME_KEYS.find((key) => Object.hasOwn(holder, key) && isHeaderName(holder[key]))
}

/** The list without `name, value` side by side, without pairs of them, and without objects that are one header. */
function withoutHeaders(list: readonly Json[]): Json[] {
  // Node's `rawHeaders` has names at even places only; of another list nothing is known.
  const step = list.length % 2 === 0 && list.every((item) => typeof item === 'string') ? 2 : 1
  const kept: Json[] = []
  for (let at = 0; at < list.length; at += step) {
    const item = list[at] as Json
    const following = list[at + 1]
    if (isHeaderName(item) && (typeof following === 'string' || Array.isArray(following))) {
      if (step === 1) at += 1
      continue
    }
    if (Array.isArray(item) && item.length === 2 && isHeaderName(item[0])) continue
    if (isObject(item) && Object.keys(item).length === 2 && namedHeader(item) !== undefined) continue
    kept.push(item)
    if (step === 2) kept.push(following as Json)
  }
  return kept
}

function isHeaderName(value: Json | undefined): boolean {
  return typeof value === 'string' && isRemovedHeader(value)
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
