/** URL parameters of the API below `/local/`: names, types and limits. */
import type { Level } from '../../protocol/log-entry.js'
import { createQueryError, EQUALITY_NAMES } from './query-filters.js'
import type { EntryQuery } from './query-filters.js'

export interface UrlParameters extends EntryQuery {
  readonly view?: 'summary'
  readonly buckets?: number
  readonly chart?: string
  /** For a stream, the `seq` after which it begins; for a comparison, the second version. */
  readonly after?: string
  /** The run of the service that `after` is from. */
  readonly run?: string
  readonly method?: string
  readonly route?: string
  readonly newer?: string
  readonly columns?: readonly string[]
  readonly format?: string
  readonly sort?: string
  readonly before?: string
  readonly kind?: 'entries' | 'requests'
  readonly field?: string
  readonly prefix?: string
}

export type ParameterName = keyof UrlParameters

export const ENTRY_FILTERS = ['level', ...EQUALITY_NAMES, 'tag', 'fingerprint', 'q', 'since', 'until'] as const
export const REQUEST_FILTERS = ['q', 'since', 'until', 'service', 'environment'] as const
export const PAGE = ['limit', 'cursor'] as const

const PARSERS: { readonly [name in ParameterName]?: (text: string) => unknown } = {
  level: (text) => text.split(',') as Level[],
  limit: (text) => parseInteger('limit', text, 1000),
  buckets: (text) => parseInteger('buckets', text, 500),
  columns: parseColumns,
  kind: (text) => {
    if (text !== 'entries' && text !== 'requests') throw createQueryError('kind', 'entries or requests', text)
    return text
  },
  view: (text) => {
    if (text !== 'summary') throw createQueryError('view', 'summary or omitted', text)
    return text
  },
}

/**
 * Parses the parameters. Filters and cursors are validated by the queries, which also serve calls in-process.
 * @throws IngestServiceError `QUERY` for an unknown or repeated parameter, or an invalid value.
 */
export function readParameters<K extends ParameterName>(
  search: URLSearchParams,
  known: readonly K[],
): Pick<UrlParameters, K> {
  const values: Record<string, unknown> = {}
  for (const [name, text] of search) {
    const found = known.find((one) => one === name)
    if (found === undefined)
      throw createQueryError('parameter', known.length === 0 ? 'omitted' : `one of ${known.join(', ')}`, name)
    if (Object.hasOwn(values, name)) throw createQueryError(name, 'set only once', text)
    values[name] = PARSERS[found]?.(text) ?? text
  }
  return values as Pick<UrlParameters, K>
}

function parseInteger(name: string, text: string, max: number): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > max) throw createQueryError(name, `an integer from 1 to ${max}`, text)
  return value
}

const MAX_COLUMNS = 100

/** Parses names separated by commas and quoted as in CSV. @throws IngestServiceError `QUERY`. */
function parseColumns(text: string): readonly string[] {
  const names: string[] = []
  const pattern = /("(?:[^"]|"")*"|[^",]*)(,|$)/gy
  for (let ended = false; !ended;) {
    const match = pattern.exec(text)
    const [, name = '', separator] = match ?? []
    if (match === null || name === '""' || name === '')
      throw createQueryError('columns', 'field names, separated by commas and quoted as in CSV', text)
    names.push(name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name)
    ended = separator === ''
  }
  const columns = [...new Set(names)]
  if (columns.length > MAX_COLUMNS) throw createQueryError('columns', `at most ${MAX_COLUMNS}`, columns.length)
  return columns
}
