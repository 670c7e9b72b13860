/** [main] A job that a monitor watches: it pings when the job has succeeded, and not otherwise. */
import { reportUnusedKey } from '../../client/key-warning.js'
import { systemClock } from '../../shared/clock.js'
import { IngestError } from '../../shared/errors.js'
import { Pinger } from './pinger.js'
import type { PingOptions } from './pinger.js'
import { report } from './helper-report.js'
import type { HelperLogger } from './helper-report.js'

export type MonitorOptions = PingOptions & {
  /** A pino logger: gets a failed job at level error, and a failed ping at level warn. Without it a failed ping is told on stderr. */
  logger?: HelperLogger | undefined
}

/**
 * Runs a job, and pings its monitor when it has succeeded (interface: POST /heartbeat/{monitor_token}). When it fails it is
 * logged, and what it threw is thrown again. A failed ping is reported and changes nothing; it takes `timeoutMs` at most.
 *
 * @param token any text but empty, `.` and `..`; appears in no message
 * @returns what the job returns
 * @throws IngestError `INVALID` for the token, `CONFIG` for the options: before the job is begun.
 */
export async function monitor<T>(token: string, job: () => T | Promise<T>, options: MonitorOptions = {}): Promise<T> {
  const { logger, ...pingOptions } = options
  if (typeof job !== 'function')
    throw new IngestError('CONFIG', `monitor needs a function as its job, got ${job === null ? 'null' : typeof job}`)
  const pinger = new Pinger(token, pingOptions, systemClock)
  reportUnusedKey(pinger)
  try {
    const result = await run(job, logger)
    await pinger
      .ping()
      .catch((error: unknown) =>
        report(logger, 'warn', { err: error }, `the heartbeat of a job failed: ${toReason(error)}`),
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
    // An Error itself, and not in an object: then it comes under the logger's own error key.
    if (logger !== undefined)
      report(logger, 'error', error instanceof Error ? error : { thrown: error }, 'a monitored job failed')
    throw error
  }
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
