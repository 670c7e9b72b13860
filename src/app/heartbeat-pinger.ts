/** [main] One monitor's heartbeats: its token, and the way to the service, which takes no key. */
import { Calls } from '../client/calls.js'
import { checkToken } from '../client/check.js'
import { createHttp } from '../client/http.js'
import type { Clock } from '../clock.js'
import { IngestError } from '../errors.js'
import { Secret, resolveFromProcess } from '../options.js'
import type { IngestOptions } from '../options.js'
import { PATHS } from '../protocol/limits.js'
import { withLocalHint } from './one-call.js'

const OPTION_NAMES = ['url', 'apiKey', 'allowInsecure', 'tls', 'proxy', 'requestTimeoutMs', 'retryMinMs', 'retryMaxMs'] as const

/** As those of `IngestClient`. A key may be given as to the other helpers; a heartbeat carries none. */
export type PingOptions = Pick<IngestOptions, (typeof OPTION_NAMES)[number]>

/** The options want one. So short that it is masked in no message. */
const UNUSED_KEY = 'none'
const MAX_ATTEMPTS = 3
/** For all attempts together, where somebody waits for the end. */
const PING_LIMIT_MS = 30_000

export class Pinger {
  /** Set where a key was given without a URL: what to tell the user. */
  readonly keyWarning: string | undefined
  readonly #token: Secret
  readonly #calls: Calls
  readonly #clock: Clock

  /**
   * @param clock whose timers keep the process alive, or do not, while an attempt is waited for
   * @throws IngestError `INVALID` for a token that no monitor has, `CONFIG` for the options
   */
  constructor(token: string, options: PingOptions, clock: Clock) {
    this.#token = new Secret(checkToken(token))
    this.#clock = clock
    const settings = resolveFromProcess({ ...options, apiKey: UNUSED_KEY }, OPTION_NAMES)
    // The stand-in hides what was given; without a URL no key is required.
    this.keyWarning = settings.isLocalDefault ? resolveFromProcess(options, OPTION_NAMES).keyWarning : undefined
    this.#calls = new Calls({
      ...settings, apiKey: UNUSED_KEY, maxAttempts: MAX_ATTEMPTS, clock, random: Math.random,
      http: createHttp({ ...settings, apiKey: UNUSED_KEY, maxConnections: 1 }),
    })
  }

  /** @throws IngestError as `IngestClient.heartbeat`. A Retry-After is waited for, however long. */
  async ping(signal?: AbortSignal): Promise<void> {
    const token = this.#token.reveal()
    try {
      await this.#calls.post({ path: PATHS.heartbeat + token, body: null, signal, secrets: [token] })
    } catch (error) {
      throw withLocalHint(error)
    }
  }

  /** As `ping`, within 30 s. */
  async pingInTime(): Promise<void> {
    const ended = new AbortController()
    const cancel = this.#clock.timer(PING_LIMIT_MS, () => ended.abort())
    try {
      await this.ping(ended.signal)
    } catch (error) {
      throw ended.signal.aborted ? new IngestError('UNAVAILABLE', `the service did not take it within ${PING_LIMIT_MS} ms`) : error
    } finally {
      cancel()
    }
  }

  /** What is under way fails with `ABORTED`. */
  close(): Promise<void> {
    return this.#calls.close()
  }
}
