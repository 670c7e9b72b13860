/** Request logs on their way out: up to here a batch of them has the form of any other, `{"batch_id":…,"logs":[…]}`. */
import { PATHS } from '../protocol/limits.js'
import type { Sender } from '../batch/sender.js'
import { createBatchSender } from './ingest-sender.js'
import type { BatchEndpoint, IngestSenderOptions } from './ingest-sender.js'

/** The interface shows neither the status of a success nor its body (interface: POST /ingest/requests). */
const REQUESTS: BatchEndpoint = { path: PATHS.requests, list: 'requests', expected: 'json' }

/** The innermost sender: the batch's body is that of the request, as `requestsBody` makes it. */
export function createRequestsSender(options: IngestSenderOptions): Sender {
  return createBatchSender(REQUESTS, options)
}

/** The batch's id is letters, digits and hyphens: the first of these is the key. */
const LOGS_KEY = '"logs":'
const REQUESTS_HEAD = Buffer.from('{"requests":')

/**
 * Makes a batch's body that of the request: `{"requests":[…]}`. It stands outside the compression, and inside what takes
 * batches apart. The endpoint has no place for a `batch_id`; what comes twice the service knows by its `request_id`.
 */
export function createRequestsBodySender(inner: Sender): Sender {
  return {
    async send(batch, signal) {
      const body = Buffer.from(batch.body.buffer, batch.body.byteOffset, batch.body.byteLength)
      const at = body.indexOf(LOGS_KEY)
      if (at === -1) return { kind: 'given-up', reason: 'a batch without its body: this is a bug, please report it' }
      return inner.send({ ...batch, body: Buffer.concat([REQUESTS_HEAD, body.subarray(at + LOGS_KEY.length)]) }, signal)
    },
  }
}
