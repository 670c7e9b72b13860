/** Reads the HTTP request of a log entry, and writes the request log. Pure. */
import type { RequestKeys } from '../options/settings.js'
import type { Json } from '../protocol/log-entry.js'
import { cleanText } from '../record/clean-copy.js'
import { toIdText, toIsoTime } from '../record/coerce.js'
import { listRequestPartKeys } from '../record/reference/entry-request.js'
import { isCatchAll } from './route-pattern.js'

/** The message of Fastify's first record of a request. */
export const FASTIFY_START = 'incoming request'

/** pino-http's message if the client went away before the end of the response, whose headers may have been sent. */
export const PINO_HTTP_ABORT = 'request aborted'

/** The request in an entry. Strings are JSON, or '' if the entry does not have the value or it is empty. */
export interface LoggedRequest {
  readonly method: string
  readonly path: string
  /** The end of the request; undefined if it has not ended. */
  readonly end: RequestEnd | undefined
  readonly timestamp: string
  readonly service: string
  readonly environment: string
  readonly metadata: RequestMetadata
  readonly isFastifyStart: boolean
  /** Whether the entry has content without a field in a request log: a level of error or above, an error, a notification. */
  readonly hasOtherContent: boolean
}

export interface RequestEnd {
  readonly statusCode: number
  /** Milliseconds. */
  readonly duration: string
}

/** The request's facts in the entry's metadata, and the id. */
export interface RequestMetadata {
  /** The application's id, which need not be unique across processes. Not JSON. */
  readonly id: string
  readonly route: string
  readonly host: string
}

export interface MetadataKeys {
  /** Keys of Fastify's id, which is the same in all records of a request; a scope may have set another id. */
  readonly ids: readonly string[]
  /** Objects that may contain the route. The response comes first, because it is written last. */
  readonly parts: readonly string[]
}

export function createMetadataKeys(keys: RequestKeys): MetadataKeys {
  return { ids: [...new Set([keys.reqId, 'reqId'])], parts: listRequestPartKeys(keys).toReversed() }
}

export type Fields = Readonly<Record<string, unknown>>

const FAILED_LEVELS: readonly unknown[] = ['error', 'fatal']

/** @returns undefined if the text is not an entry or the entry has no request. Never throws. */
export function parseRequest(entryJson: string, keys: MetadataKeys): LoggedRequest | undefined {
  const entry = parse(entryJson)
  const request = toFields(entry?.['request'])
  if (entry === undefined || request === undefined) return undefined
  const { level, message, timestamp, service, environment, error, notify } = entry
  return {
    method: toJson(request['method']),
    path: toJson(request['path']),
    end: message === PINO_HTTP_ABORT ? undefined : parseEnd(request),
    timestamp: typeof timestamp === 'string' ? toJson(toIsoTime(timestamp)) : '',
    service: toJson(service),
    environment: toJson(environment),
    metadata: readMetadata(toFields(entry['metadata']) ?? {}, entry['request_id'], keys),
    isFastifyStart: message === FASTIFY_START,
    hasOtherContent: FAILED_LEVELS.includes(level) || error !== undefined || notify === true,
  }
}

/** @param requestId of the entry */
export function readMetadata(metadata: Fields, requestId: unknown, keys: MetadataKeys): RequestMetadata {
  let id = ''
  for (const key of keys.ids) id ||= textOf(toIdText(metadata[key] as Json))
  id ||= textOf(toIdText(requestId as Json))
  return { id, route: routeIn(metadata, keys), host: toJson(metadata['hostname']) }
}

/** @returns JSON of the request log */
export function formatRequestLog(seen: LoggedRequest, end: RequestEnd, id: string, timestamp: string): string {
  const { method, path, metadata, service, environment } = seen
  const { route, host } = metadata
  return (
    `{"method":${method},"path":${path},"status_code":${end.statusCode},"duration_ms":${end.duration},` +
    `"request_id":${JSON.stringify(id)},"timestamp":${timestamp}` +
    (route === '' ? '' : `,"route":${route}`) +
    (host === '' ? '' : `,"host":${host}`) +
    (service === '' ? '' : `,"service":${service}`) +
    (environment === '' ? '}' : `,"environment":${environment}}`)
  )
}

/**
 * Index in `LEVELS`: 5xx as error, 4xx as warn, else info. If space is short, request logs with a low index are dropped
 * first.
 */
export function toSeverity(statusCode: number): number {
  if (statusCode >= 500) return 3
  return statusCode >= 400 ? 2 : 1
}

/** Three digits (RFC 9110, section 15). */
const MIN_STATUS = 100
const MAX_STATUS = 999

function parseEnd({ status_code: statusCode, duration_ms: durationMs }: Fields): RequestEnd | undefined {
  if (
    typeof statusCode !== 'number' ||
    !Number.isInteger(statusCode) ||
    statusCode < MIN_STATUS ||
    statusCode > MAX_STATUS
  )
    return undefined
  if (typeof durationMs !== 'number' || !Number.isFinite(durationMs)) return undefined
  // pino-http measures with the wall clock, which may be set back.
  return { statusCode, duration: String(Math.max(0, durationMs)) }
}

/** The route pattern, from serializers or custom properties. */
function routeIn(metadata: Fields, { parts }: MetadataKeys): string {
  for (const key of parts) {
    const route = toPattern(toFields(metadata[key])?.['route'])
    if (route !== '') return route
  }
  const own = toPattern(metadata['route'])
  if (own !== '') return own
  for (const key of parts) {
    const part = toFields(metadata[key])
    if (part === undefined) continue
    const route = toPattern(toFields(part['routeOptions'])?.['url']) || toPattern(part['routerPath'])
    if (route !== '') return route
  }
  return ''
}

/** A string, or the `path` of Express's route, that starts with `/`. Other strings are not routes. */
function toPattern(value: unknown): string {
  const text = textOf(toFields(value)?.['path'] ?? value)
  return text.startsWith('/') && !isCatchAll(text) ? JSON.stringify(text) : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? cleanText(value) : ''
}

/** JSON of a string; '' if the value is empty or not a string. */
function toJson(value: unknown): string {
  const text = textOf(value)
  return text === '' ? '' : JSON.stringify(text)
}

function toFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
}

function parse(json: string): Fields | undefined {
  try {
    return toFields(JSON.parse(json))
  } catch {
    return undefined // no entry
  }
}
