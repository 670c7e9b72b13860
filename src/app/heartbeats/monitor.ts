/** [main] Runs a job, and pings its monitor if it succeeds. */
import { systemClock } from '../../shared/clock.js'
import { checkArgument, isFunction, readOptions } from '../../shared/argument-checks.js'
import { Pinger, checkHelperLogger, report } from './pinger.js'
import type { HelperLogger, PingOptions } from './pinger.js'
import { toMessage } from '../../shared/errors.js'

/** Options of `monitor()`: those of `IngestClient`, the monitor's name, and a logger. */
export type MonitorOptions = PingOptions & {
  /** A pino logger: gets a failed job at level error, and a failed ping at level warn. Without it a failed ping is reported on stderr. */
  logger?: HelperLogger | undefined
}

/**
 * Runs a job, and pings its monitor when it has succeeded (`POST /heartbeat/{monitor_token}`, docs/protocol.md). A failure is
 * logged and thrown again. A failed ping is reported and does not change the result; it takes at most `timeoutMs`. Outside production,
 * without a URL, the ping is discarded.
 *
 * @param token any text except the empty text, `.` and `..`; never shown in a message
 * @param job may be asynchronous
 * @returns what the job returns
 * @throws IngestError `INVALID` for the token or the name, `CONFIG` for the options: before the job starts.
 */
export async function monitor<T>(token: string, job: () => T | Promise<T>, options: MonitorOptions = {}): Promise<T> {
  const { logger, ...pingOptions } = readOptions('monitor()', options)
  checkArgument('job of monitor()', 'a function', isFunction(job), job)
  checkHelperLogger('monitor()', logger)
  const pinger = new Pinger(token, pingOptions, systemClock)
  try {
    const result = await run(job, logger)
    await pinger
      .ping()
      .catch((error: unknown) =>
        report(logger, 'warn', { err: error }, `the heartbeat of a job failed: ${toMessage(error)}`),
      )
    return result
  } finally {
    await pinger.close()
  }
}

async function run<T>(job: () => T | Promise<T>, logger: HelperLogger | undefined): Promise<T> {
  try {
    return await job()
  } catch (error) {
    // Passes the Error itself, so the logger uses its own error key.
    if (logger !== undefined)
      report(logger, 'error', error instanceof Error ? error : { thrown: error }, 'a monitored job failed')
    throw error
  }
}
