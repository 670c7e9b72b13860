/** Creates the replies to validated bodies, and what is stored of a rejected one (interface: Errors, Ingest result). */
import { VALIDATION_ERROR } from '../../protocol/ingest-result.js'
import type { ErrorDetail, IngestResult, IngestResultError } from '../../protocol/ingest-result.js'
import { isObject } from '../../shared/argument-checks.js'
import { truncate } from '../query/truncate.js'
import type { Reply } from '../service-reply.js'
import type { RejectionReason } from '../store/stored-record.js'
import type { EntryViolation } from './validators.js'

/** Status 422 in the framework's format. `loc` begins with `body`. */
export function createSchemaReply(problems: readonly EntryViolation[]): Reply {
  const detail: ErrorDetail[] = problems.map(({ loc, message, type }) => ({
    loc: ['body', ...loc],
    msg: message,
    type,
  }))
  return { status: 422, body: { detail } }
}

/** The item of `errors` for one rejected entry: its first problem (interface: Ingest result). */
export function toResultError(index: number, problem: EntryViolation): IngestResultError {
  return { index, code: VALIDATION_ERROR, field: problem.loc.join('.'), message: problem.message }
}

export function createIngestResult(accepted: number, errors: IngestResultError[]): IngestResult {
  const rejected = errors.length
  const message = rejected === 0 ? `${accepted} accepted` : `${accepted} accepted, ${rejected} rejected`
  return { accepted, message, rejected, errors }
}

const MAX_VALUE = 300
const MAX_TEXT = 200
const MAX_DEPTH = 4
const MAX_MEMBERS = 10

/** Describes the rejected part of a body, so that the developer finds the log call. @param loc path from the body */
export function describeRejected(body: unknown, loc: RejectionReason['loc']): Pick<RejectionReason, 'value' | 'entry'> {
  const [list, index] = loc
  const entry = typeof index === 'number' ? valueAt(body, [list as string, index]) : undefined
  const { message, service } = isObject(entry) ? entry : {}
  const value = loc.length === 0 ? undefined : JSON.stringify(boundedOf(valueAt(body, loc), 0))
  const described = {
    ...(typeof message === 'string' && { message: truncate(message, MAX_TEXT) }),
    ...(typeof service === 'string' && { service: truncate(service, MAX_TEXT) }),
  }
  return {
    ...(value !== undefined && { value: truncate(value, MAX_VALUE) }),
    ...(Object.keys(described).length > 0 && { entry: described }),
  }
}

/** A value can be nested so deeply that `JSON.stringify` throws, or be the whole body. */
function boundedOf(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return truncate(value, MAX_VALUE)
  if (typeof value !== 'object' || value === null) return value
  if (depth === MAX_DEPTH) return '…'
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item) => boundedOf(item, depth + 1))
  const members = Object.entries(value).slice(0, MAX_MEMBERS)
  return Object.fromEntries(members.map(([key, member]) => [truncate(key, MAX_TEXT), boundedOf(member, depth + 1)]))
}

function valueAt(body: unknown, loc: RejectionReason['loc']): unknown {
  let value = body
  for (const key of loc) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string | number, unknown>)[key]
  }
  return value
}
