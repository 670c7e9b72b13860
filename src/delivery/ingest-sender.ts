/** The innermost sender: one request, and its reply as an outcome. What of it depends on the endpoint is data. */
import type { Clock } from '../shared/clock.js'
import { HttpFailure } from '../client/http-types.js'
import type { Http, HttpReply } from '../client/http-types.js'
import {
  classifyReply,
  hasErrorOutsideList,
  parseIngestResult,
  parseRejected,
  describeReply,
  parseRetryAfterMs,
} from '../client/reply-parser.js'
import type { ExpectedBody, ItemList } from '../client/reply-parser.js'
import type { IngestResult, IngestResultError } from '../protocol/ingest-result.js'
import { PATHS } from '../protocol/limits.js'
import type { Batch, Delivered, Retryable, Outcome, Sender } from '../batch/sender.js'

export interface IngestSenderOptions {
  readonly http: Http
  readonly clock: Clock
  /** Added to the reason where there was no reply at all. */
  readonly hint?: string | undefined
  /** Takes secrets out of the words of a reply. */
  readonly mask?: (words: string) => string
}

/** An endpoint that takes batches. */
export interface BatchEndpoint {
  readonly path: string
  readonly list: ItemList
  /** Of a 2xx. */
  readonly expected: ExpectedBody
}

const INGEST: BatchEndpoint = { path: PATHS.ingest, list: 'logs', expected: 'ingest-result' }

export function createIngestSender(options: IngestSenderOptions): Sender {
  return createBatchSender(INGEST, options)
}

/** The batch's body is that of the request. */
export function createBatchSender(endpoint: BatchEndpoint, { http, clock, hint, mask }: IngestSenderOptions): Sender {
  return {
    async send(batch, signal) {
      // Sent, it might be answered with a 2xx, and would count as accepted.
      if (batch.body.length === 0)
        return { kind: 'given-up', reason: 'a batch without its body: this is a bug, please report it' }
      try {
        const { body, contentEncoding } = batch
        const reply = await http.post(endpoint.path, body, {
          signal,
          ...(contentEncoding !== undefined && { contentEncoding }),
        })
        return outcomeOf(endpoint, batch, reply, clock.wallNow(), mask)
      } catch (error) {
        if (error instanceof HttpFailure && error.kind === 'unproven')
          return { kind: 'misconfigured', reason: error.message, remedy: error.remedy }
        // Mostly an HttpFailure. Anything else is no judgement on the batch either, so it is kept and told.
        const reason = error instanceof Error ? error.message : String(error)
        return { kind: 'later', reason: hint === undefined ? reason : `${reason}; ${hint}` }
      }
    },
  }
}

/** @param wallNowMs when the reply came, for a Retry-After that is a date */
function outcomeOf(
  { list, expected }: BatchEndpoint,
  batch: Batch,
  reply: HttpReply,
  wallNowMs: number,
  mask: IngestSenderOptions['mask'],
): Outcome {
  const { status } = reply
  const reasonIn = (): string => describeReply(reply, mask, list)
  const kind = classifyReply(reply, expected)
  switch (kind) {
    case 'ok': {
      const result = parseIngestResult(reply.text)
      if (result === undefined)
        return {
          kind: 'delivered',
          accepted: batch.count,
          rejected: [],
          ...(expected === 'ingest-result' && { unreadable: true as const }),
        }
      return delivered(batch, status, result, 0)
    }
    case 'refused': {
      const result = parseIngestResult(reply.text)
      // Sent again, the entries that it took would arrive twice.
      if (result !== undefined && result.accepted > 0)
        return delivered(batch, status, result, batch.count - result.accepted)
      const reason = reasonIn()
      const rejected = within(batch, parseRejected(reply.text, list))
      // No entry is at fault, so that every batch would be refused.
      if (rejected.length === 0 && status !== 413 && hasErrorOutsideList(reply.text, list))
        return { kind: 'misconfigured', status, reason }
      return { kind: 'refused', status, reason, rejected }
    }
    case 'later': {
      const later: Retryable = { kind: 'later', status, reason: reasonIn() }
      const waitMs = parseRetryAfterMs(reply, wallNowMs)
      return waitMs === undefined ? later : { ...later, retryAfterMs: waitMs }
    }
    case 'misconfigured':
      return { kind: 'misconfigured', status, reason: reasonIn() }
  }
}

/**
 * The interface does not show whether numbers and list of a result always agree, so the larger count of rejected
 * entries is believed: an entry wrongly called rejected is reported, one wrongly called accepted is lost in silence.
 */
function delivered(batch: Batch, status: number, result: IngestResult, atLeastRejected: number): Delivered {
  const rejected = within(batch, result.errors)
  const named = new Set(rejected.map((item) => item.index)).size
  const count = Math.min(batch.count, Math.max(named, result.rejected, atLeastRejected))
  return { kind: 'delivered', accepted: batch.count - count, rejected, ...(rejected.length > 0 && { status }) }
}

function within(batch: Batch, errors: readonly IngestResultError[]): IngestResultError[] {
  return errors.filter(({ index }) => index >= 0 && index < batch.count)
}
