/** [main] How the helpers tell of their own troubles: to the logger they were given, else on stderr. */

/** What is used of a pino logger. */
export interface HelperLogger {
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Never throws: a helper in the background must not end the process, nor stand in for what the job threw. */
export function report(
  logger: HelperLogger | undefined,
  level: 'warn' | 'error',
  fields: object,
  message: string,
): void {
  try {
    if (logger !== undefined) return logger[level](fields, message)
  } catch {
    // A serializer of the application's, or no logger: stderr is left.
  }
  process.stderr.write(`pino-ingest: ${message}\n`)
}
