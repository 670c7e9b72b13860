/** Encodes a rejected entry as a message of the dead-letter stream: the reason in headers, the entry's JSON as the body. Pure. */
import { createHash } from 'node:crypto'
import type { DeadLetter } from '../batch/batch.js'
import { BATCH_ID_HEADER, MESSAGE_ID_HEADER } from './message.js'
import type { BatchKind, StreamNames } from './message.js'

const INDEX_HEADER = 'Pino-Ingest-Index'
const STATUS_HEADER = 'Pino-Ingest-Status'
const CODE_HEADER = 'Pino-Ingest-Code'
const FIELD_HEADER = 'Pino-Ingest-Field'
const REASON_HEADER = 'Pino-Ingest-Reason'

/** Limit for texts of the service, in UTF-16 units. Each unit takes up to nine bytes in a header. */
const MAX_TEXT_UNITS = 1_024

export interface DeadLetterMessage {
  readonly subject: string
  /** The same in every attempt: a letter republished after a crash is stored once. */
  readonly messageId: string
  /** Including the message ID. Values are printable ASCII. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
}

function deadLetterSubject(names: Pick<StreamNames, 'deadSubject'>, kind: BatchKind): string {
  return `${names.deadSubject}.${kind}`
}

/** @param body bytes of a message that is not a batch and has no entries; default: the entry */
export function encodeDeadLetter(
  names: Pick<StreamNames, 'deadSubject'>,
  kind: BatchKind,
  { batchId, index, status, code, field, reason, entry }: DeadLetter,
  body?: Uint8Array,
): DeadLetterMessage {
  // Other publishers choose the id of such a message, and may reuse one.
  const content = body === undefined ? '' : `-${createHash('sha256').update(body).digest('hex').slice(0, 16)}`
  const messageId = `${encodeText(batchId)}-${index}${content}`
  return {
    subject: deadLetterSubject(names, kind),
    messageId,
    headers: [
      [MESSAGE_ID_HEADER, messageId],
      [BATCH_ID_HEADER, encodeText(batchId)],
      [INDEX_HEADER, String(index)],
      [STATUS_HEADER, String(status)],
      [CODE_HEADER, encodeText(code)],
      [FIELD_HEADER, encodeText(field)],
      [REASON_HEADER, encodeText(reason)],
    ],
    body: body ?? Buffer.from(entry),
  }
}

/** Bytes of all headers on the wire. */
export function countHeaderBytes({ headers }: Pick<DeadLetterMessage, 'headers'>): number {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.byteLength(`NATS/1.0\r\n${lines.join('')}\r\n`)
}

/**
 * Missing and damaged headers become empty texts and zeros: the entry can still be inspected and replayed.
 * @param headers returns '' for a missing header
 */
export function decodeDeadLetter(headers: { get(name: string): string } | undefined, body: Uint8Array): DeadLetter {
  const text = (name: string): string => decodeText(headers?.get(name) ?? '')
  const integer = (name: string): number => {
    const value = headers?.get(name) ?? ''
    return /^\d{1,9}$/.test(value) ? Number(value) : 0
  }
  return {
    batchId: text(BATCH_ID_HEADER),
    index: integer(INDEX_HEADER),
    status: integer(STATUS_HEADER),
    code: text(CODE_HEADER),
    field: text(FIELD_HEADER),
    reason: text(REASON_HEADER),
    entry: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString(),
  }
}

/** Line breaks would end the header, and the client reads headers as ASCII. */
function encodeText(text: string): string {
  // `encodeURIComponent` throws for half of a surrogate pair. The conversion to UTF-8 replaces it with U+FFFD.
  return encodeURIComponent(Buffer.from(text.slice(0, MAX_TEXT_UNITS)).toString())
}

function decodeText(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
