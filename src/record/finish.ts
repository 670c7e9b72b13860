/** The last of an entry: secrets out, then cut to its bound. In this order, since of what is cut a pattern may not find the rest. */
import type { LogEntry } from '../protocol/entry.js'
import type { Scrubber } from '../scrub/scrubber.js'
import { parseExact, stringifyExact } from './numbers.js'
import { shortenToFit } from './shorten.js'

/** The entry as JSON; `entry` is used up. */
export function finish(entry: LogEntry, maxEntryBytes: number, scrubber: Scrubber | undefined): string {
  const json = stringifyExact(entry)
  const clean = scrubber?.scrubJson(json) ?? json
  return shortenToFit(clean === json ? entry : parseExact(clean) as LogEntry, maxEntryBytes, clean)
}
