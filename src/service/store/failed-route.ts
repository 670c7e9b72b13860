/** Finds the route of an entry's request (pure). */
import type { Json, LogEntry } from '../../protocol/log-entry.js'
import { intern } from './record-texts.js'

/** pino-http creates this error for statuses of 500 and above. Its stack is the same for every route. */
const FAILED_WITH_STATUS = /^failed with status code \d{3}$/
const MAX_PATH = 300
/** Path segment that differs between requests: a number, a UUID, a hexadecimal or other long id, `order-1017`. */
const PART_VALUE =
  /^\d[\d._-]*$|^(?=.*\d)[\da-f]{7,}$|^[\da-f]{8}-[\da-f-]{27}$|^(?=.*\d)[\w-]{16,}$|^[a-z]{1,12}[-_]\d+$/i

/** Method and route, for example `GET /orders/*`. Undefined if the entry is not a pino-http failure or has no path. */
export function findFailedRoute({ error, request, metadata }: LogEntry): string | undefined {
  if (error?.message === undefined || !FAILED_WITH_STATUS.test(error.message)) return undefined
  const pattern = metadata?.['route']
  const path = typeof pattern === 'string' && pattern.startsWith('/') ? pattern : findPathPattern(request)
  return path === undefined ? undefined : `${request?.method ?? ''} ${path}`.trim()
}

/** `metadata.route`, else the request's path with ids as `*`. */
export function findRoute({ request, metadata }: LogEntry): Json | undefined {
  const logged = metadata?.['route'] ?? findPathPattern(request)
  return typeof logged === 'string' ? intern(logged) : logged
}

function findPathPattern(request: LogEntry['request']): string | undefined {
  const path = request?.path ?? request?.url?.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  return path
    ?.slice(0, MAX_PATH)
    .replace(/[?#].*$/s, '')
    .split('/')
    .map((part) => (PART_VALUE.test(part) ? '*' : part))
    .join('/')
}
