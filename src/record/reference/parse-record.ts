/** Parses one line to a clean record. */
import type { Json, JsonObject } from '../../protocol/log-entry.js'
import { copyClean, putUnderFreeKey, removePrototypes } from '../clean-copy.js'
import type { CutCounts } from '../clean-copy.js'
import { parseExact, stringifyExact } from '../../shared/exact-json.js'
import { decode } from '../shorten-line.js'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  findStringEnd,
} from '../../shared/json-scan.js'

/**
 * pino writes its own `level` and `time` first. Logged data may repeat these keys, and JSON.parse would let them
 * replace pino's values: they are kept as `level_` and `time_`. For every other key the last value wins.
 */
const FIRST_COUNTS = ['level', 'time'] as const
/**
 * Returns undefined if the line is not a JSON object.
 *
 * @param isKept keys that a record keeps regardless of its width, since pino writes its message last
 */
export function parseRecord(line: string, cuts: CutCounts, isKept: (key: string) => boolean): JsonObject | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    return undefined // the caller makes the line a message
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
  const record = parsed as JsonObject
  const hasFirsts = startsWithLast(line, record) || areUnique(line, record)
  if (hasFirsts && isCleanText(line) && removePrototypes(record)) return record
  return copyClean(parseWithFirsts(line), cuts, isKept)
}

/** Whether the values that count come first, and are also the last ones, as in lines of pino without repeated keys. */
function startsWithLast(line: string, { level, time }: JsonObject): boolean {
  const start = `{"level":${toLiteral(level)},"time":${toLiteral(time)}`
  return line.startsWith(start) && (line[start.length] === ',' || line[start.length] === '}')
}

/** Whether no key is repeated. False if an escape may hide one, or if a value may be one. */
function areUnique(line: string, record: JsonObject): boolean {
  if (line.includes('\\u') || line.includes('\\/')) return false
  return FIRST_COUNTS.every((key) => {
    if (record[key] === undefined) return true
    const quoted = JSON.stringify(key)
    const first = line.indexOf(quoted)
    return first === -1 || !line.includes(quoted, first + 1)
  })
}

/** Faster than JSON.stringify. Numbers that JSON cannot represent are in no line. */
function toLiteral(value: Json | undefined): string | undefined {
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}

/** Whether all strings in this JSON are well-formed and without NUL. */
function isCleanText(json: string): boolean {
  return !json.includes('\\u') && json.isWellFormed()
}

/** @param line a valid JSON object */
function parseWithFirsts(line: string): JsonObject {
  const record = parseExact(line) as JsonObject
  for (const [key, text] of firstValues(line)) {
    const last = record[key] as Json
    record[key] = parseExact(text) as Json
    if (stringifyExact(last) !== stringifyExact(record[key])) putUnderFreeKey(record, `${key}_`, last)
  }
  return record
}

const FIRST_KEY = /^[\t\n\r ]*\{[\t\n\r ]*"([^"\\]{1,64})"[\t\n\r ]*:/

/** The first key of a line that begins like a JSON object. */
export function findFirstKey(line: string): string | undefined {
  return FIRST_KEY.exec(line)?.[1]
}

/** The beginning of an incomplete JSON object up to its last complete member, as a JSON object. */
export function completeMembers(line: string): string {
  let end = 0
  visitMembers(line, (from, to) => {
    const isComplete = isMember(line.slice(from, to))
    if (isComplete) end = to
    return isComplete
  })
  return end === 0 ? '{}' : `${line.slice(0, end)}}`
}

function isMember(text: string): boolean {
  try {
    return Object.keys(JSON.parse(`{${text}}`) as object).length === 1
  } catch {
    return false
  }
}

/** The text of the first value of each of these top-level keys. `line` is a valid JSON object. */
function firstValues(line: string): Map<string, string> {
  const firsts = new Map<string, string>()
  visitMembers(line, (from, to) => {
    const keyStart = line.indexOf('"', from)
    if (keyStart === -1) return true
    const keyEnd = findStringEnd(line, keyStart, to)
    const key = decode(line.slice(keyStart, keyEnd + 1))
    if ((FIRST_COUNTS as readonly string[]).includes(key) && !firsts.has(key))
      firsts.set(key, line.slice(line.indexOf(':', keyEnd) + 1, to))
    return true
  })
  return firsts
}

/** Calls `visit` with the range of each complete member of a JSON object, until it returns false. */
function visitMembers(line: string, visit: (from: number, to: number) => boolean): void {
  let depth = 0
  let from = 0
  for (let i = 0; i < line.length; i += 1) {
    const code = line.charCodeAt(i)
    if (code === QUOTE) {
      i = findStringEnd(line, i, line.length)
      if (i === -1) return
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1
      if (depth === 1) from = i + 1
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1
    if (depth === 0 ? from > 0 : depth === 1 && code === COMMA) {
      if (!visit(from, i) || depth === 0) return
      from = i + 1
    }
  }
}
