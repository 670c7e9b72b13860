/** [main] Reports failures of the helpers to the given logger, otherwise on stderr. */
import { checkArgument, isObject } from '../../shared/argument-checks.js'

/** The part of a pino logger that is used. */
export interface HelperLogger {
  /** Logs a record at level warn. */
  warn(fields: object, message: string): void
  /** Logs a record at level error. */
  error(fields: object, message: string): void
}

/** @throws IngestError `CONFIG` if `logger` is not a logger, since its reports would be lost. */
export function checkHelperLogger(owner: string, logger: unknown): void {
  const isLogger = isObject(logger) && ['warn', 'error'].every((level) => typeof logger[level] === 'function')
  checkArgument(`logger of ${owner}`, 'a pino logger', logger === undefined || isLogger, logger)
}

/** Never throws: a helper in the background must not end the process or hide the error of the job. */
export function report(
  logger: HelperLogger | undefined,
  level: 'warn' | 'error',
  fields: object,
  message: string,
): void {
  try {
    if (logger !== undefined) return logger[level](fields, message)
  } catch {
    // The application's serializer failed, or the object is not a logger.
  }
  process.stderr.write(`pino-ingest: ${message}\n`)
}
