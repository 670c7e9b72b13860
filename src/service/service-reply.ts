/** Creates replies with the bodies that the interface specifies (interface: Errors). */
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

/** Status 400. For an invalid query, the body has the position of the error. */
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
