/**
 * Shortens an entry that exceeds its byte limit: first its longest strings, then its largest parts. Never rejects an
 * entry.
 */
import type { Json, JsonObject, LogEntry } from '../protocol/log-entry.js'
import { isMarkedNumber, parseExact, stringifyExact } from '../shared/exact-json.js'
import type { CutCounts } from './clean-copy.js'
import { CUT_MARK, MARGIN_CHARS, createLengthNote } from './shorten-line.js'

/** Shorter texts are not worth cutting. */
const SHORTEST_CUT = 64
/**
 * Before strings are cut to less than this, large lists and objects are removed, so a list of ids cannot displace the
 * error.
 */
const READABLE_CUT = 2_048

/** Lists that are removed like the members of the metadata, the largest first. */
const LISTS = ['breadcrumbs', 'tags', 'notify_channels']
/** Removed last, in this order. An entry must have level, message and timestamp. */
const FIELDS = [
  'perf',
  'deploy',
  'user',
  'request',
  'error',
  'trace',
  'source',
  'action',
  'fingerprint',
  'version',
  'release_id',
  'session_id',
  'user_id',
  'environment',
  'request_id',
  'service',
] as const

export const NOTE_KEY = 'pino_ingest'

/**
 * @param entryJson an entry
 * @param maxEntryBytes at least 1 KiB, which the required fields alone may need
 */
export function shortenToFit(entryJson: string, maxEntryBytes: number): string {
  let json = entryJson
  // A UTF-16 unit has at most three bytes in UTF-8.
  if (json.length * 3 <= maxEntryBytes) return json
  const bytes = Buffer.byteLength(json)
  if (bytes <= maxEntryBytes) return json
  const short = parseExact(json) as LogEntry
  const before = (short.metadata?.[NOTE_KEY] as JsonObject | undefined)?.['shortened_from_bytes']
  addNote(short, { shortened_from_bytes: typeof before === 'number' ? Math.max(before, bytes) : bytes })
  const fits = (): boolean => Buffer.byteLength((json = stringifyExact(short))) <= maxEntryBytes
  const texts = longTexts(short)
  const cutDownTo = (least: number): boolean => {
    for (let limit = Math.floor(maxEntryBytes / 2); limit >= least; limit = Math.floor(limit / 2)) {
      if (cutTexts(texts, limit) && fits()) return true
    }
    return false
  }
  if (cutDownTo(Math.min(READABLE_CUT, maxEntryBytes / 8))) return json
  dropWidest(short, Buffer.byteLength(json) - maxEntryBytes)
  // Strings may use the freed space.
  cutTexts(texts, maxEntryBytes)
  if (fits() || cutDownTo(SHORTEST_CUT)) return json
  // The record itself may have a member of this name, of any size.
  short.metadata = { [NOTE_KEY]: { shortened_from_bytes: bytes } }
  for (const field of FIELDS) {
    if (fits()) break
    delete short[field]
  }
  return json
}

/** Removes the ends of the texts that `shortenLine` cut. */
export function dropMargins(json: string): string {
  if (!json.includes(CUT_MARK)) return json
  const entry = parseExact(json) as JsonObject
  for (const { holder, key, whole } of longTexts(entry, 0)) {
    const parts = whole.split(CUT_MARK)
    const last = parts.pop() as string
    holder[key] = parts.map((part) => part.slice(0, -MARGIN_CHARS).toWellFormed()).join('') + last
  }
  return stringifyExact(entry)
}

/** Drops lists and metadata, the widest first, until `bytes` are saved. */
function dropWidest(entry: LogEntry, bytes: number): void {
  const metadata = entry.metadata as JsonObject
  const whole = entry as unknown as JsonObject
  const parts = [
    ...LISTS.filter((key) => Object.hasOwn(whole, key)).map((key) => [whole, key] as const),
    ...Object.keys(metadata)
      .filter((key) => key !== NOTE_KEY)
      .map((key) => [metadata, key] as const),
  ].map(([from, key]) => ({
    from,
    key,
    bytes: Buffer.byteLength(`,${JSON.stringify(key)}:${stringifyExact(from[key])}`),
  }))
  let saved = 0
  for (const part of parts.toSorted((a, b) => b.bytes - a.bytes)) {
    if (saved >= bytes) return
    delete part.from[part.key]
    saved += part.bytes
  }
}

/** Adds facts to the entry's note, the first member of the metadata. */
export function addNote<E extends { metadata?: JsonObject }>(entry: E, facts: JsonObject): E {
  const { [NOTE_KEY]: old, ...others } = entry.metadata ?? {}
  const before =
    typeof old === 'object' && old !== null && !Array.isArray(old) ? old : old === undefined ? {} : { own: old }
  entry.metadata = { [NOTE_KEY]: { ...before, ...facts }, ...others }
  return entry
}

/** Notes what `copyClean` and `shortenLine` removed. */
export function noteCuts(entry: { metadata?: JsonObject }, { depth, keys, items, nul, bytes }: CutCounts): void {
  if (bytes > 0) addNote(entry, { shortened_from_bytes: bytes })
  if (depth > 0) addNote(entry, { cut_for_depth: depth })
  if (keys > 0) addNote(entry, { cut_keys: keys })
  if (items > 0) addNote(entry, { cut_items: items })
  if (nul > 0) addNote(entry, { removed_nul: nul })
}

type Holder = Record<string | number, Json>

interface Text {
  readonly holder: Holder
  readonly key: string | number
  readonly whole: string
}

/** The strings that are long enough to be cut. Not recursive. */
function longTexts(root: object, leastChars = SHORTEST_CUT): Text[] {
  const found: Text[] = []
  const open = [root as Holder]
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    const inside = holder
    const look = (key: string | number): void => {
      const value = inside[key] as Json
      if (typeof value === 'object' && value !== null) open.push(value as Holder)
      else if (typeof value === 'string' && value.length > leastChars && !isMarkedNumber(value))
        found.push({ holder: inside, key, whole: value })
    }
    // Not `Object.keys`, because a list may have a million items.
    if (Array.isArray(inside)) for (let i = 0; i < inside.length; i += 1) look(i)
    else for (const key of Object.keys(inside)) look(key)
  }
  return found
}

/** @returns whether anything was cut */
function cutTexts(texts: readonly Text[], limit: number): boolean {
  let hasChanged = false
  for (const { holder, key, whole } of texts) {
    const text = whole.length <= limit ? whole : cutText(whole, limit)
    if (text === holder[key]) continue
    holder[key] = text
    hasChanged = true
  }
  return hasChanged
}

function cutText(text: string, limit: number): string {
  const suffix = createLengthNote(text)
  const keep = Math.max(limit - suffix.length, 1)
  // toWellFormed, because the cut may split a surrogate pair.
  return text.slice(0, keep).toWellFormed() + suffix
}
