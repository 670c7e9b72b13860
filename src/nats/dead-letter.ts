/** Dead letters as messages of their stream: the reason in headers, the entry's JSON as the body. */
import { unescape } from 'node:querystring'
import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream'
import type { DeadLetter } from '../batch/batch.js'
import loadNats from './load-nats.cjs'
import { BATCH_ID_HEADER } from './message.js'
import type { BatchKind, StreamNames } from './message.js'
import type { PublishInit } from './publish-message.js'

const HEADERS = {
  batchId: BATCH_ID_HEADER,
  index: 'Pino-Ingest-Index',
  status: 'Pino-Ingest-Status',
  code: 'Pino-Ingest-Code',
  field: 'Pino-Ingest-Field',
  reason: 'Pino-Ingest-Reason',
} as const

/** Limit for each text, in UTF-16 units. Each unit takes up to nine bytes in a header. */
const MAX_TEXT_UNITS = 512
/** Limit for all headers in bytes: four texts, the message ID, and the names. */
export const MAX_DEAD_LETTER_HEADER_BYTES = 5 * MAX_TEXT_UNITS * 9 + 512
/** Concurrent requests, since each takes one round trip. */
const READ_AHEAD = 64

export interface StoredDeadLetter extends DeadLetter {
  /** Position in the stream. */
  readonly sequence: number
  readonly kind: BatchKind
  /** Time at which it was stored, ISO 8601. */
  readonly at: string
}

export function encodeDeadLetter(
  names: Pick<StreamNames, 'deadSubject'>,
  kind: BatchKind,
  letter: DeadLetter,
): PublishInit {
  const headers = loadNats().headers()
  for (const [member, name] of Object.entries(HEADERS))
    headers.set(name, encodeText(String(letter[member as keyof typeof HEADERS])))
  return {
    subject: `${names.deadSubject}.${kind}`,
    // The same in every attempt: a letter republished after a crash is stored once.
    msgID: `${encodeText(letter.batchId)}-${letter.index}`,
    headers,
    body: Buffer.from(letter.entry),
  }
}

/**
 * Yields all stored letters, the oldest first. Letters deleted during the iteration may be missing. It uses no consumer: reading leaves
 * nothing behind and needs no permission to create one.
 * @throws the client's errors
 */
export async function* readDeadLetters(
  { streams }: Pick<JetStreamManager, 'streams'>,
  { deadStream, deadSubject }: StreamNames,
): AsyncGenerator<StoredDeadLetter, undefined> {
  const { state } = await streams.info(deadStream)
  let next = Math.max(1, state.first_seq)
  while (next <= state.last_seq) {
    const count = Math.min(READ_AHEAD, state.last_seq - next + 1)
    const messages = await Promise.all(
      Array.from({ length: count }, (_, at) => streams.getMessage(deadStream, { seq: next + at })),
    )
    for (const message of messages) if (message !== null) yield decode(message, deadSubject)
    next += count
    // Deleted letters can leave large gaps. Skip them with one request.
    if (messages.every((message) => message === null)) {
      const query = { seq: next, next_by_subj: `${deadSubject}.>` }
      const found = await streams.getMessage(deadStream, query)
      if (found === null) return
      next = found.seq
    }
  }
}

/** Missing and damaged headers become empty texts and zeros: the entry can still be inspected and replayed. */
function decode({ seq, subject, header, data, timestamp }: StoredMsg, deadSubject: string): StoredDeadLetter {
  // Unlike `decodeURIComponent`, it does not throw.
  const text = (member: keyof typeof HEADERS): string => unescape(header?.get(HEADERS[member]) ?? '')
  return {
    batchId: text('batchId'),
    index: Number.parseInt(text('index'), 10) || 0,
    status: Number.parseInt(text('status'), 10) || 0,
    code: text('code'),
    field: text('field'),
    reason: text('reason'),
    entry: Buffer.from(data).toString(),
    sequence: seq,
    kind: subject === `${deadSubject}.requests` ? 'requests' : 'logs',
    at: timestamp,
  }
}

/** As printable ASCII: line breaks would end the header, and the client reads headers as ASCII. */
function encodeText(text: string): string {
  // `encodeURIComponent` throws for half of a surrogate pair. The conversion to UTF-8 replaces it with U+FFFD.
  return encodeURIComponent(Buffer.from(text.slice(0, MAX_TEXT_UNITS)).toString())
}
