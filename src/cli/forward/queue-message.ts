/** A message of the queue as a batch. Pure, but for the decompression. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Msg } from '@nats-io/transport-node'
import { countBatchEntries } from '../../batch/count-entries.js'
import type { Batch } from '../../batch/sender.js'
import { BATCH_ID_HEADER, CONTENT_ENCODING_HEADER, COUNT_HEADER, MESSAGE_ID_HEADER } from '../../nats/message.js'
import { LARGEST_BATCH_BYTES, LARGEST_ENTRY_BYTES } from '../../options/size-limits.js'
import { MAX_LOGS_PER_REQUEST } from '../../protocol/limits.js'

/** A few bytes of gzip can become gigabytes. No transport makes a longer one. */
const MAX_BODY_BYTES = LARGEST_BATCH_BYTES
/** Parsed, it takes several times as much. */
const MAX_FOREIGN_BYTES = LARGEST_ENTRY_BYTES

/** The message is no batch: another program has published it, or it is damaged. */
export interface NoBatch {
  readonly problem: string
  /** A name for it, also if it has no id. */
  readonly id: string
}

export interface QueuedMessage {
  readonly batch: Batch
}

const decompress = promisify(gunzip)
/** How the transport begins and ends the body. */
const HEAD = /^\{"batch_id":"([\w-]{1,64})","logs":\[/
const HEAD_BYTES = 100
const TAIL = ']}'
const ID = /^[\w-]{1,64}$/
/** Of another program it may have any length. */
const MAX_ID_UNITS = 64

/** @returns bytes of the body, as a compressed message says; undefined if it is not compressed */
export function expectedBodyBytes({ data, headers }: Pick<Msg, 'data' | 'headers'>): number | undefined {
  if (headers?.get(CONTENT_ENCODING_HEADER) !== 'gzip') return undefined
  // gzip ends with the length. RFC 1952, section 2.3.1
  const length = data.length < 4 ? 0 : new DataView(data.buffer, data.byteOffset + data.length - 4).getUint32(0, true)
  return Math.min(length, MAX_BODY_BYTES)
}

export async function readMessage(message: Pick<Msg, 'data' | 'headers'>): Promise<QueuedMessage | NoBatch> {
  const header = (name: string): string => message.headers?.get(name) ?? ''
  const id = (header(BATCH_ID_HEADER) || header(MESSAGE_ID_HEADER)).slice(0, MAX_ID_UNITS)
  const encoding = header(CONTENT_ENCODING_HEADER)
  if (encoding !== '' && encoding !== 'gzip') return { id, problem: `its content encoding ${encoding} is not known` }
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
  return { batch: { ...found, highestSeverity: 0, body } }
}

interface Found {
  readonly batchId: string
  readonly count: number
}

/**
 * The usual case, published by this package: beginning, end and headers agree with it. The text between is not parsed, which would take
 * more time than sending it; but entries are counted, since one that is not known of could not be told apart when it is rejected.
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

/** @returns what is wrong with it, if it is no batch */
function readForeign(body: Uint8Array): Found | string {
  if (body.length > MAX_FOREIGN_BYTES)
    return `its headers do not agree with its body, and it has more than ${MAX_FOREIGN_BYTES} bytes`
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return 'its body is not JSON'
  }
  const { batch_id: batchId, logs } = Object(value) as { readonly batch_id?: unknown; readonly logs?: unknown }
  // Senders and dead letters find the entries in the text, which must have this order of keys.
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
    return 'its body is no batch, {"batch_id":…,"logs":[…]}'
  if (logs.length === 0 || logs.length > MAX_LOGS_PER_REQUEST)
    return `it has ${logs.length} entries, and a batch has 1 to ${MAX_LOGS_PER_REQUEST}`
  return { batchId, count: logs.length }
}
