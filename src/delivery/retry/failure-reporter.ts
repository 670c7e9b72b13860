/** Reports failures of the service to the user, except for short ones. */
import type { Clock } from '../../shared/clock.js'
import type { IngestErrorCode } from '../../shared/errors.js'
import { QUEUE_MESSAGES, SERVICE_MESSAGES } from '../../diagnostics/messages.js'
import type { Message } from '../../diagnostics/messages.js'
import type { Reporter } from '../../diagnostics/reporter.js'
import type { EndpointRejected, QueueFailure, Retryable } from '../../batch/outcome.js'
import type { CircuitBreakerOptions } from './circuit-breaker.js'

/** An outage is reported if it will have reached this age by the next attempt. */
const REPORT_FROM_MS = 5000

/** A wrong key or URL lasts until somebody corrects it, so not every probe is reported. */
const REPEAT_MS = 3_600_000
const RECOVERED = 'recovered'

export interface FailureReporter extends Required<Pick<CircuitBreakerOptions, 'onFailure'>> {
  onRecovery(): void
  /** Called at shutdown. Discards throttled lines that announce a next attempt. */
  end(): void
}

export interface FailureReporterOptions {
  /** Base URL of the service, for the messages about a wrong key or URL. */
  readonly url: string
  /** Whether undelivered entries are on disk under their key. Default false. */
  readonly hasSpool?: boolean
  /** Describes what happens until the next attempt. Default: `entries are kept`. */
  readonly meanwhile?: string
  /** Milliseconds until a failure of the same code is reported again while the outage lasts. Default 0; a wrong key or URL: 1 h. */
  readonly repeatMs?: number
}

/**
 * @returns a listener of `FailureState`. Of throttled lines, only the one with the latest state of the service is
 * written.
 */
export function createFailureReporter(
  report: Pick<Reporter, 'problem' | 'note' | 'discard'>,
  clock: Pick<Clock, 'now'>,
  { url, hasSpool = false, meanwhile = 'entries are kept', repeatMs = 0 }: FailureReporterOptions,
): FailureReporter {
  /** By code: when it was last reported in this outage. */
  const reportedAt = new Map<IngestErrorCode, number>()
  /** State in the latest line, which may still be throttled, and in the latest written line. */
  let isDown = false
  let isShownDown = false
  let downSince = 0
  let isQueueDown = false
  /** Discards throttled lines of these kinds, because they are outdated. */
  const discard = (kinds: Iterable<string>): void => {
    if (report.discard([...kinds])) isDown = isShownDown
    else isShownDown = isDown
  }
  return {
    onFailure(failure, outageAgeMs, waitMs, isEnding) {
      if (!isDown) discard([RECOVERED])
      const { code, text } = selectMessage(failure)
      const now = clock.now()
      if (failure.kind === 'retryable' && outageAgeMs + waitMs < REPORT_FROM_MS) return
      if (now - (reportedAt.get(code) ?? -Infinity) < (failure.kind === 'endpoint-rejected' ? REPEAT_MS : repeatMs))
        return
      discard(reportedAt.keys())
      if (!isDown) downSince = now - outageAgeMs
      isDown = true
      isQueueDown = failure.queue !== undefined
      reportedAt.set(code, now)
      const next = isEnding
        ? ''
        : `; ${meanwhile}, next attempt ${waitMs > 0 ? `in ${seconds(waitMs)} s` : 'with other entries, else in 60 s'}`
      report.problem(code, `${text(describeFailure(failure), url, hasSpool)}${next}`, failure.status)
    },
    onRecovery() {
      discard(reportedAt.keys())
      reportedAt.clear()
      if (!isDown) return
      isDown = false
      const recovered = isQueueDown ? QUEUE_MESSAGES.queueRecovered : SERVICE_MESSAGES.recovered
      report.note(RECOVERED, recovered.text(seconds(clock.now() - downSince)))
    },
    end: () => discard(reportedAt.keys()),
  }
}

/** The reason and the remedy, if there is one. */
export function describeFailure(failure: Retryable | EndpointRejected): string {
  return 'remedy' in failure && failure.remedy !== undefined ? `${failure.reason}. ${failure.remedy}` : failure.reason
}

type FailureMessage = Message & { readonly code: IngestErrorCode }

const OF_QUEUE: Readonly<Record<QueueFailure, FailureMessage>> = {
  unavailable: QUEUE_MESSAGES.queueUnavailable,
  full: QUEUE_MESSAGES.queueFull,
  unauthorized: QUEUE_MESSAGES.credentialsRejected,
  forbidden: QUEUE_MESSAGES.publishForbidden,
  misconfigured: QUEUE_MESSAGES.queueMisconfigured,
}

/** Whether the service, not the queue, rejects the key. */
export function isKeyRejected(failure: Retryable | EndpointRejected): boolean {
  return selectMessage(failure) === SERVICE_MESSAGES.keyRejected
}

function selectMessage({ kind, status, queue }: Retryable | EndpointRejected): FailureMessage {
  if (queue !== undefined) return OF_QUEUE[queue]
  if (kind === 'retryable') return status === 429 ? SERVICE_MESSAGES.rateLimited : SERVICE_MESSAGES.unavailable
  if (status === 400 || status === 413 || status === 422) return SERVICE_MESSAGES.everythingRejected
  if (status === 401 || status === 403) return SERVICE_MESSAGES.keyRejected
  return status === undefined ? SERVICE_MESSAGES.localServiceUnverified : SERVICE_MESSAGES.wrongUrl
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
