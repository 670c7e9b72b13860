/** Creates replies with the bodies that the interface specifies (interface: Errors). */
import { VALIDATION_ERROR } from '../../protocol/ingest-result.js'
import type { ErrorDetail, ErrorDetailBody, IngestResult, IngestResultError } from '../../protocol/ingest-result.js'
import type { IngestServiceError } from '../ingest-service-error.js'
import type { Problem } from '../ingest/validators.js'

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

/** Status 422 in the framework's format. `loc` begins with `body`. */
export function createSchemaReply(problems: readonly Problem[]): Reply {
  const detail: ErrorDetail[] = problems.map(({ loc, message, type }) => ({
    loc: ['body', ...loc],
    msg: message,
    type,
  }))
  return { status: 422, body: { detail } }
}

/** The item of `errors` for one rejected entry: its first problem (interface: Ingest result). */
export function toResultError(index: number, problem: Problem): IngestResultError {
  return { index, code: VALIDATION_ERROR, field: problem.loc.join('.'), message: problem.message }
}

export function createIngestResult(accepted: number, errors: IngestResultError[]): IngestResult {
  const rejected = errors.length
  const message = rejected === 0 ? `${accepted} accepted` : `${accepted} accepted, ${rejected} rejected`
  return { accepted, message, rejected, errors }
}
