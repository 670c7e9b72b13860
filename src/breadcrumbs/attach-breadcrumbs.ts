/** Crumbs -> their entry, within its bounds. Pure. */
import type { Breadcrumb, LogEntry } from '../protocol/log-entry.js'
import { parseExact, stringifyExact } from '../shared/exact-json.js'
import { shortenToFit } from '../record/shorten-entry.js'

export interface AttachOptions {
  /** Crumbs of the trail on one entry. */
  readonly limit: number
  /** UTF-8 bytes of the whole entry. */
  readonly maxEntryBytes: number
}

/** Whatever else an entry holds, the youngest crumbs have this share of it. */
const SHARE = 1 / 4
const FRAME_BYTES = Buffer.byteLength(',"breadcrumbs":[]')

/** A UTF-16 unit takes at most three bytes. */
const MAX_BYTES_PER_UNIT = 3

/**
 * The same for an entry without crumbs and without the brace that closes it, where all of it fits for certain: nothing is cut
 * or measured, since either would copy the whole. @returns undefined where it may not
 */
export function appendBreadcrumbs(
  openJson: string,
  crumbs: readonly string[],
  { limit, maxEntryBytes }: AttachOptions,
): string | undefined {
  const wanted = crumbs.length > limit ? crumbs.slice(-limit) : crumbs
  const list = wanted.join(',')
  if ((openJson.length + list.length + FRAME_BYTES + 1) * MAX_BYTES_PER_UNIT > maxEntryBytes) return undefined
  return `${openJson},"breadcrumbs":[${list}]}`
}

/**
 * @param entryJson valid, and within the bound
 * @param crumbs each as JSON, oldest first
 * @param hasOwn whether the entry has crumbs already: they are merged by time
 */
export function attachBreadcrumbs(
  entryJson: string,
  crumbs: readonly string[],
  hasOwn: boolean,
  options: AttachOptions,
): string {
  if (crumbs.length === 0) return entryJson
  const { maxEntryBytes } = options
  const wanted = crumbs.slice(-options.limit)
  const crumbBytes = wanted.map((crumb) => Buffer.byteLength(crumb) + 1)
  const allBytes = crumbBytes.reduce((sum, bytes) => sum + bytes, FRAME_BYTES)
  let json = entryJson
  let room = maxEntryBytes - Buffer.byteLength(json)
  const least = Math.min(allBytes, Math.floor(maxEntryBytes * SHARE))
  if (room < least) {
    json = shortenToFit(json, maxEntryBytes - least)
    room = maxEntryBytes - Buffer.byteLength(json)
  }
  // The youngest first.
  let from = wanted.length
  for (let left = room - FRAME_BYTES; from > 0 && left >= (crumbBytes[from - 1] as number); from -= 1)
    left -= crumbBytes[from - 1] as number
  const fitting = wanted.slice(from)
  if (fitting.length === 0) return json
  if (hasOwn) return merged(json, fitting)
  return `${json.slice(0, -1)},"breadcrumbs":[${fitting.join(',')}]}`
}

/** In the order of time; one without a time stays behind the one before it. */
function merged(json: string, crumbs: readonly string[]): string {
  const entry = parseExact(json) as LogEntry
  const trail = parseExact(`[${crumbs.join(',')}]`) as Breadcrumb[]
  const own = entry.breadcrumbs ?? [] // gone, where the entry was shortened
  let at = ''
  const timed = own.map((crumb) => ({ crumb, at: (at = crumb.timestamp ?? at) }))
  const all = [...trail.map((crumb) => ({ crumb, at: crumb.timestamp ?? '' })), ...timed]
  // Sorting is stable: of two in the same millisecond the trail's stands first.
  return stringifyExact({
    ...entry,
    breadcrumbs: all.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ crumb }) => crumb),
  })
}
