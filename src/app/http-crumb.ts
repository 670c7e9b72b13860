/** [main] An outgoing request and its outcome, as a crumb: without what may hold credentials. Pure. */
import type { ClientRequest } from 'node:http'
import type { Breadcrumb } from '../protocol/log-entry.js'
import { boundedText } from './bounded.js'
import { toBreadcrumb } from './breadcrumbs.js'

/** undici's own, as its channels show it: https://undici.nodejs.org, Diagnostics Channel Support. */
export interface UndiciRequest {
  readonly method?: string
  readonly origin?: string | URL
  readonly path?: string
  /** Names and values in turn; one text before version 6. */
  readonly headers?: readonly unknown[] | string
}

export interface Outcome {
  readonly status?: number | undefined
  readonly error?: unknown
}

const OUR_AGENT = 'pino-ingest/'

/** A CONNECT opens a proxy's tunnel, the request in it has its own crumb. */
export function isLeftOut({ method, headers = [] }: UndiciRequest): boolean {
  const isOurs = typeof headers === 'string' ? headers.includes(OUR_AGENT)
    : headers.some((one) => typeof one === 'string' && one.startsWith(OUR_AGENT))
  return isOurs || method === 'CONNECT'
}

export function undiciUrl({ origin, path = '/' }: UndiciRequest): string | undefined {
  return origin === undefined ? undefined : bareUrl(String(origin), path)
}

export function nodeUrl(request: ClientRequest): string | undefined {
  const host = request.getHeader('host') ?? request.host
  return bareUrl(`${request.protocol}//${String(host)}`, request.path)
}

/** Where credentials may stand, in userinfo, query and fragment, nothing is taken. To a proxy the path is a whole URL. */
function bareUrl(origin: string, path: string): string | undefined {
  const whole = /^https?:\/\//i.test(path) ? path : origin.replace(/\/$/, '') + path
  if (!URL.canParse(whole)) return undefined
  const { protocol, host, pathname } = new URL(whole)
  return boundedText(`${protocol}//${host}${pathname}`)
}

export function crumbOf(method: string, url: string, { status, error }: Outcome, tookMs: number): Breadcrumb {
  const reason = status ?? reasonOf(error)
  return toBreadcrumb({
    type: 'http',
    category: 'http.client',
    message: `${method} ${url} ${reason}`,
    level: levelOf(status),
    data: {
      method, url, ...(status === undefined ? { error: reason } : { status_code: status }), duration_ms: Math.round(tookMs * 100) / 100,
    },
  })
}

/** Never the message, which may hold what the URL here does not. */
function reasonOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown, readonly name?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'failed'
}

function levelOf(status: number | undefined): string {
  if (status === undefined || status >= 500) return 'error'
  return status >= 400 ? 'warn' : 'info'
}
