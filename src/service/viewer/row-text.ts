/** Formats the texts of a row, by its entry alone (pure). */
import { findText, listSearchTexts } from '../query/language/index.js'
import type { EntrySummary } from '../query/api-types.js'
import { formatDuration, formatFullTime, formatShortTime } from './view-format.js'

/** Messages of pino-http and Fastify, which say less than the request and the error. */
export const LOGGER_MESSAGES: readonly string[] = [
  'incoming request',
  'request aborted',
  'request completed',
  'request errored',
]
/** Details that repeat the request. */
const OF_REQUEST = /^(?:req|res)\.|^(?:reqId|responseTime)$/
const CAUSE_MESSAGE = /^error\.(?:cause\.)+message$/
const CAUSE_CODE = /^error\.(?:cause\.)+code$/

/** Returns the local date: `2026-11-21`. */
export function toLocalDay(timestamp: string): string {
  return formatFullTime(timestamp).slice(0, 10)
}

/** Formats the time of day; adds the date for other days than today, and the year for other years. */
export function formatRowTime(timestamp: string, today: string): string {
  const day = toLocalDay(timestamp)
  if (day === today) return formatShortTime(timestamp)
  const full = formatFullTime(timestamp)
  return day.slice(0, 4) === today.slice(0, 4) ? full.slice(5) : full.slice(0, 19)
}

/** Accessible name of a row: `Error, payment answered 502, 10:04:05`. */
export function formatRowName({ level, message, error, timestamp }: EntrySummary, today: string): string {
  const time =
    toLocalDay(timestamp) === today ? formatShortTime(timestamp).slice(0, 8) : formatFullTime(timestamp).slice(0, 19)
  const text = LOGGER_MESSAGES.includes(message) ? (error?.message ?? message) : message
  return `${level.slice(0, 1).toUpperCase()}${level.slice(1)}, ${text}, ${time}`
}

/** Returns the texts of a row, most important first: those of the error, then the message. */
export function listRowTexts({ message, error, request }: EntrySummary, isHit: (text: string) => boolean) {
  const isOfLogger = LOGGER_MESSAGES.includes(message) && (request !== undefined || error?.message !== undefined)
  const texts = [error?.message, isOfLogger && !isHit(message) ? undefined : message]
  const shown = [...new Set(texts.filter((text) => text !== undefined && text.trim() !== ''))] as readonly string[]
  return shown.length > 0 || error?.type !== undefined || request !== undefined ? shown : ['no message']
}

/** Returns the first of the texts of a row, for places with one text. */
export function formatRowText(entry: EntrySummary): string {
  return listRowTexts(entry, () => false)[0] ?? entry.message
}

/** Shortens a column name by removing the prefix that most names share. */
export function formatColumnTitle(name: string): string {
  return name.replace(/^metadata\./, '')
}

const DURATIONS: readonly string[] = ['duration', 'perf.duration_ms', 'request.duration_ms', 'duration_ms']

/** Adds the unit to a duration. */
export function formatColumnValue(name: string, value: string): string {
  return DURATIONS.includes(name) && value !== '' && Number.isFinite(Number(value))
    ? formatDuration(Number(value))
    : value
}

/** Returns the field that a search found, user, tags and details, except those that have a column. */
export function listRowDetails(
  { hit, user, tags = [], details = {}, request, service }: EntrySummary,
  columns: readonly string[],
): (readonly [name: string, value: string])[] {
  // The code of a cause often is the answer, and the end of a row can be cut off.
  const codes = Object.entries(details).filter(([name]) => CAUSE_CODE.test(name))
  const tag = tags.length > 0 ? tags.join(',') : undefined
  const all = Object.entries({ ...Object.fromEntries(codes), user, tag, ...details })
  const shown = all.flatMap(([name, value]) => {
    const isHidden = columns.includes(name) || columns.includes(`metadata.${name}`)
    const isRepeated = request !== undefined && OF_REQUEST.test(name)
    const shortName = name.replace(CAUSE_MESSAGE, 'cause').replace(CAUSE_CODE, 'code')
    return value === undefined || isHidden || isRepeated ? [] : [[shortName, String(value)] as const]
  })
  if (hit === undefined || hit.value === service) return shown
  // First, because the end of a row can be cut off.
  const found = shown.find(([, value]) => value === hit.value) ?? ([hit.field, hit.value] as const)
  return [found, ...shown.filter((one) => one !== found)]
}

/** Parts of a text that alternate between other text and hits. */
export type SplitHits = (text: string) => readonly string[]

/** Splits texts at the words and quoted texts of a query. */
export function createHitSplitter(q: string): SplitHits {
  const sought = listSearchTexts(q)
  return (text) => {
    const parts: string[] = []
    const folded = text.toLowerCase()
    let from = 0
    // Some letters change their length in lower case; positions are then unknown.
    while (sought.length > 0 && folded.length === text.length) {
      const found = sought
        .map((one) => ({ at: findText(folded, one, from), end: one.length }))
        .filter(({ at }) => at !== -1)
        .toSorted((a, b) => a.at - b.at || b.end - a.end)[0]
      if (found === undefined) break
      parts.push(text.slice(from, found.at), text.slice(found.at, found.at + found.end))
      from = found.at + found.end
    }
    return [...parts, text.slice(from)]
  }
}
