/** Creates replies with the bodies that the interface specifies (interface: Errors), and the headers that restrict how a browser uses a reply. */
import type { ErrorDetailBody } from '../protocol/ingest-result.js'
import type { IngestServiceError } from './ingest-service-error.js'

export interface Reply {
  readonly status: number
  /** A string is sent as plain text, a buffer unchanged with the type in `headers`, other values as JSON. */
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export function ok(body: unknown): Reply {
  return { status: 200, body }
}

export function createFailure(status: number, msg: string, type: string, headers: Record<string, string> = {}): Reply {
  return { status, body: { detail: [{ msg, type }] } satisfies ErrorDetailBody, headers }
}

export function createErrorReply({ message, code, position, length }: IngestServiceError): Reply {
  const part = position !== undefined && length !== undefined && { position, length }
  return { status: 400, body: { detail: [{ msg: message, type: code, ...part }] } satisfies ErrorDetailBody }
}

export const unauthorized: Reply = createFailure(401, 'invalid or missing API key', 'auth_error')

export const notFound: Reply = createFailure(404, 'not found', 'not_found')

export function createWrongMethod(allow: string): Reply {
  return createFailure(405, `method not allowed; use ${allow}`, 'method_not_allowed', { allow })
}

/** Rounded up to whole seconds. */
export function createTooManyRequests(retryAfterSeconds: number): Reply {
  const retryAfter = String(Math.max(1, Math.ceil(retryAfterSeconds)))
  return createFailure(429, 'rate limited', 'rate_limited', { 'retry-after': retryAfter })
}

/** For replies with data: a browser must not use them as a document, a script or a frame. */
export const DATA_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const

export const STREAM_HEADERS = { ...DATA_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' } as const

/** Requires trusted types but permits no policy that creates them: a bug in the page cannot turn logged text into markup. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Browser features to disable. `clipboard-write` is not listed because the page uses it. */
const UNUSED_FEATURES = 'camera display-capture geolocation hid microphone midi payment serial usb'.split(' ')

/** For the files of the page. */
export const PAGE_HEADERS = {
  'cache-control': 'no-cache',
  'content-security-policy': PAGE_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': UNUSED_FEATURES.map((name) => `${name}=()`).join(', '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const
