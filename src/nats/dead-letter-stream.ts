/** Reads the dead-letter stream without a consumer: reading leaves nothing behind and needs no permission to create one. */
import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream'
import type { DeadLetter } from '../batch/batch.js'
import { decodeDeadLetter } from './dead-letter.js'
import type { BatchKind, StreamNames } from './message.js'

export interface StoredDeadLetter extends DeadLetter {
  /** Position in the stream. */
  readonly sequence: number
  readonly kind: BatchKind
  /** Time at which it was stored, ISO 8601. */
  readonly at: string
  /** Bytes of the entry. */
  readonly bytes: number
}

/** Concurrent requests, since each takes one round trip. */
const READ_AHEAD = 64

/**
 * Yields all stored letters, the oldest first. Letters deleted during the iteration may be missing.
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
    for (const message of messages) if (message !== null) yield toStored(message, deadSubject)
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

function toStored({ seq, subject, header, data, timestamp }: StoredMsg, deadSubject: string): StoredDeadLetter {
  return {
    ...decodeDeadLetter(header, data),
    sequence: seq,
    kind: subject === `${deadSubject}.requests` ? 'requests' : 'logs',
    at: timestamp,
    bytes: data.length,
  }
}
