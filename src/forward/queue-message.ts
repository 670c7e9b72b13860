/** Parses a message of the queue as a batch. Pure, except for the decompression. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { JsMsg } from '@nats-io/jetstream'
import { countBatchEntries } from '../batch/count-entries.js'
import type { Batch } from '../batch/batch.js'
import { UUID } from '../batch/sub-batch.js'
import { BATCH_ID_HEADER, CONTENT_ENCODING_HEADER, COUNT_HEADER, MESSAGE_ID_HEADER } from '../nats/message.js'
import { LARGEST_BATCH_BYTES, LARGEST_ENTRY_BYTES } from '../options/size-limits.js'
import { MAX_LOGS_PER_REQUEST } from '../protocol/limits.js'

/** The longest body that a transport publishes. A few bytes of gzip can become gigabytes. */
const MAX_BODY_BYTES = LARGEST_BATCH_BYTES
/** Limit of bodies that are parsed, since parsing takes several times as much memory. */
const MAX_FOREIGN_BYTES = LARGEST_ENTRY_BYTES

/** The message is not a batch: another program published it, or it is damaged. */
export interface NoBatch {
  readonly problem: string
  /** `''` if it has none. */
  readonly id: string
}

export interface QueuedMessage {
  /** An id that is not a UUID is followed by a hash of the body, which still contains the original id. */
  readonly batch: Batch
}

const decompress = promisify(gunzip)
/** Start and end of a body written by the transport. */
const HEAD = /^\{"batch_id":"([\w-]{1,64})","logs":\[/
const HEAD_BYTES = 100
const TAIL = ']}'
const ID = /^[\w-]{1,64}$/
/** Ids of other programs can have any length. */
const MAX_ID_UNITS = 64

export async function readMessage(message: Pick<JsMsg, 'data' | 'headers'>): Promise<QueuedMessage | NoBatch> {
  let headers: JsMsg['headers']
  try {
    // The client parses them now.
    ;({ headers } = message)
  } catch {
    return { id: '', problem: 'its headers cannot be read' }
  }
  const header = (name: string): string => headers?.get(name) ?? ''
  const id = (header(BATCH_ID_HEADER) || header(MESSAGE_ID_HEADER)).slice(0, MAX_ID_UNITS)
  const encoding = header(CONTENT_ENCODING_HEADER)
  if (encoding !== '' && encoding !== 'gzip')
    return { id, problem: `its content encoding ${encoding} is not supported` }
  let body: Uint8Array = message.data
  if (encoding === 'gzip') {
    try {
      body = await decompress(body, { maxOutputLength: MAX_BODY_BYTES })
    } catch (error) {
      const isTooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      return {
        id,
        problem: isTooLong ? `its body has more than ${MAX_BODY_BYTES} bytes` : 'its body cannot be decompressed',
      }
    }
  }
  const found = readOwn(body, id, header(COUNT_HEADER)) ?? readForeign(body)
  if (typeof found === 'string') return { id, problem: found }
  const { batchId, count } = found
  return { batch: { batchId: createUniqueId(batchId, body), count, highestSeverity: 0, body } }
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

/** @returns the problem, if the body is not a batch */
function readForeign(body: Uint8Array): Found | string {
  if (body.length > MAX_FOREIGN_BYTES)
    return `its headers do not match its body, which has more than ${MAX_FOREIGN_BYTES} bytes`
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return 'its body is not JSON'
  }
  const { batch_id: batchId, logs } = Object(value) as { readonly batch_id?: unknown; readonly logs?: unknown }
  // Senders and dead letters locate the entries in the text, which needs this order of keys.
  const hasForm = /^\s*\{\s*"batch_id"\s*:\s*"[\w-]{1,64}"\s*,\s*"logs":\s*\[/.test(
    Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, HEAD_BYTES * 2)).toString('latin1'),
  )
  if (
    typeof batchId !== 'string' ||
    !ID.test(batchId) ||
    !Array.isArray(logs) ||
    !hasForm ||
    logs.length !== countBatchEntries(body)
  )
    return 'its body is not a batch, {"batch_id":…,"logs":[…]}'
  if (logs.length === 0 || logs.length > MAX_LOGS_PER_REQUEST)
    return `it has ${logs.length} entries; a batch has 1 to ${MAX_LOGS_PER_REQUEST}`
  return { batchId, count: logs.length }
}
