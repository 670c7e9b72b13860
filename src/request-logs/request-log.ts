/** Reads the HTTP request of a log entry, and creates the request log. Pure. */
import type { RequestLog } from '../protocol/resources.js'
import { isCatchAll } from './route-pattern.js'
import type { RequestKeys } from '../options/settings.js'
import type { Json } from '../protocol/log-entry.js'
import { toIdText, toIsoTime } from '../record/coerce.js'
import { requestPartKeys } from '../record/reference/entry-request.js'
import { cleanText } from '../record/clean-copy.js'

/** How a request began. */
interface RequestStart {
  readonly method: string
  readonly path: string
}

type Labels = Pick<RequestLog, 'route' | 'host' | 'service' | 'environment'>

/** How it ended. */
export interface RequestEnd {
  readonly statusCode: number
  /** Milliseconds. */
  readonly durationMs: number
}

export interface LoggedRequest {
  /** The application's id, which need not be unique across processes. */
  readonly id: string | undefined
  readonly start: RequestStart | undefined
  readonly end: RequestEnd | undefined
  readonly labels: Labels
  /** ISO 8601, UTC. */
  readonly timestamp: string | undefined
  readonly message: string | undefined
  /** Whether the entry has content without a field in a request log: a level of error or above, an error, a notification. */
  readonly hasOtherContent: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** @returns undefined if there is no entry, or an entry without a request. Never throws. */
export function parseRequest(entryJson: string, keys: RequestKeys): LoggedRequest | undefined {
  const entry = parse(entryJson)
  const request = fieldsOf(entry?.['request'])
  if (entry === undefined || request === undefined) return undefined
  const method = textOf(request['method'])
  const path = textOf(request['path'])
  const metadata = fieldsOf(entry['metadata']) ?? {}
  return {
    // Fastify's own id is the same in all records of a request; a scope may have set another one.
    id: [metadata[keys.reqId], metadata['reqId'], entry['request_id']]
      .map((id) => textOf(toIdText(id as Json)))
      .find(Boolean),
    start: method === undefined || path === undefined ? undefined : { method, path },
    end: endingOf(request),
    labels: labelsOf(entry, keys),
    timestamp: typeof entry['timestamp'] === 'string' ? toIsoTime(entry['timestamp']) : undefined,
    message: textOf(entry['message']),
    hasOtherContent:
      entry['level'] === 'error' ||
      entry['level'] === 'fatal' ||
      entry['error'] !== undefined ||
      entry['notify'] === true,
  }
}

/** @param seen the request of the entry that completes it */
export function toRequestLog(
  { method, path }: RequestStart,
  { statusCode, durationMs }: RequestEnd,
  seen: LoggedRequest,
  id: string,
  timestamp: string,
): RequestLog {
  return {
    method,
    path,
    status_code: statusCode,
    duration_ms: durationMs,
    request_id: id,
    timestamp,
    ...seen.labels,
  }
}

/** Index in `LEVELS`: 5xx as error, 4xx as warn, else info. It decides which request logs are refused first if space is short. */
export function toSeverity(statusCode: number): number {
  if (statusCode >= 500) return 3
  return statusCode >= 400 ? 2 : 1
}

/** Three digits (RFC 9110, section 15). */
const MIN_STATUS = 100
const MAX_STATUS = 999

function endingOf({ status_code: statusCode, duration_ms: durationMs }: Fields): RequestEnd | undefined {
  if (
    typeof statusCode !== 'number' ||
    !Number.isInteger(statusCode) ||
    statusCode < MIN_STATUS ||
    statusCode > MAX_STATUS
  )
    return undefined
  if (typeof durationMs !== 'number' || !Number.isFinite(durationMs)) return undefined
  // pino-http measures by the wall clock, which may have been set back.
  return { statusCode, durationMs: Math.max(0, durationMs) }
}

function labelsOf(entry: Fields, keys: RequestKeys): Labels {
  const metadata = fieldsOf(entry['metadata']) ?? {}
  const labels = {
    route: routeIn(metadata, keys),
    host: textOf(metadata['hostname']),
    service: textOf(entry['service']),
    environment: textOf(entry['environment']),
  }
  return Object.fromEntries(Object.entries(labels).filter(([, text]) => text !== undefined))
}

/** The route pattern, from serializers or custom properties. The response's wins, since it is written last. */
function routeIn(metadata: Fields, keys: RequestKeys): string | undefined {
  const parts = requestPartKeys(keys)
    .toReversed()
    .map((name) => fieldsOf(metadata[name]))
    .filter((part) => part !== undefined)
  return [
    ...parts.map((part) => part['route']),
    metadata['route'],
    ...parts.flatMap((part) => [fieldsOf(part['routeOptions'])?.['url'], part['routerPath']]),
  ]
    .map(patternOf)
    .find((pattern) => pattern !== undefined)
}

/** Text, or the `path` of Express's route, that begins with `/`. Other text is not a route. */
function patternOf(value: unknown): string | undefined {
  const text = textOf(fieldsOf(value)?.['path'] ?? value)
  return text?.startsWith('/') === true && !isCatchAll(text) ? text : undefined
}

function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = cleanText(value)
  return text === '' ? undefined : text
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
}

function parse(json: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(json))
  } catch {
    return undefined // no entry
  }
}
