/** Converts an error of the NATS client to the outcome of a publish attempt. */
import type { EndpointRejected, Refused, Retryable } from '../batch/outcome.js'
import { isAuthorizationError, isPermissionError, isUnanswered, JETSTREAM_CODES, readErrorCode } from './nats-error.js'
import { toMessage } from '../shared/errors.js'

export type PublishFailure = Retryable | EndpointRejected | Refused

/** The account's limit, the server's storage, the stream's `max_bytes` or `max_msgs`. */
const FULL: ReadonlySet<number> = new Set([
  JETSTREAM_CODES.accountLimit,
  JETSTREAM_CODES.insufficientResources,
  JETSTREAM_CODES.memoryExceeded,
  JETSTREAM_CODES.insufficientStorage,
  JETSTREAM_CODES.storeFailed,
])
/** For example if another stream has the subject. */
const MISCONFIGURED: ReadonlySet<number> = new Set([
  JETSTREAM_CODES.notEnabledForAccount,
  JETSTREAM_CODES.otherStream,
  JETSTREAM_CODES.streamNotFound,
  JETSTREAM_CODES.streamSealed,
])
/** The HTTP status for which a batch is halved. */
const TOO_LARGE_STATUS = 413

/** Unknown errors are retried, since a retry loses nothing. */
export function toPublishFailure(error: unknown): PublishFailure {
  const reason = describe(error)
  const code = readErrorCode(error)
  const isOverMaxPayload = nameOf(error) === 'InvalidArgumentError' && reason.includes('max_payload')
  if (code === JETSTREAM_CODES.messageTooLarge || isOverMaxPayload) return createTooLarge(reason)
  if (code !== undefined && MISCONFIGURED.has(code)) return createMisconfigured(reason)
  if (code !== undefined && FULL.has(code)) return { kind: 'retryable', reason, queue: 'full' }
  if (isPermissionError(error)) return { kind: 'endpoint-rejected', reason, queue: 'forbidden' }
  if (isAuthorizationError(error)) return { kind: 'endpoint-rejected', reason, queue: 'unauthorized' }
  return { kind: 'retryable', reason, queue: 'unavailable' }
}

export function createMisconfigured(reason: string): EndpointRejected {
  return { kind: 'endpoint-rejected', reason, queue: 'misconfigured' }
}

export function createTooLarge(reason: string): Refused {
  return { kind: 'refused', status: TOO_LARGE_STATUS, reason, rejected: [] }
}

function describe(error: unknown): string {
  if (isUnanswered(error))
    return 'no JetStream stream responds: its servers elect a leader, or JetStream is not enabled'
  if (nameOf(error) === 'TimeoutError') return 'no acknowledgement in time'
  const text = toMessage(error)
  const code = readErrorCode(error)
  return code === undefined ? text : `${text} (${code})`
}

function nameOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined
}
