/**
 * Sends request logs. Before this stage, their batches have the same form as all others: `{"batch_id":…,"logs":[…]}`.
 */
import { PATHS } from '../protocol/limits.js'
import type { Sender } from '../batch/sender.js'
import { createBatchSender } from './ingest-sender.js'
import type { BatchEndpoint, IngestSenderOptions } from './ingest-sender.js'

/** The interface shows neither the status of a success nor its body (`POST /ingest/requests`, docs/protocol.md). */
const REQUESTS: BatchEndpoint = { path: PATHS.requests, list: 'requests', expected: 'json' }

/** The first occurrence is the key, because a batch id contains only letters, digits and hyphens. */
const LOGS_KEY = '"logs":'
const REQUESTS_HEAD = Buffer.from('{"requests":')

/**
 * Converts the body of a batch to `{"requests":[…]}`. The endpoint has no `batch_id`; the service recognizes duplicates by their
 * `request_id`.
 */
export function createRequestsSender(options: IngestSenderOptions): Sender {
  const inner = createBatchSender(REQUESTS, options)
  return {
    async send(batch, signal) {
      const body = Buffer.from(batch.body.buffer, batch.body.byteOffset, batch.body.byteLength)
      const at = body.indexOf(LOGS_KEY)
      if (at === -1) return { kind: 'abandoned', reason: 'a batch without its body: this is a bug, please report it' }
      return inner.send({ ...batch, body: Buffer.concat([REQUESTS_HEAD, body.subarray(at + LOGS_KEY.length)]) }, signal)
    },
  }
}
