/** Reports failures between the forwarder and NATS: once per part until it works again. Short failures are not reported. */
import type { Reporter } from '../diagnostics/reporter.js'
import type { Clock } from '../shared/clock.js'
import type { IngestErrorCode } from '../shared/errors.js'

/** As for failures of the service. A leader that shuts down is replaced within this time. */
const REPORT_AFTER_MS = 5_000
/** Longer than the pauses between the requests that need a permission. */
const REFUSED_MS = 60_000

interface Failure {
  readonly code: IngestErrorCode
  readonly message: string
  readonly isLasting: boolean
  isReported: boolean
  cancel: () => void
}

export interface QueueHealthOptions {
  readonly clock: Clock
  readonly report: Pick<Reporter, 'problem' | 'note' | 'discard'>
}

export class QueueHealth {
  readonly #options: QueueHealthOptions
  readonly #failures = new Map<string, Failure>()
  #isEnded = false

  constructor(options: QueueHealthOptions) {
    this.#options = options
  }

  /** The oldest failure that a user has to correct, since others follow from it; otherwise the oldest. */
  get lastError(): string | undefined {
    const failures = [...this.#failures.values()]
    return (failures.find(({ isLasting }) => isLasting) ?? failures[0])?.message
  }

  /**
   * @param part one of few fixed names, such as `the connection`
   * @param isLasting a user has to correct it: reported immediately
   */
  failed(part: string, code: IngestErrorCode, reason: string, isLasting = false): void {
    if (this.#isEnded) return
    const message = `NATS: ${part}: ${reason}`
    const known = this.#failures.get(part)
    if (known !== undefined) {
      // Later failures are consequences of the first, except one that a user has to correct.
      if (known.message === message || !isLasting) return
      known.cancel()
    }
    const report = (): void => {
      failure.isReported = true
      this.#options.report.problem(code, `${message}; batches stay in the queue`)
    }
    const cancel = isLasting ? (): void => {} : this.#options.clock.timer(REPORT_AFTER_MS, report)
    const failure: Failure = { code, message, isLasting, isReported: false, cancel }
    this.#failures.set(part, failure)
    if (isLasting) report()
  }

  /**
   * Reports a missing permission. The server names only a subject, so no success ends this failure: it ends a minute after its last
   * repetition.
   */
  refused(part: string, reason: string): void {
    if (this.#isEnded) return
    this.failed(part, 'AUTH', reason, true)
    const failure = this.#failures.get(part)
    if (failure === undefined) return
    failure.cancel()
    failure.cancel = this.#options.clock.timer(REFUSED_MS, () => this.#failures.delete(part))
  }

  works(part: string): void {
    const failure = this.#failures.get(part)
    if (failure === undefined) return
    failure.cancel()
    this.#failures.delete(part)
    // A delayed report of the failure would be out of date.
    if (failure.isReported && this.#options.report.discard([failure.code])) return
    if (failure.isReported) this.#options.report.note(`works ${part}`, `NATS: ${part} works again`)
  }

  /** Call before the connection is closed: requests that it ends are not failures. */
  end(): void {
    this.#isEnded = true
    for (const { cancel } of this.#failures.values()) cancel()
  }
}
