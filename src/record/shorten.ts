/** An entry over its byte limit is made to fit: its longest texts first, then its widest parts. Never refused. */
import type { Json, JsonObject, LogEntry } from '../protocol/entry.js'
import { isMarked, stringifyExact } from './numbers.js'

/** Shorter texts are not worth cutting: what follows then is dropping whole keys. */
const SHORTEST_CUT = 64

/** Says in the entry itself what it had to lose. */
export const NOTE_KEY = 'pino_ingest'

export function shortenToFit(entry: LogEntry, maxEntryBytes: number): string {
  let json = stringifyExact(entry)
  // One UTF-16 unit takes at most three bytes.
  if (json.length * 3 <= maxEntryBytes) return json
  const bytes = Buffer.byteLength(json)
  if (bytes <= maxEntryBytes) return json
  const short = note(entry, { shortened_from_bytes: bytes })
  const fits = (): boolean => Buffer.byteLength(json = stringifyExact(short)) <= maxEntryBytes
  for (let limit = Math.floor(maxEntryBytes / 2); limit >= SHORTEST_CUT; limit = Math.floor(limit / 2)) {
    cutTexts(short, limit)
    if (fits()) return json
  }
  for (const part of ['breadcrumbs', 'tags', 'notify_channels'] as const) {
    delete short[part]
    if (fits()) return json
  }
  const metadata = short.metadata as JsonObject
  for (let kept = Object.keys(metadata); kept.length > 1; kept = Object.keys(metadata)) {
    for (const key of kept.slice(Math.floor(kept.length / 2))) if (key !== NOTE_KEY) delete metadata[key]
    if (kept.length === Object.keys(metadata).length) break
    if (fits()) return json
  }
  for (const part of ['error', 'request', 'user', 'deploy', 'perf', 'trace'] as const) {
    delete short[part]
    if (fits()) return json
  }
  return json
}

/** Adds to the entry's note; the note stands first, so that dropping keys from the end leaves it. */
export function note<E extends { metadata?: JsonObject }>(entry: E, facts: JsonObject): E {
  const { [NOTE_KEY]: old, ...others } = entry.metadata ?? {}
  const before = typeof old === 'object' && old !== null && !Array.isArray(old) ? old : old === undefined ? {} : { own: old }
  entry.metadata = { [NOTE_KEY]: { ...before, ...facts }, ...others }
  return entry
}

/** Cuts every text in place. The walk keeps its own stack, as everything that walks logged data. */
function cutTexts(root: object, limit: number): void {
  const open: (Json[] | JsonObject)[] = [root as JsonObject]
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    for (const [key, value] of Object.entries(container)) {
      if (typeof value === 'object' && value !== null) open.push(value)
      else if (typeof value === 'string' && value.length > limit && !isMarked(value)) {
        (container as JsonObject)[key] = cutText(value, limit)
      }
    }
  }
}

function cutText(text: string, limit: number): string {
  const suffix = `… (${text.length} characters)`
  const keep = Math.max(limit - suffix.length, 1)
  // toWellFormed: the cut may have gone through a surrogate pair.
  return text.slice(0, keep).toWellFormed() + suffix
}
