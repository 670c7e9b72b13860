/** Reports failures of the log service to the user, except for short ones. A subscriber of delivery's events. */
import type { EndpointRejected, QueueFailure, Refused, Retryable } from '../batch/outcome.js'
import { QUEUE_MESSAGES, SERVICE_MESSAGES } from '../diagnostics/messages.js'
import type { Message } from '../diagnostics/messages.js'
import type { Reporter } from '../diagnostics/reporter.js'
import type { Clock } from '../shared/clock.js'
import type { IngestErrorCode } from '../shared/errors.js'
import type { DeliveryEvent } from './delivery-event.js'

/** An outage is reported if it will have reached this age by the next attempt. */
const REPORT_FROM_MS = 5_000
/** A wrong key or URL lasts until somebody corrects it, so not every probe is reported. */
const REPEAT_MS = 3_600_000
/** If nothing was accepted yet, the key or the URL is the likely cause. */
const REFUSALS_AT_START = 3
const RECOVERED = 'recovered'

export interface FailureReporter {
  onEvent(event: DeliveryEvent): void
  /** Whether the log service rejects the key, as far as it was reported. */
  readonly isKeyRejected: boolean
  /** Called at shutdown. Discards throttled lines that announce a next attempt. */
  end(): void
}

export interface FailureReporterOptions {
  readonly report: Pick<Reporter, 'problem' | 'note' | 'discard'>
  readonly clock: Pick<Clock, 'now'>
  /** Base URL of the log service, for the messages about a wrong key or URL. */
  readonly url: string
  /** Describes what happens until the next attempt. Default: `entries wait`. */
  readonly meanwhile?: string | undefined
}

/** Of throttled lines, only the one with the latest state of the log service is written. */
export function createFailureReporter({
  report,
  clock,
  url,
  meanwhile = 'entries wait',
}: FailureReporterOptions): FailureReporter {
  /** By code: when it was last reported in this outage. */
  const reportedAt = new Map<IngestErrorCode, number>()
  /** Whether the latest reported line, which may be throttled, and the latest written one are about a failure. */
  let isFailureReported = false
  let isFailureWritten = false
  /** Start of the current failures, undefined after an acceptance; and start of those that were reported last. */
  let since: number | undefined
  let reportedSince = 0
  let isQueueDown = false
  let isKeyRejected = false
  /** Discards throttled lines of these kinds, because they are outdated. */
  const discard = (kinds: Iterable<string>): void => {
    if (report.discard([...kinds])) isFailureReported = isFailureWritten
    else isFailureWritten = isFailureReported
  }
  const failed = (failure: Failure, startedAt: number, waitMs: number, isLast: boolean): void => {
    since ??= startedAt
    if (!isFailureReported) discard([RECOVERED])
    const message = selectMessage(failure)
    const now = clock.now()
    const isLasting = failure.kind !== 'retryable'
    isKeyRejected = message === SERVICE_MESSAGES.keyRejected
    if (!isLasting && now - since + waitMs < REPORT_FROM_MS) return
    if (now - (reportedAt.get(message.code) ?? -Infinity) < (isLasting ? REPEAT_MS : 0)) return
    discard(reportedAt.keys())
    if (!isFailureReported) reportedSince = since
    isFailureReported = true
    isQueueDown = 'queue' in failure && failure.queue !== undefined
    reportedAt.set(message.code, now)
    const next = isLast
      ? ''
      : `; ${meanwhile}, next attempt ${waitMs > 0 ? `in ${seconds(waitMs)} s` : 'with other entries, else in 60 s'}`
    report.problem(message.code, `${message.text(failure.reason, url)}${next}`, failure.status)
  }
  return {
    get isKeyRejected() {
      return isKeyRejected
    },
    onEvent(event) {
      if (event.kind === 'paused') failed(event.failure, clock.now(), event.delayMs, event.isLast)
      else if (event.kind === 'failed') {
        const { health, failure, hasAccepted, isRepeated, waitMs, isLast } = event
        if (failure.kind === 'refused' && !isLast && health.kind === 'denied') {
          // Other entries show within seconds whether only one payload is refused.
          const isFirst = hasAccepted && health.refusals === 1 && !isRepeated
          const isEnough = !hasAccepted && health.refusals >= REFUSALS_AT_START
          if (isFirst || (waitMs < REPORT_FROM_MS && !isEnough)) return
        }
        failed(failure, health.since, waitMs, isLast)
      } else if (event.kind === 'accepted' && since !== undefined) {
        since = undefined
        isKeyRejected = false
        discard(reportedAt.keys())
        reportedAt.clear()
        if (!isFailureReported) return
        isFailureReported = false
        const destination = isQueueDown ? 'NATS' : 'the log service'
        report.note(RECOVERED, SERVICE_MESSAGES.recovered.text(destination, seconds(clock.now() - reportedSince)))
      }
    },
    end: () => discard(reportedAt.keys()),
  }
}

type Failure = Refused | Retryable | EndpointRejected

type FailureMessage = Message & { readonly code: IngestErrorCode }

const OF_QUEUE: Readonly<Record<QueueFailure, FailureMessage>> = {
  unavailable: QUEUE_MESSAGES.queueUnavailable,
  full: QUEUE_MESSAGES.queueFull,
  unauthorized: QUEUE_MESSAGES.credentialsRejected,
  forbidden: QUEUE_MESSAGES.publishForbidden,
  misconfigured: QUEUE_MESSAGES.queueMisconfigured,
}

function selectMessage(failure: Failure): FailureMessage {
  const { kind, status } = failure
  if (kind !== 'refused' && failure.queue !== undefined) return OF_QUEUE[failure.queue]
  if (kind === 'retryable' && failure.processFailure !== undefined) return SERVICE_MESSAGES.cannotSend
  if (kind === 'retryable') return status === 429 ? SERVICE_MESSAGES.rateLimited : SERVICE_MESSAGES.unavailable
  if (status === 400 || status === 413 || status === 422) return SERVICE_MESSAGES.everythingRejected
  if (status === 401 || status === 403) return SERVICE_MESSAGES.keyRejected
  return SERVICE_MESSAGES.wrongUrl
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
