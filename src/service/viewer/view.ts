/** Parses and formats the state of the page as a URL query (pure). */
import { formatSearch, parseQuery, splitSearch } from '../query/language/index.js'

export const VIEWS = [
  'entries',
  'errors',
  'traces',
  'requests',
  'releases',
  'monitors',
  'feedback',
  'rejected',
] as const

export type ViewName = (typeof VIEWS)[number]

export const LAST_RANGES = ['5m', '15m', '60m'] as const

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Length of a sliding window in milliseconds: `90s`, `5m`, `2h`, `3d`; null for another text. */
function parseLast(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,5})([smhd])$/.exec(text) ?? []
  return count === undefined || Number(count) === 0 ? null : Number(count) * (UNIT_MS[unit] as number)
}

/** The text of a sliding window; null for any other value. */
export function readLast(value: unknown): string | null {
  return typeof value === 'string' && parseLast(value) !== null ? value : null
}

export interface View {
  readonly name: ViewName
  readonly q: string
  readonly chart: string | null
  /** Sliding window up to now, see `parseLast`; excludes `since` and `until`. */
  readonly last: string | null
  readonly since: string | null
  readonly until: string | null
  readonly columns: readonly string[]
  /** Id of an entry; the list shows all entries around it, unfiltered. */
  readonly around: string | null
  /** Field whose values the panel shows; `*` lists all fields; null if the panel is closed. */
  readonly field: string | null
  readonly entry: string | null
  readonly open: string | null
  readonly trace: string | null
  /** Order of the view's list; null for its default. */
  readonly sort: string | null
  /** Queries for the sides of the comparison in the releases view; null for the default. */
  readonly before: string | null
  readonly after: string | null
}

export type Filter = Pick<View, 'q' | 'chart' | 'last' | 'since' | 'until'>

export const NO_FILTER: Filter = { q: '', chart: null, last: null, since: null, until: null }

const NOTHING_OPEN = {
  around: null,
  field: null,
  entry: null,
  open: null,
  trace: null,
  sort: null,
  before: null,
  after: null,
}

const START: View = { name: 'entries', ...NO_FILTER, columns: [], ...NOTHING_OPEN }

const TEXTS = ['since', 'until', 'around', 'field', 'open', 'trace', 'sort', 'before', 'after', 'entry'] as const

/** Parses an address. Ignores unknown parameters, because the address may be from another version of the page. */
export function parseView(search: string): View {
  const parameters = new URLSearchParams(search)
  const name = VIEWS.find((view) => view === parameters.get('view')) ?? START.name
  const last = readLast(parameters.get('last'))
  const texts = Object.fromEntries(TEXTS.map((text) => [text, parameters.get(text) || null]))
  return {
    ...(texts as Record<(typeof TEXTS)[number], string | null>),
    name,
    ...splitSearch(parameters.get('q') ?? ''),
    last,
    columns: parseColumns(parameters.get('columns') ?? ''),
    ...(last !== null && { since: null, until: null }),
  }
}

/** Creates the address of a view. Defaults: entries, no filter, nothing open. */
export function createHref(change: Partial<View>): string {
  const view = { ...START, ...change }
  const parameters = new URLSearchParams()
  const set = (name: string, value: string | null): void => {
    if (value !== null && value !== '') parameters.set(name, value)
  }
  set('view', view.name === START.name ? null : view.name)
  set('q', formatSearch(view))
  set('last', view.last)
  set('columns', formatColumns(view.columns))
  for (const name of TEXTS) if (view.last === null || (name !== 'since' && name !== 'until')) set(name, view[name])
  // Commas and colons need no encoding; addresses are easier to read without it.
  const search = parameters.toString().replaceAll('%2C', ',').replaceAll('%3A', ':')
  return search === '' ? '/' : `/?${search}`
}

/**
 * Applies a change to the view. Another view keeps query, time and columns, and closes open details. A filter ends the list around an
 * entry, which is not filtered.
 */
export function changeView(view: View, change: Partial<View>): View {
  const isOther = change.name !== undefined && change.name !== view.name
  const isSliding = change.last !== undefined && change.last !== null
  const isFixed = (change.since ?? change.until ?? null) !== null
  return {
    ...view,
    ...(Object.keys(change).some((name) => name in NO_FILTER) && { around: null }),
    ...(isOther && NOTHING_OPEN),
    ...(isSliding && { since: null, until: null }),
    ...(isFixed && { last: null }),
    ...change,
  }
}

/** Whether the filter has any condition; a chart is none. */
export function isFiltered({ q, last, since, until }: Filter): boolean {
  return q.trim() !== '' || last !== null || since !== null || until !== null
}

export function pickFilter({ q, chart, last, since, until }: Filter): Filter {
  return { q, chart, last, since, until }
}

export function createFilterKey({ q, last, since, until }: Filter): string {
  return JSON.stringify([q, last, since, until])
}

/** Start of the sliding window in milliseconds since the epoch; null if the filter has no window. */
export function findWindowStart({ last }: Pick<View, 'last'>, nowMs: number): number | null {
  return last === null ? null : nowMs - (parseLast(last) ?? 0)
}

/** Returns `q`, `since` and `until` for the API. @param muted terms of the mute list */
export function listFilterParameters(
  filter: Filter,
  nowMs: number,
  muted: readonly string[] = [],
): Record<string, string> {
  const startMs = findWindowStart(filter, nowMs)
  const since = startMs === null ? filter.since : new Date(startMs).toISOString()
  const q = excludeMuted(filter.q, muted)
  return {
    ...(q.trim() !== '' && { q }),
    ...(since !== null && { since }),
    ...(filter.last === null && filter.until !== null && { until: filter.until }),
  }
}

function excludeMuted(q: string, muted: readonly string[]): string {
  const isAlternative = muted.length > 0 && parseQuery(q).query?.kind === 'or'
  return [isAlternative ? `(${q})` : q, ...muted.map((term) => `-(${term})`)].join(' ')
}

/** Formats names as in CSV, for addresses of the page and of the API. */
export function formatColumns(names: readonly string[]): string {
  return [...new Set(names)].map((name) => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join()
}

function parseColumns(text: string): string[] {
  const names = text.match(/"(?:[^"]|"")+"|[^",]+/g) ?? []
  return [...new Set(names.map((name) => (name[0] === '"' ? name.slice(1, -1).replaceAll('""', '"') : name)))]
}
