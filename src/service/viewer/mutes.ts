/** The mute list: terms whose entries the view "entries" does not show. It is no part of the query and of the address. */
import { addTerm, parseQuery } from '../query/language/index.js'
import { openStoredList } from './stored-choice.js'

export const mutes = openStoredList('pino-ingest.mutes', parseMute)

/** More or longer terms would not fit into a query. */
const MAX_MUTES = 20
const MAX_MUTED_CHARS = 200

/** Returns the term for entries with this logger, or with exactly this message, also of an error. Undefined for other fields and long values. */
export function createMute(field: string, value: string): string | undefined {
  if (value.length > MAX_MUTED_CHARS) return undefined
  if (field === 'metadata.logger') return addTerm('', 'logger', value)
  if (field !== 'message' && field !== 'error.message') return undefined
  // A text would also match messages that contain it. An expression of a query has no line break.
  return `${field}:/^${value.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll('\n', '\\s')}$/`
}

export function formatMute(term: string): string {
  return term.replace(
    /:\/\^(.*)\$\/$/,
    (_, escaped: string) => `: ${escaped.replaceAll('\\s', ' ').replace(/\\(.)/g, '$1')}`,
  )
}

/** Keeps the newest terms. @param term from `createMute` */
export function mute(term: string): void {
  mutes.change((terms) => [...terms.filter((one) => one !== term), term].slice(-MAX_MUTES))
}

export function unmute(term: string): void {
  mutes.change((terms) => terms.filter((one) => one !== term))
}

function parseMute(stored: unknown): string | undefined {
  return typeof stored === 'string' && parseQuery(stored).query !== undefined ? stored : undefined
}
