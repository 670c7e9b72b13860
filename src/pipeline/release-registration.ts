/** `registerRelease`: registers the release. Entries do not wait for it; those logged after the reply get its id. */
import { SERVICE_MESSAGES } from '../diagnostics/messages.js'
import type { Reporter } from '../diagnostics/reporter.js'
import type { Settings } from '../options/settings.js'
import type { Clock } from '../shared/clock.js'
import { IngestError } from '../shared/errors.js'
import type { KeyPause } from '../shared/key-pause.js'
import { withoutTracing } from '../shared/without-tracing.js'

export interface ReleaseRegistrationOptions {
  readonly settings: Settings
  readonly clock: Clock
  readonly report: Pick<Reporter, 'problem'>
  readonly pause: KeyPause
  readonly onRegistered: (releaseId: string) => void
}

/** The registration is retried after a Retry-After at most this often, because each 429 also pauses delivery. */
const MAX_WAITS = 2

export class ReleaseRegistration {
  readonly #options: ReleaseRegistrationOptions
  readonly #abort = new AbortController()
  /** Whether an attempt is in progress or has succeeded. */
  #isStarted = false
  #waits = 0

  constructor(options: ReleaseRegistrationOptions) {
    this.#options = options
  }

  /** Called at the start, and when the service accepts entries again. Makes one attempt, unless it is not needed. */
  register(): void {
    if (this.#isStarted || this.#abort.signal.aborted) return
    this.#isStarted = true
    void this.#register()
  }

  stop(): void {
    this.#abort.abort()
  }

  async #register(): Promise<void> {
    const { settings, clock, pause, report, onRegistered } = this.#options
    const { signal } = this.#abort
    try {
      // Loaded on demand, because it loads the client and child_process, which other workers do not need.
      const { registerDetectedRelease, toReleaseOptions } =
        await import('../client/release/register-detected-release.js')
      signal.throwIfAborted()
      if (pause.leftMs > 0) return this.#retryLater(true)
      const options = { ...toReleaseOptions(settings), signal }
      onRegistered(await withoutTracing(() => registerDetectedRelease(options, { clock, pause })))
    } catch (error) {
      if (signal.aborted) return
      const { code, message } = error instanceof IngestError ? error : new IngestError('UNAVAILABLE', String(error))
      report.problem(code, SERVICE_MESSAGES.releaseNotRegistered.text(message))
      this.#retryLater(code === 'RATE_LIMITED')
    }
  }

  /** After a Retry-After, or when the service accepts entries again. */
  #retryLater(isPaused: boolean): void {
    const { clock, pause } = this.#options
    this.#isStarted = false
    if (!isPaused || this.#waits === MAX_WAITS) return
    this.#waits += 1
    clock.timer(pause.leftMs, () => this.register())
  }
}
