/** Maps requests: pino-http's in one record, Fastify's in two, and the service's own `request` object. */
import type { RequestKeys } from '../../options/settings.js'
import type { EntryRequest, EntryTrace, Json, JsonObject } from '../../protocol/log-entry.js'
import { toIdText, toInteger, hasMembers, ifAny, isObject, remove, toNumber, toPlainText, take } from '../coerce.js'
import { findTraceHeader, parseTraceHeader } from './trace-header.js'

/** Members that are not sent, because headers and bodies contain credentials and personal data. */
export const UNSENT_MEMBERS: ReadonlySet<string> = new Set([
  'headers',
  'rawHeaders',
  'header', // bunyan's text of all of them
  'trailers',
  'body',
  'rawBody',
  'payload', // hapi's body
])

/** The methods that Node's HTTP parser accepts: `http.METHODS`. */
const METHODS: ReadonlySet<string> = new Set(
  (
    'ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY ' +
    'OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK ' +
    'UNLOCK UNSUBSCRIBE'
  ).split(' '),
)

/** Converts lower case, as logged by hapi, to upper case. Text that is not an HTTP method is returned unchanged. */
export function normalizeMethod(method: string): string {
  const upper = method.toUpperCase()
  return METHODS.has(upper) ? upper : method
}

/** Three digits (RFC 9110, section 15). */
export const STATUS = /^[1-9]\d\d$/

export interface RequestParts {
  readonly request: EntryRequest | undefined
  readonly callers: EntryTrace | undefined
  /** The request's id: within `req` for pino-http, in a header for Hono. */
  readonly id: string | undefined
}

/** Keys of a record that may have a request or a response; configured names come first. */
export function listRequestPartKeys({ req, res }: RequestKeys): readonly string[] {
  return [req, 'req', 'request', res, 'res', 'response']
}

/** Removes the mapped members from `record`. Other members of `req` and `res` are kept for the metadata. */
export function takeRequest(record: JsonObject, hasRequestId: string | undefined, keys: RequestKeys): RequestParts {
  const parts = listRequestPartKeys(keys)
  const holders = parts.map((key) => (hasMembers(record[key]) ? record[key] : undefined))
  const [req, res] = [holders[0] ?? holders[1] ?? holders[2], holders[3] ?? holders[4] ?? holders[5]]
  const taken = req === undefined && res === undefined ? NO_PARTS : takeParts(req ?? {}, res ?? {}, hasRequestId)
  for (const key of Object.keys(record)) {
    const value = record[key]
    if (isObject(value) && (parts.includes(key) || isHttpMessage(value))) removeUnsentMembers(value)
  }
  return taken
}

export const NO_PARTS: RequestParts = { request: undefined, callers: undefined, id: undefined }

function takeParts(req: JsonObject, res: JsonObject, hasRequestId: string | undefined): RequestParts {
  const headers = isObject(req['headers']) ? req['headers'] : {}
  const method = take(req, ['method'], toPlainText)
  const url = take(req, ['url'], toPlainText)
  return {
    request: ifAny({
      method: method && normalizeMethod(method),
      url,
      path: take(req, ['path'], toPlainText) ?? toPath(url),
      status_code:
        take(res, ['statusCode', 'status_code'], toInteger) ??
        take(res, ['status'], toStatus) ??
        take(req, ['status_code', 'statusCode'], toInteger),
      ip: take(req, ['remoteAddress', 'ip'], toPlainText),
      user_agent: take(req, ['user_agent', 'userAgent'], toPlainText) ?? toPlainText(headers['user-agent']),
      duration_ms: take(req, ['duration_ms', 'durationMs'], toNumber),
    }),
    callers: parseTraceHeader(findTraceHeader(headers)),
    id: takeId(req, hasRequestId) ?? toHeaderId(headers['x-request-id']),
  }
}

function removeUnsentMembers(message: JsonObject): void {
  for (const unsent of UNSENT_MEMBERS) remove(message, unsent)
}

/** Whether a value is a request or a response under an unknown name. */
function isHttpMessage(value: JsonObject): boolean {
  if (!isObject(value['headers'])) return false
  const isRequest = toPlainText(value['method']) !== undefined && toPlainText(value['url']) !== undefined
  return isRequest || ['statusCode', 'status_code', 'status'].some((key) => toStatus(value[key] ?? null) !== undefined)
}

/**
 * A client controls the id in a header, so only characters that ids use and that need no escaping or redaction are
 * accepted.
 */
export const HEADER_ID = /^[\w.:-]{1,200}$/

function toHeaderId(value: Json | undefined): string | undefined {
  return typeof value === 'string' && HEADER_ID.test(value) ? value : undefined
}

/** Reads hono-pino's `status`; other libraries use the name for other numbers and for strings. */
function toStatus(value: Json): number | undefined {
  return typeof value === 'number' && STATUS.test(String(value)) ? value : undefined
}

/** An empty string is not an id. */
export function toRequestId(value: Json | undefined): string | undefined {
  return toIdText(value) || undefined
}

/** Removes an id that repeats `known` and keeps a different one. */
function takeId(req: JsonObject, known: string | undefined): string | undefined {
  const id = toRequestId(req['id'])
  if (id === undefined || (known !== undefined && known !== id)) return undefined
  remove(req, 'id')
  return id
}

/** The path of a URL in origin form or absolute form (RFC 9112, 3.2), without its query. */
export function toPath(url: string | undefined): string | undefined {
  if (url === undefined) return undefined
  const path = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '')
  const end = path.search(/[?#]/)
  const bare = end === -1 ? path : path.slice(0, end)
  return bare === '' ? (path === url ? undefined : '/') : bare
}

/** The message of a record with a request and without a message: `GET /orders 404`. */
export function formatRequestTitle(request: EntryRequest | undefined): string | undefined {
  const place = request?.path ?? request?.url
  if (request?.method === undefined && place === undefined) return undefined
  return [request?.method, place, request?.status_code].filter((part) => part !== undefined).join(' ')
}
