/** The innermost sender: one request, and its reply as an outcome. */
import type { Clock } from '../shared/clock.js'
import { withoutTracing } from '../shared/without-tracing.js'
import { HttpFailure } from '../client/http-types.js'
import type { Http, HttpReply } from '../client/http-types.js'
import {
  classifyReply,
  hasErrorOutsideList,
  parseIngestResult,
  parseRejected,
  canBeResultOf,
  describeReply,
  parseRetryAfterMs,
} from '../client/reply-parser.js'
import type { ExpectedBody, ItemList, ReplyKind } from '../client/reply-parser.js'
import type { IngestResult } from '../protocol/ingest-result.js'
import { PATHS } from '../protocol/limits.js'
import type { Batch } from '../batch/batch.js'
import type { Delivered, Retryable, Outcome } from '../batch/outcome.js'
import type { Sender } from '../batch/sender.js'
import { toMessage } from '../shared/errors.js'

export interface IngestSenderOptions {
  readonly http: Pick<Http, 'post'>
  readonly clock: Clock
  /** Added to the reason if there was no reply, and its failure has no remedy. */
  readonly hint?: string | undefined
  /** Masks secrets in texts of the service. */
  readonly mask?: (text: string) => string
}

/** An endpoint that accepts batches. */
interface BatchEndpoint {
  readonly path: string
  readonly list: ItemList
  /** Body of a 2xx. */
  readonly expected: ExpectedBody
}

const INGEST: BatchEndpoint = { path: PATHS.ingest, list: 'logs', expected: 'ingest-result' }

/** The interface shows neither the status of a success nor its body (`POST /ingest/requests`, docs/protocol.md). */
const REQUESTS: BatchEndpoint = { path: PATHS.requests, list: 'requests', expected: 'json' }

/** The first occurrence is the key, because a batch id contains only letters, digits and hyphens. */
const LOGS_KEY = '"logs":'
const REQUESTS_HEAD = Buffer.from('{"requests":')

const NO_BODY: Outcome = {
  kind: 'abandoned',
  reason: 'a batch without its body: this is a bug, please report it',
}

export function createIngestSender(options: IngestSenderOptions): Sender {
  return createBatchSender(INGEST, options)
}

/**
 * Sends request logs, whose batches have the form of all others until here: `{"batch_id":…,"logs":[…]}` becomes
 * `{"requests":[…]}`. The endpoint has no `batch_id`; the service recognizes duplicates by their `request_id`.
 */
export function createRequestsSender(options: IngestSenderOptions): Sender {
  const inner = createBatchSender(REQUESTS, options)
  return {
    async send(batch, signal) {
      const body = Buffer.from(batch.body.buffer, batch.body.byteOffset, batch.body.byteLength)
      const at = body.indexOf(LOGS_KEY)
      if (at === -1) return NO_BODY
      return inner.send({ ...batch, body: Buffer.concat([REQUESTS_HEAD, body.subarray(at + LOGS_KEY.length)]) }, signal)
    },
  }
}

/** Sends the body of the batch unchanged. */
function createBatchSender(endpoint: BatchEndpoint, { http, clock, hint, mask }: IngestSenderOptions): Sender {
  const readReply = createReplyReader(endpoint.expected)
  return {
    async send(batch, signal) {
      // An empty body might get a 2xx, and the batch would count as accepted.
      if (batch.body.length === 0) return NO_BODY
      try {
        const reply = await withoutTracing(() => http.post(endpoint.path, batch.body, { signal }))
        return toOutcome(endpoint, batch, reply, readReply(reply), clock, mask)
      } catch (error) {
        // Usually an HttpFailure. Other errors are not caused by the batch, either.
        const reason = toMessage(error)
        const { kind, remedy = hint } = error instanceof HttpFailure ? error : {}
        return {
          kind: 'retryable',
          reason: remedy === undefined ? reason : `${reason}; ${remedy}`,
          ...((kind === 'descriptors' || kind === 'client') && { processFailure: kind }),
          ...(kind === 'reset' && { mayConcernContent: true }),
          ...(kind === 'timeout' && { mayBeStored: true }),
        }
      }
    },
  }
}

/** A gateway stopped waiting for the service, and the service may have stored the batch. */
const MAY_BE_STORED: ReadonlySet<number> = new Set([408, 502, 504])

interface ReadReply {
  readonly kind: ReplyKind
  readonly result: IngestResult | undefined
}

/** Caches the last reply, because most replies are equal and parsing takes 30 us in a new process. */
function createReplyReader(expected: ExpectedBody): (reply: HttpReply) => ReadReply {
  let latest: HttpReply | undefined
  let read: ReadReply = { kind: 'ok', result: undefined }
  return (reply) => {
    const isEqual =
      reply.status === latest?.status && reply.text === latest.text && reply.truncated === latest.truncated
    if (!isEqual) read = { kind: classifyReply(reply, expected), result: parseIngestResult(reply.text) }
    latest = reply
    return read
  }
}

function toOutcome(
  { list, expected }: BatchEndpoint,
  batch: Batch,
  reply: HttpReply,
  { kind, result }: ReadReply,
  clock: Clock,
  mask: IngestSenderOptions['mask'],
): Outcome {
  const { status } = reply
  const reasonIn = (): string => describeReply(reply, mask, list)
  // Entries that the service did not count would be lost.
  if ((kind === 'ok' || kind === 'refused') && result !== undefined && !canBeResultOf(batch.count, result)) {
    return {
      kind: 'endpoint-rejected',
      status,
      reason: `${reasonIn()} cannot be the result of a batch of ${batch.count}`,
    }
  }
  switch (kind) {
    case 'ok': {
      if (result !== undefined) return delivered(batch, status, result)
      const unreadable = expected === 'ingest-result' || undefined
      return { kind: 'delivered', status, accepted: batch.count, rejected: [], unreadable }
    }
    case 'refused': {
      // Sending the batch again would duplicate the accepted entries.
      if (result !== undefined && result.accepted > 0) return delivered(batch, status, result)
      const reason = reasonIn()
      const rejected = parseRejected(reply.text, list).filter(({ index }) => index < batch.count)
      // The error is outside the entries, so every batch would be rejected.
      if (rejected.length === 0 && status !== 413 && hasErrorOutsideList(reply.text, list))
        return { kind: 'endpoint-rejected', status, reason }
      return { kind: 'refused', status, reason, rejected }
    }
    case 'retryable': {
      const later: Retryable = {
        kind: 'retryable',
        status,
        reason: reasonIn(),
        ...(MAY_BE_STORED.has(status) ? { mayBeStored: true } : { mayConcernContent: true }),
      }
      const waitMs = parseRetryAfterMs(reply, clock.wallNow())
      return waitMs === undefined ? later : { ...later, retryAfterMs: waitMs }
    }
    case 'endpoint-rejected':
      return { kind: 'endpoint-rejected', status, reason: reasonIn() }
  }
}

/**
 * The interface does not show whether the numbers and the list of a result always agree. The larger number of rejected
 * entries is used: an entry wrongly counted as rejected is reported, but one wrongly counted as accepted would be lost
 * silently.
 */
function delivered({ count }: Batch, status: number, { accepted, errors }: IngestResult): Delivered {
  const named = new Set(errors.map(({ index }) => index)).size
  return {
    kind: 'delivered',
    accepted: Math.min(accepted, count - named),
    rejected: errors,
    status,
    unreadable: accepted > count || undefined,
  }
}
