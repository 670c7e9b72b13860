/** [main] Logs a caught error and returns the id of the event. */
import { randomUUID } from 'node:crypto'
import { isError, readMembers, serializeError } from '../../record/error-serializer.js'
import { readErrorKey } from '../logger/pino-symbols.js'
import { findHistory, findOrCreateRequestError } from '../scope/app-state.js'
import { parseId } from '../scope/scope-context.js'

/** A pino logger, a child logger, or Fastify's `request.log`. */
export interface ErrorLogger {
  /** Logs a record at level error. */
  error(fields: object, message?: string): void
}

/** Fields of the record. */
export interface CaptureFields {
  /** Default: the error's message. */
  readonly msg?: string | undefined
  /** An id that `newEventId()` created. Default: a new one. */
  readonly event_id?: string | undefined
  readonly [field: string]: unknown
}

let isWarned = false

/**
 * A new UUID, to be put on a record as `event_id`: `captureError(logger, error, { event_id })`. The log service's interface does not define
 * ids of events: the id is stored in the entry's `metadata.event_id`, and feedback refers to it.
 */
export function newEventId(): string {
  return randomUUID()
}

/**
 * Logs a caught error at level error, with the breadcrumbs of the current scope (through `ingestMixin()` or `ingestOptions()`). In a request
 * with `requestScope()`, an error that was logged at this level is not logged again.
 *
 * @param logger a pino logger, a child logger, or Fastify's `request.log`
 * @param error anything that can be thrown
 * @param fields other fields of the record
 * @returns the event's id, to be shown to the user and given to `sendFeedback()`; on the entry it is `metadata.event_id`. Never
 * throws: if logging fails, one process warning (`PINO_INGEST_CAPTURE`) is emitted.
 * @example
 * const reference = captureError(logger, error, { order })
 */
export function captureError(logger: ErrorLogger, error: unknown, fields: CaptureFields = {}): string {
  const history = findHistory()
  const { request } = history
  if (request === undefined) return logCaught(logger, 'error', error, fields)
  const known = request.errors.get(error)
  if (known?.isLogged === true && typeof error === 'object') return known.eventId
  const id = logCaught(logger, 'error', error, known === undefined ? fields : { event_id: known.eventId, ...fields })
  const kept = findOrCreateRequestError(history, error, id)
  if (kept !== undefined) kept.isReferenced = kept.isLogged = true // also by a logger without `ingestMixin()`
  return id
}

type LevelLogger = Partial<Record<'error' | 'fatal', ErrorLogger['error']>>

/** As `captureError()`, at this level. */
export function logCaught(
  logger: LevelLogger,
  level: 'error' | 'fatal',
  error: unknown,
  fields: CaptureFields,
): string {
  const { id, msg = messageOf(error), rest } = readFields(fields)
  let failure: unknown
  const tryLog = (own: object, message: string): boolean => {
    try {
      logger[level]?.({ ...own, event_id: id }, message)
      return true
    } catch (thrown) {
      failure ??= thrown
      return false
    }
  }
  const key = readErrorKey(logger)
  if (tryLog({ ...rest, [key]: error }, msg)) return id
  // The logger's serializer may have thrown, as pino's own does for a frozen error. A second attempt may throw again,
  // for another field.
  const plain = serializeError(error)
  const stack = plain === error ? undefined : (plain as { stack?: unknown }).stack
  if (tryLog({ ...rest, [key]: plain }, msg) || tryLog({ stack }, UNLOGGABLE)) return id
  if (!isWarned)
    process.emitWarning(`captureError() could not log: ${messageOf(failure)}`, {
      type: 'PinoIngestWarning',
      code: 'PINO_INGEST_CAPTURE',
    })
  isWarned = true
  return id
}

const UNLOGGABLE = 'an error was caught that cannot be logged'

function readFields(fields: CaptureFields): { id: string; msg?: string | undefined; rest: object } {
  const { msg, event_id: given, ...rest } = (readMembers(fields) ?? {}) as CaptureFields
  return { id: parseId(given) ?? newEventId(), msg, rest }
}

export function messageOf(thrown: unknown): string {
  try {
    if (isError(thrown)) return String(thrown.message || thrown.name)
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    const { message } = thrown as { message?: unknown }
    return typeof message === 'string' ? message : 'a non-error value was thrown'
  } catch {
    return 'an error without a readable message'
  }
}
