/** [worker] Integers beyond a double's precision, given back to an entry that went through a hook as plain numbers. */
import type { Json, JsonObject } from '../protocol/log-entry.js'
import { isMarkedNumber, parseExact, unmarkNumber } from '../shared/exact-json.js'

/** Text without it holds no such integer. */
export const LONG_NUMBER = /\d{16}/

type Holder = Record<string | number, Json>

/**
 * Marks in `entry`, as `parseExact` does, each number that still stands where `original` has one of more digits.
 *
 * @param entry changed in place, and to be written by `stringifyExact`
 */
export function restoreNumbers(original: string, entry: JsonObject): void {
  // Both are walked at once, and without recursion as everything that walks logged data.
  const open: [Holder, Holder][] = [[parseExact(original) as Holder, entry as Holder]]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [before, after] = pair
    for (const key of Object.keys(before)) {
      const old = before[key] as Json
      const now = Object.hasOwn(after, key) ? after[key] : undefined
      if (typeof old === 'object' && old !== null) {
        if (typeof now === 'object' && now !== null) open.push([old as Holder, now as Holder])
      } else if (typeof old === 'string' && isMarkedNumber(old) && now === Number(unmarkNumber(old))) after[key] = old
    }
  }
}
