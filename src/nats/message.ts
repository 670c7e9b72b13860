/** A batch as a message of NATS: its subject, its headers, and its body unchanged. */

/** Kinds of batches, each with a subject and a consumer of its own, so that one does not wait for the other. */
export type BatchKind = 'logs' | 'requests'

/** Names of what a fleet has in JetStream. All derive from the options `nats.stream` and `nats.subject`. */
export interface StreamNames {
  readonly stream: string
  /** Of batches that wait for delivery. */
  readonly subjects: Readonly<Record<BatchKind, string>>
  /** Durable consumers of the forwarders. */
  readonly consumers: Readonly<Record<BatchKind, string>>
  readonly deadStream: string
  /** Followed by `.logs` or `.requests`. */
  readonly deadSubject: string
  /** Key-value bucket that the forwarders share. */
  readonly bucket: string
}

export function toStreamNames({ stream, subject }: { readonly stream: string; readonly subject: string }): StreamNames {
  return {
    stream,
    subjects: { logs: `${subject}.logs`, requests: `${subject}.requests` },
    consumers: { logs: 'forward-logs', requests: 'forward-requests' },
    deadStream: `${stream}_DEAD`,
    deadSubject: `${subject}.dead`,
    bucket: `${stream}_STATE`,
  }
}

/** NATS: the server stores a message with a known ID once within the stream's duplicate window. The value is the `batch_id`, usually. */
export const MESSAGE_ID_HEADER = 'Nats-Msg-Id'
/** The endpoint of the interface, such as `/ingest`. */
export const ENDPOINT_HEADER = 'Pino-Ingest-Endpoint'
/** Number of entries. */
export const COUNT_HEADER = 'Pino-Ingest-Count'
/** Version of the package that published the message. */
export const VERSION_HEADER = 'Pino-Ingest-Version'
/** The `batch_id`. A message that is published again may need another message ID. */
export const BATCH_ID_HEADER = 'Pino-Ingest-Batch-Id'
export const CONTENT_TYPE_HEADER = 'Content-Type'
/** `gzip`, if the body is compressed. */
export const CONTENT_ENCODING_HEADER = 'Content-Encoding'
