/** Reports failures between the forwarder and NATS: once per part until it works again. Short failures are not reported. */
import type { Reporter } from '../diagnostics/reporter.js'
import type { Clock } from '../shared/clock.js'
import type { IngestErrorCode } from '../shared/errors.js'

/** As for failures of the service. A leader that shuts down is replaced within this time. */
const REPORT_AFTER_MS = 5_000
/** Longer than the pauses between the requests that need a permission. */
const ENDS_AFTER_MS = 60_000

interface Failure {
  readonly code: IngestErrorCode
  readonly message: string
  readonly isLasting: boolean
  readonly firstAt: number
  lastAt: number
  isReported: boolean
}

export interface QueueHealthOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly report: Pick<Reporter, 'problem' | 'note' | 'discard'>
}

export class QueueHealth {
  readonly #options: QueueHealthOptions
  readonly #failures = new Map<string, Failure>()

  constructor(options: QueueHealthOptions) {
    this.#options = options
  }

  /** The oldest failure that a user has to correct, since others follow from it; otherwise the oldest. */
  get lastError(): string | undefined {
    this.#expire()
    const failures = [...this.#failures.values()]
    return (failures.find(({ isLasting }) => isLasting) ?? failures[0])?.message
  }

  /**
   * Call for each attempt. A failure ends when its part works, or a minute after its last repetition: the server names a missing permission
   * only by its subject, which no success names.
   * @param part one of few fixed names, such as `the connection`
   * @param isLasting a user has to correct it: reported immediately
   */
  failed(part: string, code: IngestErrorCode, reason: string, isLasting = false): void {
    this.#expire()
    const now = this.#options.clock.now()
    const message = `NATS: ${part}: ${reason}`
    const known = this.#failures.get(part)
    // Later failures are consequences of the first, except one that a user has to correct.
    const isSame = known !== undefined && (known.message === message || !isLasting)
    const failure = isSame ? known : { code, message, isLasting, firstAt: now, lastAt: now, isReported: false }
    failure.lastAt = now
    this.#failures.set(part, failure)
    if (failure.isReported || (!isLasting && now - failure.firstAt < REPORT_AFTER_MS)) return
    failure.isReported = true
    this.#options.report.problem(code, `${message}; the forwarder keeps trying`)
  }

  works(part: string): void {
    const failure = this.#failures.get(part)
    this.#failures.delete(part)
    // A delayed report of the failure would be out of date.
    if (failure?.isReported !== true || this.#options.report.discard([failure.code])) return
    this.#options.report.note(`works ${part}`, `NATS: ${part} works again`)
  }

  #expire(): void {
    const now = this.#options.clock.now()
    for (const [part, { lastAt }] of this.#failures) if (now - lastAt >= ENDS_AFTER_MS) this.#failures.delete(part)
  }
}
