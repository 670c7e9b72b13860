/** Adds breadcrumbs to an entry, within its size limit. Pure. */
import type { Breadcrumb, LogEntry } from '../protocol/log-entry.js'
import { parseExact, stringifyExact } from '../shared/exact-json.js'
import { shortenToFit } from '../record/shorten-entry.js'

export interface AttachOptions {
  /** Maximum number of breadcrumbs from the buffer on one entry. */
  readonly limit: number
  /** UTF-8 bytes of the whole entry. */
  readonly maxEntryBytes: number
}

/** Share of an entry reserved for the newest breadcrumbs. */
const SHARE = 1 / 4
const FRAME_BYTES = Buffer.byteLength(',"breadcrumbs":[]')

/**
 * @param entryJson valid, and within the size limit
 * @param breadcrumbs JSON of each, oldest first
 * @param hasOwn whether the entry already has breadcrumbs: they are merged by time
 */
export function attachBreadcrumbs(
  entryJson: string,
  breadcrumbs: readonly string[],
  hasOwn: boolean,
  options: AttachOptions,
): string {
  if (breadcrumbs.length === 0) return entryJson
  const { maxEntryBytes } = options
  const wanted = breadcrumbs.slice(-options.limit)
  const sizes = wanted.map((breadcrumb) => Buffer.byteLength(breadcrumb) + 1)
  const allBytes = sizes.reduce((sum, bytes) => sum + bytes, FRAME_BYTES)
  let json = entryJson
  let availableBytes = maxEntryBytes - Buffer.byteLength(json)
  const least = Math.min(allBytes, Math.floor(maxEntryBytes * SHARE))
  if (availableBytes < least) {
    json = shortenToFit(json, maxEntryBytes - least)
    availableBytes = maxEntryBytes - Buffer.byteLength(json)
  }
  // Newest first.
  let from = wanted.length
  for (let left = availableBytes - FRAME_BYTES; from > 0 && left >= (sizes[from - 1] as number); from -= 1)
    left -= sizes[from - 1] as number
  const fitting = wanted.slice(from)
  if (fitting.length === 0) return json
  if (hasOwn) return merged(json, fitting)
  return `${json.slice(0, -1)},"breadcrumbs":[${fitting.join(',')}]}`
}

/** Sorted by time. A breadcrumb without a time stays after its predecessor. */
function merged(json: string, breadcrumbs: readonly string[]): string {
  const entry = parseExact(json) as LogEntry
  const buffered = parseExact(`[${breadcrumbs.join(',')}]`) as Breadcrumb[]
  const own = entry.breadcrumbs ?? [] // undefined if the entry was shortened
  let at = ''
  const timed = own.map((breadcrumb) => ({ breadcrumb, at: (at = breadcrumb.timestamp ?? at) }))
  const all = [...buffered.map((breadcrumb) => ({ breadcrumb, at: breadcrumb.timestamp ?? '' })), ...timed]
  // The sort is stable: within one millisecond the buffer's breadcrumbs come first.
  return stringifyExact({
    ...entry,
    breadcrumbs: all.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ breadcrumb }) => breadcrumb),
  })
}
