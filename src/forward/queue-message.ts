/** Parses a message of the queue as a batch. Pure. */
import { createHash } from 'node:crypto'
import type { JsMsg } from '@nats-io/jetstream'
import { countBatchEntries } from '../batch/count-entries.js'
import type { Batch } from '../batch/batch.js'
import { UUID } from '../batch/sub-batch.js'
import { BATCH_ID_HEADER, COUNT_HEADER, MESSAGE_ID_HEADER } from '../nats/message.js'
import { LARGEST_ENTRY_BYTES } from '../options/size-limits.js'
import { MAX_LOGS_PER_REQUEST } from '../protocol/limits.js'
import { toMessage } from '../shared/errors.js'

/** Limit of bodies that are parsed, since parsing takes several times as much memory. */
const MAX_FOREIGN_BYTES = LARGEST_ENTRY_BYTES

/** The message is not a batch: another program published it, or it is damaged. */
export interface NoBatch {
  readonly problem: string
  /** `''` if it has none. */
  readonly id: string
}

/** Start and end of a body written by the transport. */
const HEAD = /^\{"batch_id":"([\w-]{1,64})","logs":\[/
const HEAD_BYTES = 100
/** Senders and dead letters locate the entries in the text, which needs this order of keys. */
const FOREIGN_HEAD = /^\s*\{\s*"batch_id"\s*:\s*"[\w-]{1,64}"\s*,\s*"logs":\s*\[/
const TAIL = ']}'
const ID = /^[\w-]{1,64}$/
/** Ids of other programs can have any length. */
const MAX_ID_UNITS = 64

/** An id that is not a UUID is followed by a hash of the body, which still contains the original id. */
export function readMessage(message: Pick<JsMsg, 'data' | 'headers'>): Batch | NoBatch {
  let id = ''
  try {
    // The client parses the headers now, and does not accept all that servers do.
    const { headers, data: body } = message
    const header = (name: string): string => headers?.get(name) ?? ''
    id = (header(BATCH_ID_HEADER) || header(MESSAGE_ID_HEADER)).slice(0, MAX_ID_UNITS)
    const { batchId, count } = readOwn(body, id, header(COUNT_HEADER)) ?? readForeign(body)
    return { batchId: createUniqueId(batchId, body), count, highestSeverity: 0, body }
  } catch (error) {
    return { id, problem: toMessage(error) }
  }
}

/** Other programs may use an id for several batches. Only a redelivery has the same content, too. */
function createUniqueId(batchId: string, body: Uint8Array): string {
  return UUID.test(batchId) ? batchId : `${batchId}.${createHash('sha256').update(body).digest('hex').slice(0, 32)}`
}

interface Found {
  readonly batchId: string
  readonly count: number
}

/**
 * Parses a batch published by this package, the usual case, by its start, its end and its headers. The entries are not parsed, which would
 * take longer than sending them. They are counted, since rejections refer to entries by index.
 */
function readOwn(body: Uint8Array, messageId: string, countHeader: string): Found | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const batchId = HEAD.exec(bytes.toString('latin1', 0, HEAD_BYTES))?.[1]
  const count = /^\d{1,3}$/.test(countHeader) ? Number(countHeader) : 0
  const isWhole = bytes.toString('latin1', bytes.length - TAIL.length) === TAIL
  if (batchId === undefined || batchId !== messageId || !isWhole) return undefined
  const isCounted = count >= 1 && count <= MAX_LOGS_PER_REQUEST && count === countBatchEntries(body)
  return isCounted ? { batchId, count } : undefined
}

/** @throws an error with the problem, if the body is not a batch */
function readForeign(body: Uint8Array): Found {
  if (body.length > MAX_FOREIGN_BYTES)
    throw new Error(`its headers do not match its body, which has more than ${MAX_FOREIGN_BYTES} bytes`)
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
  const { batch_id: batchId, logs } = Object(JSON.parse(text)) as {
    readonly batch_id?: unknown
    readonly logs?: unknown
  }
  const isBatch = typeof batchId === 'string' && Array.isArray(logs) && FOREIGN_HEAD.test(text)
  if (!isBatch || !ID.test(batchId) || logs.length !== countBatchEntries(body))
    throw new Error('its body is not a batch, {"batch_id":…,"logs":[…]}')
  if (logs.length === 0 || logs.length > MAX_LOGS_PER_REQUEST)
    throw new Error(`it has ${logs.length} entries; a batch has 1 to ${MAX_LOGS_PER_REQUEST}`)
  return { batchId, count: logs.length }
}
