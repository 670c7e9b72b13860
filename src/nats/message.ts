/** Subjects and headers of the NATS messages that carry a batch. The body is the batch, unchanged. */

/** Kinds of batches. Each has its own subject and consumer: neither waits for the other. */
export type BatchKind = 'logs' | 'requests'

/** Names of a fleet's streams, subjects, consumers and bucket, derived from the option `nats.stream`. */
export interface StreamNames {
  readonly stream: string
  /** Subjects of queued batches. */
  readonly subjects: Readonly<Record<BatchKind, string>>
  /** Durable consumers of the forwarders. */
  readonly consumers: Readonly<Record<BatchKind, string>>
  readonly deadStream: string
  /** Prefix of the subjects, followed by `.logs` or `.requests`. */
  readonly deadSubject: string
  /** Key-value bucket that the forwarders share. */
  readonly bucket: string
}

export function toStreamNames({ stream }: { readonly stream: string }): StreamNames {
  return {
    stream,
    subjects: { logs: `${stream}.logs`, requests: `${stream}.requests` },
    consumers: { logs: 'forward-logs', requests: 'forward-requests' },
    deadStream: `${stream}_DEAD`,
    deadSubject: `${stream}.dead`,
    bucket: `${stream}_STATE`,
  }
}

/** NATS stores one message per ID within the stream's duplicate window. The value is usually the `batch_id`. */
export const MESSAGE_ID_HEADER = 'Nats-Msg-Id'
/** Number of entries. */
export const COUNT_HEADER = 'Pino-Ingest-Count'
/** The `batch_id`, if the message ID is another one: a republished message may need a new message ID. */
export const BATCH_ID_HEADER = 'Pino-Ingest-Batch-Id'
