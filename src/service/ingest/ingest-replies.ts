/** Creates the replies to validated bodies (interface: Errors, Ingest result). */
import { VALIDATION_ERROR } from '../../protocol/ingest-result.js'
import type { ErrorDetail, IngestResult, IngestResultError } from '../../protocol/ingest-result.js'
import type { Reply } from '../service-reply.js'
import type { Problem } from './validators.js'

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
