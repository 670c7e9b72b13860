/** [main] Sends the heartbeats of one monitor, which contain its token but no key. */
import { CALL_OPTION_NAMES, resolveLimits } from '../../client/call-limits.js'
import type { CallLimits } from '../../client/call-limits.js'
import { RetryingCaller } from '../../client/retrying-caller.js'
import type { Call } from '../../client/retrying-caller.js'
import { createHeartbeatCall } from '../../client/heartbeat-call.js'
import type { MonitorName } from '../../client/heartbeat-call.js'
import { createHttp } from '../../client/http.js'
import type { Clock } from '../../shared/clock.js'
import { resolveFromProcess } from '../../options/resolve-options.js'
import type { IngestOptions } from '../../options/resolve-options.js'

/** The options of `IngestClient`, and the monitor's name. A key is accepted and ignored. */
export type PingOptions = Pick<IngestOptions, (typeof CALL_OPTION_NAMES)[number]> & CallLimits & MonitorName

/** Placeholder, since the options require a key. Not a word of any message, since it is masked in them. */
const UNUSED_KEY = 'unused-key'

export class Pinger {
  /** The warning about a key that was given without a URL. */
  readonly keyWarning: string | undefined
  readonly #call: Call
  readonly #calls: RetryingCaller

  /**
   * @param clock its timers determine whether a wait for a retry keeps the process alive
   * @throws IngestError `INVALID` for an invalid token or name, `CONFIG` for the options
   */
  constructor(token: string, { maxAttempts, timeoutMs, name, ...options }: PingOptions, clock: Clock) {
    this.#call = createHeartbeatCall(token, { name })
    const limits = resolveLimits({ maxAttempts, timeoutMs })
    const settings = resolveFromProcess({ ...options, apiKey: UNUSED_KEY }, CALL_OPTION_NAMES)
    // UNUSED_KEY overrides the configured key, so the options are resolved again for the warning.
    this.keyWarning = settings.isLocalDefault ? resolveFromProcess(options, CALL_OPTION_NAMES).keyWarning : undefined
    this.#calls = new RetryingCaller({
      ...settings,
      ...limits,
      clock,
      random: Math.random,
      http: createHttp({ ...settings, maxConnections: 1 }),
    })
  }

  /** @throws IngestError as `IngestClient.heartbeat` */
  async ping(): Promise<void> {
    await this.#calls.post(this.#call)
  }

  /** A ping in progress fails with `ABORTED`. */
  close(): Promise<void> {
    return this.#calls.close()
  }
}
