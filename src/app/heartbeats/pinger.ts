/** [main] One monitor's heartbeats: its token, and the way to the service, which takes no key. */
import { resolveLimits } from '../../client/call-limits.js'
import type { CallLimits } from '../../client/call-limits.js'
import { RetryingCaller } from '../../client/retrying-caller.js'
import type { Call } from '../../client/retrying-caller.js'
import { createHeartbeatCall } from '../../client/heartbeat-call.js'
import { createHttp } from '../../client/http.js'
import type { Clock } from '../../shared/clock.js'
import { resolveFromProcess } from '../../options/resolve-options.js'
import type { IngestOptions } from '../../options/resolve-options.js'
import { withLocalHint } from '../../client/with-client.js'

const OPTION_NAMES = [
  'url',
  'apiKey',
  'allowInsecure',
  'tls',
  'proxy',
  'requestTimeoutMs',
  'retryMinMs',
  'retryMaxMs',
] as const

/** As those of `IngestClient`. A key may be given as to the other helpers; a heartbeat carries none. */
export type PingOptions = Pick<IngestOptions, (typeof OPTION_NAMES)[number]> & CallLimits

/** The options want one. So short that it is masked in no message. */
const UNUSED_KEY = 'none'

export class Pinger {
  /** The warning about a key that was given without a URL. */
  readonly keyWarning: string | undefined
  readonly #call: Call
  readonly #calls: RetryingCaller

  /**
   * @param clock whose timers keep the process alive, or do not, while an attempt is waited for
   * @throws IngestError `INVALID` for a token that no monitor has, `CONFIG` for the options
   */
  constructor(token: string, { maxAttempts, timeoutMs, ...options }: PingOptions, clock: Clock) {
    this.#call = createHeartbeatCall(token)
    const limits = resolveLimits({ maxAttempts, timeoutMs })
    const settings = resolveFromProcess({ ...options, apiKey: UNUSED_KEY }, OPTION_NAMES)
    // UNUSED_KEY overrides the configured key, so the options are resolved again to find the warning.
    this.keyWarning = settings.isLocalDefault ? resolveFromProcess(options, OPTION_NAMES).keyWarning : undefined
    this.#calls = new RetryingCaller({
      ...settings,
      ...limits,
      apiKey: UNUSED_KEY,
      clock,
      random: Math.random,
      http: createHttp({ ...settings, apiKey: UNUSED_KEY, maxConnections: 1 }),
    })
  }

  /** @throws IngestError as `IngestClient.heartbeat` */
  async ping(): Promise<void> {
    try {
      await this.#calls.post(this.#call)
    } catch (error) {
      throw withLocalHint(error)
    }
  }

  /** What is under way fails with `ABORTED`. */
  close(): Promise<void> {
    return this.#calls.close()
  }
}
