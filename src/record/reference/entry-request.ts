/** The request, as pino-http writes it in one record, Fastify in two, and as the service's own `request` object. */
import type { EntryRequest, Json, JsonObject } from '../../protocol/log-entry.js'
import { toIdText, toInteger, hasMembers, isObject, toNumber, toPlainText, take } from '../coerce.js'

/** Members that are not sent: headers and bodies hold credentials and personal data. */
export const UNSENT_MEMBERS: ReadonlySet<string> = new Set([
  'headers',
  'rawHeaders',
  'header', // bunyan
  'trailers',
  'body',
  'rawBody',
])

export interface RequestParts {
  readonly request: EntryRequest | undefined
  readonly traceparent: Json | undefined
  /** pino-http keeps its request id inside `req`. */
  readonly id: string | undefined
}

/** Removes the mapped members from `record`. Other members of `req` and `res` are kept for the metadata. */
export function takeRequest(record: JsonObject, hasRequestId: string | undefined): RequestParts {
  const requestKey = ['req', 'request'].find((key) => hasMembers(record[key]))
  const responseKey = ['res', 'response'].find((key) => hasMembers(record[key]))
  const req = requestKey === undefined ? {} : (record[requestKey] as JsonObject)
  const res = responseKey === undefined ? {} : (record[responseKey] as JsonObject)
  const headers = isObject(req['headers']) ? req['headers'] : {}
  const request: EntryRequest = {}
  const set = <K extends keyof EntryRequest>(field: K, value: EntryRequest[K] | undefined): void => {
    if (value !== undefined) request[field] = value
  }
  set('method', take(req, ['method'], toPlainText))
  set('url', take(req, ['url'], toPlainText))
  set('path', take(req, ['path'], toPlainText) ?? toPath(request.url))
  set(
    'status_code',
    take(res, ['statusCode', 'status_code'], toInteger) ?? take(req, ['status_code', 'statusCode'], toInteger),
  )
  set('ip', take(req, ['remoteAddress', 'ip'], toPlainText))
  set('user_agent', take(req, ['user_agent', 'userAgent'], toPlainText) ?? toPlainText(headers['user-agent']))
  set('duration_ms', take(req, ['duration_ms', 'durationMs'], toNumber))
  if (request.duration_ms === undefined && Object.keys(request).length > 0) {
    set('duration_ms', take(record, ['responseTime', 'duration_ms'], toNumber))
  }
  const id = takeId(req, hasRequestId)
  for (const part of ['req', 'request', 'res', 'response']) {
    if (isObject(record[part])) for (const unsent of UNSENT_MEMBERS) delete record[part][unsent]
  }
  return {
    request: Object.keys(request).length > 0 ? request : undefined,
    traceparent: headers['traceparent'],
    id,
  }
}

/** An id that repeats `known` is removed; a different id is kept. */
function takeId(req: JsonObject, known: string | undefined): string | undefined {
  const id = toIdText(req['id'])
  if (id === undefined || (known !== undefined && known !== id)) return undefined
  delete req['id']
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

/** The message of a request that has none: `GET /orders 404`. */
export function formatRequestTitle(request: EntryRequest | undefined): string | undefined {
  const place = request?.path ?? request?.url
  if (request?.method === undefined && place === undefined) return undefined
  return [request?.method, place, request?.status_code].filter((part) => part !== undefined).join(' ')
}
