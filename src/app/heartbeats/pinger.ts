/** [main] Sends the heartbeats of one monitor, which contain its token but no key, and reports failures. */
import { CALL_OPTION_NAMES, resolveLimits } from '../../client/call-limits.js'
import type { CallLimits } from '../../client/call-limits.js'
import { RetryingCaller } from '../../client/retrying-caller.js'
import type { Call } from '../../client/retrying-caller.js'
import { createHeartbeatCall } from '../../client/heartbeat-call.js'
import type { MonitorName } from '../../client/heartbeat-call.js'
import { createHttp } from '../../client/http.js'
import { checkArgument, isObject } from '../../shared/argument-checks.js'
import type { Clock } from '../../shared/clock.js'
import { readProcessSources, resolveOptions } from '../../options/resolve-options.js'
import type { IngestOptions } from '../../options/resolve-options.js'

/** The options of `IngestClient`, and the monitor's name. A key is accepted and ignored. */
export type PingOptions = Pick<IngestOptions, (typeof CALL_OPTION_NAMES)[number]> & CallLimits & MonitorName

/** Placeholder, since the options require a key. Not a word of any message, since it is masked in them. */
const UNUSED_KEY = 'unused-key'

export class Pinger {
  readonly #call: Call
  readonly #calls: RetryingCaller
  readonly #hasUrl: boolean

  /**
   * @param clock its timers determine whether a wait for a retry keeps the process alive
   * @throws IngestError `INVALID` for an invalid token or name, `CONFIG` for the options, among them a missing URL in production
   */
  constructor(token: string, { maxAttempts, timeoutMs, name, ...options }: PingOptions, clock: Clock) {
    this.#call = createHeartbeatCall(token, { name })
    const limits = resolveLimits({ maxAttempts, timeoutMs })
    const settings = resolveOptions({ ...options, apiKey: UNUSED_KEY }, readProcessSources(), CALL_OPTION_NAMES)
    this.#hasUrl = settings.enabled
    this.#calls = new RetryingCaller({
      ...settings,
      ...limits,
      clock,
      random: Math.random,
      http: createHttp({ ...settings, maxConnections: 1 }),
    })
  }

  /**
   * @returns false without a URL: the ping is discarded, as the entries of a transport
   * @throws IngestError as `IngestClient.heartbeat`
   */
  async ping(): Promise<boolean> {
    if (this.#hasUrl) await this.#calls.post(this.#call)
    return this.#hasUrl
  }

  /** A ping in progress fails with `ABORTED`. */
  close(): Promise<void> {
    return this.#calls.close()
  }
}

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
