/**
 * Clean copies of logged data: well-formed Unicode without NUL, at most `MAX_DEPTH` deep and `MAX_KEYS` wide. The
 * objects have no prototype, so `__proto__` is an ordinary key.
 */
import type { Json, JsonObject } from '../protocol/log-entry.js'
import { mayBeInexact } from '../shared/exact-json.js'

/** Nesting depth of containers, including the record. */
export const MAX_DEPTH = 32

export const MAX_KEYS = 1_000

/** Kept even beyond the limit, because properties assigned to an error may come before them. */
export const ERROR_KEYS: ReadonlySet<string> = new Set(['type', 'message', 'stack', 'name'])

/** Numbers of containers, keys, list items and NUL characters removed from a record. */
export interface CutCounts {
  depth: number
  keys: number
  items: number
  nul: number
  /** Bytes of a line that was shortened before it was parsed. */
  bytes: number
}

export function createCutCounts(): CutCounts {
  return { depth: 0, keys: 0, items: 0, nul: 0, bytes: 0 }
}

/** NUL and surrogates are rare, so one search avoids the copy. */
const NEEDS_CARE = /[\0\ud800-\udfff]/

/**
 * Converts text to a form that every JSON parser and every database accepts. @param cuts counts the removed characters
 */
export function cleanText(text: string, cuts?: CutCounts): string {
  if (!NEEDS_CARE.test(text)) return text
  const clean = text.replaceAll('\0', '')
  if (cuts !== undefined) cuts.nul += text.length - clean.length
  return clean.toWellFormed()
}

/** Sets a key that must not overwrite another: a second `id` becomes `id_`, the next ones `id_2`, `id_5`, … */
export function putUnderFreeKey(target: JsonObject, key: string, value: Json, firstSuffix = 2): void {
  let free = key
  if (Object.hasOwn(target, key)) {
    if (target[key] === undefined) delete target[key] // a removed member, so that this one is the last
    else free = `${key}_`
    for (let n = firstSuffix; Object.hasOwn(target, free); n = n * 2 + 1) free = `${key}_${n}`
  }
  target[free] = value
}

/** Not `Object.create(null)`, which is a slow dictionary. */
export function createObject(): JsonObject {
  return Object.setPrototypeOf({}, null) as JsonObject
}

/**
 * Makes parsed JSON equal to its clean copy, in place: removes all prototypes. Returns false if that is not enough, since
 * the value exceeds the limits or has numbers that `parseExact` may read differently. Does not examine texts. `MAX_DEPTH`
 * bounds the recursion.
 */
export function removePrototypes(value: object, depth = 1): boolean {
  if (depth > MAX_DEPTH) return false
  let inners = value as unknown[]
  if (!Array.isArray(value)) {
    inners = Object.values(Object.setPrototypeOf(value, null) as object)
    if (inners.length > MAX_KEYS) return false
  }
  for (const inner of inners) {
    if (
      typeof inner === 'number'
        ? mayBeInexact(inner)
        : typeof inner === 'object' && inner !== null && !removePrototypes(inner, depth + 1)
    )
      return false
  }
  return true
}

/**
 * Copies without recursion, since a line may be nested deeper than the stack allows. A container beyond the depth
 * becomes the text that pino writes in that case: `[Object]` or `[Array]`.
 *
 * @param isKept whether a key of `source` itself is copied even beyond the limit
 */
export function copyClean(source: object, cuts: CutCounts, isKept: (key: string) => boolean = () => false): JsonObject {
  const root = createObject()
  const open: { from: object; to: JsonObject | Json[]; depth: number }[] = [{ from: source, to: root, depth: 1 }]
  for (let task = open.pop(); task !== undefined; task = open.pop()) {
    const { to, depth } = task
    const place = (value: unknown): Json => {
      if (typeof value === 'string') return cleanText(value, cuts)
      if (typeof value !== 'object' || value === null) return value as Json
      if (depth >= MAX_DEPTH) {
        cuts.depth += 1
        return Array.isArray(value) ? '[Array]' : '[Object]'
      }
      const copy: JsonObject | Json[] = Array.isArray(value) ? [] : createObject()
      open.push({ from: value, to: copy, depth: depth + 1 })
      return copy
    }
    if (Array.isArray(to)) {
      for (const item of task.from as unknown[]) to.push(place(item))
      continue
    }
    let keys = 0
    // A changed key gets another name if an unchanged key has the same name.
    const cleaned: [string, Json][] = []
    for (const key of Object.keys(task.from)) {
      keys += 1
      if (keys > MAX_KEYS && !(to === root ? isKept(key) : ERROR_KEYS.has(key))) {
        cuts.keys += 1
        continue
      }
      const clean = cleanText(key, cuts)
      const value = place((task.from as Record<string, unknown>)[key])
      if (clean === key) to[key] = value
      else cleaned.push([clean, value])
    }
    // Each key starts at a different suffix, so 1,000 equal keys do not need 1,000 attempts each.
    cleaned.forEach(([key, value], index) => putUnderFreeKey(to, key, value, index + 2))
  }
  return root
}
