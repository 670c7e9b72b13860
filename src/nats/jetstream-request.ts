/** Sends messages to JetStream to store, and creates the client of its API. */
import type { JetStreamManager } from '@nats-io/jetstream'
import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import loadNats from './load-nats.cjs'
import { JETSTREAM_CODES } from './nats-error.js'

/** JetStream error codes that callers handle. */
export const {
  streamNotFound: STREAM_NOT_FOUND,
  consumerNotFound: CONSUMER_NOT_FOUND,
  messageTooLarge: MESSAGE_TOO_LARGE,
  inDoubt: IN_DOUBT,
} = JETSTREAM_CODES

/** JetStream refused the request, or its reply is invalid. */
export class JetStreamRequestError extends Error {
  override readonly name = 'JetStreamRequestError'
  /** JetStream's error code; undefined if the reply has none. */
  readonly code: number | undefined

  constructor(description: string, code?: number) {
    super(description)
    this.code = code
  }
}

interface PublishInit {
  readonly body: string | Uint8Array
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly timeoutMs: number
}

/** JetStream's acknowledgement of a published message. */
interface PublishAnswer {
  readonly stream?: string
  /** Sequence of the message; for a duplicate, of the message stored before under the same ID. */
  readonly seq?: number
  readonly duplicate?: boolean
}

/** JetStream's API. Its requests need no other permission than their own, since the client's check of the account is left out. */
export function manageJetStream(connection: NatsConnection, timeoutMs: number): Promise<JetStreamManager> {
  return loadNats().jetstreamManager(connection, { timeout: timeoutMs, checkAPI: false })
}

/**
 * Publishes a message. Resolves when the stream contains it, also from an earlier attempt.
 * @throws JetStreamRequestError; the client's errors: a timeout, no responders, a closed connection
 */
export async function publishToStream(
  connection: Pick<NatsConnection, 'request'>,
  { stream, subject }: { readonly stream: string; readonly subject: string },
  { body, headers, timeoutMs }: PublishInit,
): Promise<{ readonly isDuplicate: boolean }> {
  const message = await connection.request(subject, body, {
    timeout: timeoutMs,
    ...(headers !== undefined && { headers: toHeaders(headers) }),
  })
  const answer: PublishAnswer = readAnswer(message)
  if (!isStored(answer, stream)) throw new JetStreamRequestError(`not acknowledged by the stream ${stream}`)
  return { isDuplicate: answer.duplicate === true }
}

/** Checks the acknowledgement, since any other subscriber of the subject can reply as well. */
export function isStored({ stream, seq = 0 }: PublishAnswer, wantedStream: string): boolean {
  return stream === wantedStream && Number.isSafeInteger(seq) && seq > 0
}

function toHeaders(pairs: readonly (readonly [name: string, value: string])[]): MsgHdrs {
  const headers = loadNats().headers()
  for (const [name, value] of pairs) headers.set(name, value)
  return headers
}

/**
 * Whether JetStream knows the message ID but has not stored the message yet. nats-server before 2.11 then acknowledges a duplicate without
 * a sequence; later versions reply with the error `IN_DOUBT`. If the leader changes at that moment, the message is never stored, although
 * JetStream remembers the ID for the duplicate window.
 */
export function isInDoubt({ duplicate, seq }: PublishAnswer): boolean {
  return duplicate === true && seq === 0
}

function readAnswer(message: Msg): object {
  let answer: unknown
  try {
    answer = JSON.parse(message.string())
  } catch {
    throw new JetStreamRequestError('the reply is not JSON, so it is not from JetStream')
  }
  const { error, ...result } = Object(answer) as { readonly error?: unknown }
  if (error === undefined) return result
  const { description, err_code: code } = Object(error) as {
    readonly description?: unknown
    readonly err_code?: unknown
  }
  throw new JetStreamRequestError(
    typeof description === 'string' ? description : 'refused without a reason',
    typeof code === 'number' ? code : undefined,
  )
}

/** Parsed from the reply subject of a delivered message. */
export interface DeliveryFacts {
  /** Number of deliveries, including this one. */
  readonly deliveries: number
  /** Sequence of the message in its stream. */
  readonly sequence: number
  /** Time at which it was stored, in nanoseconds since the Unix epoch; the same in each delivery. */
  readonly storedAt: string
}

/** Format: `$JS.ACK.<stream>.<consumer>.<deliveries>.…`, or with a domain and an account hash before the stream. */
export function parseAckSubject(reply: string | undefined): DeliveryFacts | undefined {
  const tokens = reply?.split('.') ?? []
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.length < 9) return undefined
  const [deliveries, sequence, , storedAt = ''] = tokens.slice(tokens.length >= 11 ? 6 : 4)
  const facts = { deliveries: Number(deliveries), sequence: Number(sequence), storedAt }
  return Number.isSafeInteger(facts.deliveries) && Number.isSafeInteger(facts.sequence) ? facts : undefined
}
