/** Parses the flags of `tail` into query parameters of the service. Pure. */
import { LEVELS } from '../../protocol/log-entry.js'
import { IngestServiceError } from '../../service/ingest-service-error.js'
import { parseQuery } from '../../service/query/language/parser.js'
import { compileEntryQuery } from '../../service/query/matching/compile-query.js'
import { createUsageError } from '../shared/command.js'
import { toPrintable } from '../shared/printable.js'
import type { Arguments, Flags } from '../shared/command.js'

/** Query parameters by flag. */
const PARAMETERS: Readonly<Record<string, string>> = {
  level: 'level',
  service: 'service',
  environment: 'environment',
  version: 'version',
  release: 'release_id',
  tag: 'tag',
  trace: 'trace_id',
  request: 'request_id',
  fingerprint: 'fingerprint',
  search: 'q',
}

export const FILTER_FLAGS: Flags = {
  level: { value: 'LEVELS', meaning: `levels to print, separated by commas: ${LEVELS.join(', ')}` },
  service: { value: 'NAME', meaning: 'entries from this service' },
  environment: { value: 'NAME', meaning: 'entries from this environment' },
  version: { value: 'VERSION', meaning: 'entries from this version of the application' },
  release: { value: 'ID', meaning: 'entries with this release_id' },
  tag: { value: 'TAG', meaning: 'entries with this tag' },
  trace: { value: 'ID', meaning: 'entries in this trace' },
  request: { value: 'ID', meaning: 'entries of this request' },
  fingerprint: { value: 'TEXT', meaning: 'entries in this error group' },
  search: { value: 'QUERY', meaning: 'entries matching a query, such as "declined user:u-42 status:>=500"' },
}

/** @param isWhole whether whole entries are requested, which uses `addSeqRange` @throws CommandError */
export function parseFilters({ texts }: Arguments, isWhole: boolean): Readonly<Record<string, string>> {
  const levels = texts.get('level')
  const unknown = levels?.split(',').find((level) => !(LEVELS as readonly string[]).includes(level))
  if (unknown !== undefined)
    throw createUsageError(
      `--level must be a comma-separated list of ${LEVELS.join(', ')}, got ${JSON.stringify(unknown)}`,
    )
  const query = texts.get('search')
  checkQuery(query)
  if (isWhole) checkWithRange(query)
  return Object.fromEntries(
    Object.entries(PARAMETERS).flatMap(([flag, name]) => {
      const value = texts.get(flag)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Characters of a long query that are shown around the wrong part. */
const SHOWN_BEFORE = 60
const SHOWN_AFTER = 20

/** Checked here, since the service's error has no position. @throws CommandError */
function checkQuery(query = ''): void {
  try {
    compileEntryQuery(query)
  } catch (error) {
    if (!(error instanceof IngestServiceError)) throw error
    const { message, position = 0, length = 0 } = error
    throw createUsageError(`--search is not a query: ${message.replace(/^q: /, '')}`, markPart(query, position, length))
  }
}

/** @returns the query, restricted to entries from `first` to `last` */
export function addSeqRange(query = '', first: number, last: number): string {
  const range = `seq:${first}..${last}`
  return query.trim() === '' ? range : `(${query}) ${range}`
}

/** Checks the query's limits including the range, which adds a term and a level of brackets. @throws CommandError */
function checkWithRange(query = ''): void {
  const { problem } = parseQuery(addSeqRange(query, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))
  if (problem !== undefined)
    throw createUsageError(`--search is too long for --json and --full, which add a term to it: ${problem.message}`)
}

/** @returns the query, and a line with carets below the wrong part */
function markPart(query: string, position: number, length: number): readonly string[] {
  const from = Math.max(0, position - SHOWN_BEFORE)
  const end = Math.min(query.length, position + Math.max(length, 1) + SHOWN_AFTER)
  const before = (from > 0 ? '…' : '') + toPrintable(query.slice(from, position))
  const wrong = toPrintable(query.slice(position, Math.min(position + length, end)))
  const after = toPrintable(query.slice(position + length, end)) + (end < query.length ? '…' : '')
  const width = (text: string): number => [...text].length
  return [`  ${before}${wrong}${after}`, `  ${' '.repeat(width(before))}${'^'.repeat(Math.max(1, width(wrong)))}`]
}

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
export const DEFAULT_ORIGIN = 'http://127.0.0.1:4319'

/** Also accepts the URL of the API, such as PINO_INGEST_URL. @throws CommandError */
export function parseOrigin(text: string): string {
  if (/[#?&]token=/.test(text))
    throw createUsageError(
      '--url must not contain the token, since process lists show arguments; it is read from the file of pino-ingest dev or from PINO_INGEST_DEV_TOKEN',
    )
  const url = URL.canParse(text) ? new URL(text) : undefined
  // Any other host would receive the token over the network; the service listens on loopback only.
  if (url?.protocol === 'http:' && LOOPBACK.includes(url.hostname) && url.username === '' && url.password === '')
    return url.origin
  throw createUsageError(
    `--url must be the address of a local service, such as ${DEFAULT_ORIGIN}, got ${JSON.stringify(text)}`,
  )
}
