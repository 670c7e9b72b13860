/** What fails between the forwarder and NATS: reported once for each part until it works again, short failures not at all. */
import type { Reporter } from '../../diagnostics/reporter.js'
import type { Clock } from '../../shared/clock.js'
import type { IngestErrorCode } from '../../shared/errors.js'

/** As for failures of the service: a leader that was stopped in order is replaced sooner. */
const REPORT_AFTER_MS = 5_000

interface Failure {
  readonly code: IngestErrorCode
  readonly message: string
  readonly isLasting: boolean
  isReported: boolean
  readonly cancel: () => void
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

  /** The oldest failure that somebody has to correct, since others follow from it; else the oldest. */
  get lastError(): string | undefined {
    const failures = [...this.#failures.values()]
    return (failures.find(({ isLasting }) => isLasting) ?? failures[0])?.message
  }

  /**
   * @param part one of a fixed few, as `the connection`
   * @param isLasting somebody has to correct it: reported at once
   */
  failed(part: string, code: IngestErrorCode, reason: string, isLasting = false): void {
    if (this.#isEnded) return
    const message = `NATS: ${part}: ${reason}`
    const known = this.#failures.get(part)
    if (known !== undefined) {
      // Later reasons are consequences of the first, unless one names what has to be corrected.
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

  works(part: string): void {
    const failure = this.#failures.get(part)
    if (failure === undefined) return
    failure.cancel()
    this.#failures.delete(part)
    // A line that was held back would be out of date.
    if (failure.isReported && this.#options.report.discard([failure.code])) return
    if (failure.isReported) this.#options.report.note(`works ${part}`, `NATS: ${part} works again`)
  }

  /** Requests that end with the connection are no failures. */
  end(): void {
    this.#isEnded = true
    for (const { cancel } of this.#failures.values()) cancel()
  }
}
