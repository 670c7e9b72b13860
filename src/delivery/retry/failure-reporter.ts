/** What the user is told about a service that fails: enough to mend it, and nothing of a hiccup that mends itself. */
import type { Clock } from '../../shared/clock.js'
import type { IngestErrorCode } from '../../shared/errors.js'
import { SERVICE_MESSAGES } from '../../diagnostics/messages.js'
import type { Message } from '../../diagnostics/messages.js'
import type { Reporter } from '../../diagnostics/reporter.js'
import type { Retryable, EndpointRejected } from '../../batch/sender.js'
import type { CircuitBreakerOptions } from './circuit-breaker.js'

/** An outage this long, or known to become this long, is told. */
const TELL_FROM_MS = 5000

/** A wrong key or URL lasts until somebody corrects it: a line for every probe would only fill the log. */
const REPEAT_MS = 3_600_000
const RECOVERED = 'recovered'

export interface FailureReporter extends Required<Pick<CircuitBreakerOptions, 'onFailure'>> {
  onRecovery(outageAgeMs: number): void
  /** The app ends: a line about a next attempt that is still held back is not written. */
  end(): void
}

export interface FailureReporterOptions {
  /** What happens to the entries until the next attempt. Default: `entries are kept`. */
  readonly meanwhile?: string
  /** Milliseconds until a failure of the same code is reported again while the outage lasts. Default 0; a wrong key or URL: 1 h. */
  readonly repeatMs?: number
}

/** @returns the two callbacks of a `Gate`. Of what is held back only the latest state of the service is let out. */
export function createFailureReporter(
  report: Pick<Reporter, 'problem' | 'note' | 'discard'>,
  clock: Pick<Clock, 'now'>,
  { meanwhile = 'entries are kept', repeatMs = 0 }: FailureReporterOptions = {},
): FailureReporter {
  /** By code: when it was last told in this outage. */
  const toldAt = new Map<IngestErrorCode, number>()
  return {
    onFailure(trouble, outageAgeMs, waitMs, isEnding) {
      const { code, text } = selectMessage(trouble)
      const now = clock.now()
      if (trouble.kind === 'later' && outageAgeMs + waitMs < TELL_FROM_MS) return
      if (now - (toldAt.get(code) ?? -Infinity) < (trouble.kind === 'misconfigured' ? REPEAT_MS : repeatMs)) return
      report.discard([RECOVERED, ...[...toldAt.keys()].filter((other) => other !== code)])
      toldAt.set(code, now)
      const next = isEnding ? '' : `; ${meanwhile}, next attempt in ${seconds(waitMs)} s`
      report.problem(code, `${text(describeFailure(trouble))}${next}`, trouble.status)
    },
    onRecovery(outageAgeMs) {
      if (toldAt.size === 0) return
      report.discard([...toldAt.keys()])
      toldAt.clear()
      report.note(RECOVERED, SERVICE_MESSAGES.recovered.text(seconds(outageAgeMs)))
    },
    end: () => report.discard([...toldAt.keys()]),
  }
}

/** The cause, and what the user can do where that is known. */
export function describeFailure(failure: Retryable | EndpointRejected): string {
  return 'remedy' in failure && failure.remedy !== undefined ? `${failure.reason}. ${failure.remedy}` : failure.reason
}

function selectMessage({ kind, status }: Retryable | EndpointRejected): Message & { readonly code: IngestErrorCode } {
  if (kind === 'later') return status === 429 ? SERVICE_MESSAGES.rateLimited : SERVICE_MESSAGES.unavailable
  if (status === 400 || status === 413 || status === 422) return SERVICE_MESSAGES.everythingRejected
  if (status === 401 || status === 403) return SERVICE_MESSAGES.keyRejected
  return status === undefined ? SERVICE_MESSAGES.localServiceUnverified : SERVICE_MESSAGES.wrongUrl
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
