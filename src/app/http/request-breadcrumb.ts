/** [main] An outgoing request and its outcome as a breadcrumb, without parts that may contain credentials. Pure. */
import type { ClientRequest } from 'node:http'
import type { Breadcrumb } from '../../protocol/log-entry.js'
import { limitText } from '../scope/bounded-copy.js'
import { toBreadcrumb } from '../scope/scope-breadcrumbs.js'

/** The request of undici's channels: https://undici.nodejs.org, Diagnostics Channel Support. */
export interface UndiciRequest {
  readonly method?: string
  readonly origin?: string | URL
  readonly path?: string
  /** Alternating names and values; one string before version 6. */
  readonly headers?: readonly unknown[] | string
}

export interface RequestOutcome {
  readonly status?: number | undefined
  readonly error?: unknown
}

const OWN_USER_AGENT = 'pino-ingest/'

/**
 * Whether the request gets no breadcrumb: requests of this package, and CONNECT, since the request in a proxy's tunnel
 * has its own.
 */
export function isIgnored({ method, headers = [] }: UndiciRequest): boolean {
  const isOurs =
    typeof headers === 'string'
      ? headers.includes(OWN_USER_AGENT)
      : headers.some((one) => typeof one === 'string' && one.startsWith(OWN_USER_AGENT))
  return isOurs || method === 'CONNECT'
}

export function toUndiciUrl({ origin, path = '/' }: UndiciRequest): string | undefined {
  return origin === undefined ? undefined : toBareUrl(String(origin), path)
}

export function toNodeUrl(request: ClientRequest): string | undefined {
  const host = request.getHeader('host') ?? request.host
  return toBareUrl(`${request.protocol}//${String(host)}`, request.path)
}

/**
 * Returns the URL without userinfo, query and fragment, which may contain credentials. In a request to a proxy, the
 * path is a whole URL.
 */
function toBareUrl(origin: string, path: string): string | undefined {
  const whole = /^https?:\/\//i.test(path) ? path : origin.replace(/\/$/, '') + path
  if (!URL.canParse(whole)) return undefined
  const { protocol, host, pathname } = new URL(whole)
  return limitText(`${protocol}//${host}${pathname}`)
}

export function toRequestBreadcrumb(
  method: string,
  url: string,
  { status, error }: RequestOutcome,
  tookMs: number,
): Breadcrumb {
  const reason = status ?? toReason(error)
  return toBreadcrumb({
    type: 'http',
    category: 'http.client',
    message: `${method} ${url} ${reason}`,
    level: toLevel(status),
    data: {
      method,
      url,
      ...(status === undefined ? { error: reason } : { status_code: status }),
      duration_ms: Math.round(tookMs * 100) / 100,
    },
  })
}

/** Returns code or name of an error, but not its message, which may contain the whole URL. */
function toReason(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'failed'
}

function toLevel(status: number | undefined): string {
  if (status === undefined || status >= 500) return 'error'
  return status >= 400 ? 'warn' : 'info'
}
