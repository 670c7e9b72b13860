/** Keys that became equal, told apart again. */
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, OPEN_BRACE, OPEN_BRACKET, QUOTE, findStringEnd } from './json-text.js'

interface Holder {
  readonly keys: Set<string>
  /** Next number to try by key: a thousand that became one must not cost a thousand tries each. */
  readonly numbers: Map<string, number>
}

/** The same JSON, where of equal keys in one object the second becomes `key_2`, the next `key_3`. */
export function makeKeysUnique(json: string): string {
  const own = ownKeys(json)
  const open: (Holder & { readonly own: ReadonlySet<string> })[] = []
  let objects = 0
  let clean = ''
  let copied = 0
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === OPEN_BRACE) open.push({ keys: new Set(), numbers: new Map(), own: own[objects++] as Set<string> })
    else if (code === OPEN_BRACKET) open.push({ keys: new Set(), numbers: new Map(), own: new Set() })
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open.pop()
    else if (code === QUOTE) {
      const end = findStringEnd(json, at)
      const holder = open.at(-1)
      if (holder !== undefined && json.charCodeAt(end + 1) === COLON) {
        const key = JSON.parse(json.slice(at, end + 1)) as string
        const free = freeKey(key, holder)
        holder.keys.add(free)
        if (free !== key) {
          clean += json.slice(copied, at) + JSON.stringify(free)
          copied = end + 1
        }
      }
      at = end
    }
  }
  return copied === 0 ? json : clean + json.slice(copied)
}

function freeKey(key: string, { keys, numbers, own }: Holder & { readonly own: ReadonlySet<string> }): string {
  if (!keys.has(key)) return key
  let number = numbers.get(key) ?? 2
  // One that comes later and is called so keeps its name.
  while (keys.has(`${key}_${number}`) || own.has(`${key}_${number}`)) number += 1
  numbers.set(key, number + 1)
  return `${key}_${number}`
}

/** The keys of each object, in the order in which the objects begin. */
function ownKeys(json: string): Set<string>[] {
  const all: Set<string>[] = []
  const open: Set<string>[] = []
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      const keys = new Set<string>()
      if (code === OPEN_BRACE) all.push(keys)
      open.push(keys)
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open.pop()
    else if (code === QUOTE) {
      const end = findStringEnd(json, at)
      if (json.charCodeAt(end + 1) === COLON) open.at(-1)?.add(JSON.parse(json.slice(at, end + 1)) as string)
      at = end
    }
  }
  return all
}
