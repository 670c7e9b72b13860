/** [main] Creates small copies of arbitrary values, which bounds the memory of a breadcrumb. Pure. */
import type { Json, JsonObject } from '../../protocol/log-entry.js'

/** UTF-16 units. */
const MAX_TEXT_CHARS = 1_000
const MAX_DEPTH = 3
/** Members of one object, items of one array. */
const MAX_MEMBERS = 32
/** Total number of values. */
const MAX_VALUES = 256
const CUT = '…'
const UNREADABLE = '[unreadable]'

/** Copies the text, because a slice would keep the whole text in memory. */
export function limitText(text: string): string {
  return text.length <= MAX_TEXT_CHARS
    ? text
    : Buffer.from(text.slice(0, MAX_TEXT_CHARS).toWellFormed() + CUT).toString()
}

/**
 * Plain JSON of at most 256 values, three levels deep, with strings of at most 1,000 characters. The rest, functions
 * and symbols are omitted. Never throws: a getter that throws becomes `[unreadable]`.
 */
export function limitObject(value: object): JsonObject {
  const budget = { values: MAX_VALUES }
  const copy = copyValue(value, 0, budget)
  return typeof copy === 'object' && copy !== null && !Array.isArray(copy) ? copy : { value: copy ?? null }
}

interface Budget {
  values: number
}

function copyValue(value: unknown, depth: number, budget: Budget): Json | undefined {
  budget.values -= 1
  switch (typeof value) {
    case 'string':
      return limitText(value)
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'bigint':
      return limitText(String(value))
    case 'object':
      return value === null ? null : copyObject(value, depth, budget)
    default:
      return undefined
  }
}

function copyObject(value: object, depth: number, budget: Budget): Json {
  try {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
    if (value instanceof URL) return limitText(value.href)
    if (value instanceof Error) return limitText(String(value))
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (depth >= MAX_DEPTH) return Array.isArray(value) ? '[array]' : '[object]'
    return Array.isArray(value)
      ? copyArray(value, depth, budget)
      : copyMembers(value as Record<string, unknown>, depth, budget)
  } catch {
    return UNREADABLE // a proxy, or an overridden method
  }
}

function copyArray(items: readonly unknown[], depth: number, budget: Budget): Json[] {
  const copy: Json[] = []
  for (let index = 0; index < Math.min(items.length, MAX_MEMBERS) && budget.values > 0; index += 1) {
    copy.push(copyValue(items[index], depth + 1, budget) ?? null)
  }
  return copy
}

function copyMembers(source: Record<string, unknown>, depth: number, budget: Budget): JsonObject {
  const copy = Object.create(null) as JsonObject // without a prototype, `__proto__` is an ordinary key
  let members = 0
  for (const key in source) {
    if (members >= MAX_MEMBERS || budget.values <= 0) break
    if (!Object.hasOwn(source, key)) continue
    members += 1
    let value: Json | undefined
    try {
      value = copyValue(source[key], depth + 1, budget)
    } catch {
      value = UNREADABLE
    }
    if (value !== undefined) copy[limitText(key)] = value
  }
  return copy
}
