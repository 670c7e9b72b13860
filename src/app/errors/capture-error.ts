/** [main] Logs a caught error and returns the id of the event. */
import { isError } from '../../record/error-serializer.js'
import { newEventId, rememberEventId } from './event-id.js'
import { readPinoProperty } from '../logger/pino-symbols.js'
import { parseId } from '../scope/scope-context.js'

/** A pino logger, a child logger, or Fastify's `request.log`. */
export interface ErrorLogger {
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
 * Logs a caught error at level error, with the breadcrumbs of the current scope (through `ingestMixin()` or `ingestOptions()`).
 *
 * @param error anything that can be thrown
 * @returns the event's id, to be shown to the user and given to `sendFeedback()`; on the entry it is `metadata.event_id`. Never
 * throws: if logging fails, one process warning (`PINO_INGEST_CAPTURE`) is emitted.
 */
export function captureError(logger: ErrorLogger, error: unknown, fields: CaptureFields = {}): string {
  return logCaught(logger, 'error', error, fields)
}

type LevelLogger = Partial<Record<'error' | 'fatal', ErrorLogger['error']>>

/** As `captureError()`, at this level. */
export function logCaught(
  logger: LevelLogger,
  level: 'error' | 'fatal',
  error: unknown,
  fields: CaptureFields,
): string {
  let id: string | undefined
  try {
    const { msg, event_id: given, ...rest } = fields
    id = parseId(given)
    if (id === undefined) id = newEventId()
    else rememberEventId(id)
    const errorKey = readPinoProperty(logger, 'pino.errorKey')
    logger[level]?.(
      { ...rest, event_id: id, [typeof errorKey === 'string' ? errorKey : 'err']: error },
      msg ?? messageOf(error),
    )
  } catch (failure) {
    id ??= newEventId()
    logWithout(logger, level, id, failure)
  }
  return id
}

/** A serializer or a getter may have thrown: the event is logged without the error. */
function logWithout(logger: LevelLogger, level: 'error' | 'fatal', id: string, failure: unknown): void {
  try {
    logger[level]?.({ event_id: id }, 'an error was caught that cannot be logged')
  } catch {
    if (isWarned) return
    isWarned = true
    process.emitWarning(`captureError() could not log: ${messageOf(failure)}`, {
      type: 'PinoIngestWarning',
      code: 'PINO_INGEST_CAPTURE',
    })
  }
}

function messageOf(thrown: unknown): string {
  try {
    if (isError(thrown)) return String(thrown.message || thrown.name)
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    const { message } = thrown as { message?: unknown }
    return typeof message === 'string' ? message : 'a non-error value was thrown'
  } catch {
    return 'an error without a readable message'
  }
}
