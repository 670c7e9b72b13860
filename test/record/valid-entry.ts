/** A strict validator of one entry's JSON, which also finds what `JSON.parse` hides. */
import { validateEntry } from '../../src/service/ingest/validate.js'

/** 32 levels of the record plus those of the entry: itself, `metadata`, `error`, the `data` of a breadcrumb. */
const MAX_ENTRY_DEPTH = 36
/** One more key for the transport's own note, and some for names that would be equal. */
const MAX_KEYS = 1_100
/** A bracket; a string, with the colon after a key; or a number. */
const TOKEN = /[[\]{}]|"(?:[^"\\]|\\.)*"(:)?|-?\d[\d.eE+-]*/g
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The problems of an entry's JSON; empty if it is valid. */
export function faults(json: string, maxEntryBytes: number): string[] {
  if (json.includes('\n') || json.includes('\r')) return ['more than one line']
  if (Buffer.byteLength(json) > maxEntryBytes) return [`${Buffer.byteLength(json)} bytes, more than ${maxEntryBytes}`]
  let entry: unknown
  try {
    entry = JSON.parse(json)
  } catch {
    return [`not JSON: ${json.slice(0, 200)}`]
  }
  if (typeof entry !== 'object' || entry === null) return ['not an object']
  const { timestamp } = entry as { timestamp?: unknown }
  const isInstant = typeof timestamp === 'string' && INSTANT.test(timestamp)
  return [
    ...visit(entry),
    ...readTokens(json),
    ...(isInstant ? [] : ['timestamp: not UTC with milliseconds']),
    ...validateEntry(entry).map(({ loc, message }) => `${loc.join('.')}: ${message}`),
  ]
}

/** Repeated keys of the entry and of its members, and numbers that a parser reads as infinite. */
function readTokens(json: string): string[] {
  const found: string[] = []
  const open: Set<string>[] = []
  for (const [token, colon] of json.matchAll(TOKEN)) {
    const keys = open.at(-1)
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (colon !== undefined) {
      if (open.length <= 2 && keys?.has(token) === true) found.push(`${token} twice`)
      keys?.add(token)
    } else if (!token.startsWith('"') && !Number.isFinite(Number(token))) found.push(`${token} is not finite`)
  }
  return found
}

/** The problems of keys and values at any depth. */
function visit(root: unknown): string[] {
  const found: string[] = []
  const check = (text: string): void => {
    if (text.includes('\0')) found.push(`NUL in ${JSON.stringify(text.slice(0, 50))}`)
    if (!text.isWellFormed()) found.push(`a lone surrogate in ${JSON.stringify(text.slice(0, 50))}`)
  }
  const open: [unknown, number][] = [[root, 1]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next
    if (typeof value === 'string') check(value)
    if (typeof value !== 'object' || value === null) continue
    if (depth > MAX_ENTRY_DEPTH) return [`deeper than ${MAX_ENTRY_DEPTH}`]
    const members = Object.entries(value)
    if (!Array.isArray(value)) {
      if (members.length > MAX_KEYS) found.push(`${members.length} keys`)
      for (const [key] of members) check(key)
    }
    for (const [, inner] of members) open.push([inner, depth + 1])
  }
  return found
}
