/** [worker] Restores integers beyond the precision of a double in an entry that a hook received with plain numbers. */
import type { Json, JsonObject } from '../protocol/log-entry.js'
import { isMarkedNumber, parseExact, unmarkNumber } from '../shared/exact-json.js'

/** Text without a match contains no such integer. */
export const LONG_NUMBER = /\d{16}/

type Container = Record<string | number, Json>

/**
 * Marks in `entry`, as `parseExact` does, each unchanged number that has more digits in `original`.
 *
 * @param entry changed in place; must be written by `stringifyExact`
 */
export function restoreNumbers(original: string, entry: JsonObject): void {
  // Walks both values together. Not recursive, since logged data may be deeply nested.
  const open: [Container, Container][] = [[parseExact(original) as Container, entry as Container]]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [before, after] = pair
    for (const key of Object.keys(before)) {
      const old = before[key] as Json
      const now = Object.hasOwn(after, key) ? after[key] : undefined
      if (typeof old === 'object' && old !== null) {
        if (typeof now === 'object' && now !== null) open.push([old as Container, now as Container])
      } else if (typeof old === 'string' && isMarkedNumber(old) && now === Number(unmarkNumber(old))) after[key] = old
    }
  }
}
