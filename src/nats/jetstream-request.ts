/** Requests to JetStream over a connection of NATS: its interface, and messages that it stores and acknowledges. */
import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import loadNats from './load-nats.cjs'
import { JETSTREAM_CODES } from './nats-error.js'

export type Requester = Pick<NatsConnection, 'request'>

/** The codes of JetStream's errors that are acted upon. */
export const {
  streamNotFound: STREAM_NOT_FOUND,
  consumerNotFound: CONSUMER_NOT_FOUND,
  noMessage: MESSAGE_NOT_FOUND,
  messageTooLarge: MESSAGE_TOO_LARGE,
  inDoubt: IN_DOUBT,
} = JETSTREAM_CODES

/** JetStream answered, and refused the request. */
export class JetStreamRequestError extends Error {
  override readonly name = 'JetStreamRequestError'
  /** JetStream's own code; undefined if the answer has none. */
  readonly errorCode: number | undefined

  constructor(description: string, errorCode?: number) {
    super(description)
    this.errorCode = errorCode
  }
}

export interface RequestInit {
  readonly body?: string | Uint8Array
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly timeoutMs: number
}

/** As JetStream acknowledges a message. */
interface PublishAnswer {
  readonly stream?: string
  /** Of the message, or of the one of the same ID that was stored before. */
  readonly seq?: number
  readonly duplicate?: boolean
}

/**
 * Sends a request.
 * @returns the answer, which is JSON
 * @throws JetStreamRequestError, and the client's errors: a timeout, no responders, a closed connection
 */
export async function requestJetStream<T>(
  connection: Requester,
  subject: string,
  { body = '', headers, timeoutMs }: RequestInit,
): Promise<T> {
  const message = await connection.request(subject, body, {
    timeout: timeoutMs,
    ...(headers !== undefined && { headers: toHeaders(headers) }),
  })
  return readAnswer(message) as T
}

/**
 * Publishes a message, and resolves when the stream has stored it, now or before.
 * @throws as requestJetStream
 */
export async function publishToStream(
  connection: Requester,
  { stream, subject }: { readonly stream: string; readonly subject: string },
  init: RequestInit,
): Promise<{ readonly isDuplicate: boolean }> {
  const answer = await requestJetStream<PublishAnswer>(connection, subject, init)
  if (!isStored(answer, stream)) throw new JetStreamRequestError(`not acknowledged by the stream ${stream}`)
  return { isDuplicate: answer.duplicate === true }
}

/** Whoever else subscribes to the subject can answer as well, with anything. */
export function isStored({ stream, seq = 0 }: PublishAnswer, wantedStream: string): boolean {
  return stream === wantedStream && Number.isSafeInteger(seq) && seq > 0
}

function toHeaders(pairs: readonly (readonly [name: string, value: string])[]): MsgHdrs {
  const headers = loadNats().headers()
  for (const [name, value] of pairs) headers.set(name, value)
  return headers
}

/**
 * nats-server before 2.11 acknowledges a message whose ID it knows and that is not stored yet as a duplicate without a sequence; later it
 * refuses it (`IN_DOUBT`). If the leader changes at that moment, it is never stored, though the ID stays known for the duplicate window.
 */
export function isInDoubt({ duplicate, seq }: PublishAnswer): boolean {
  return duplicate === true && seq === 0
}

function readAnswer(message: Msg): object {
  let answer: unknown
  try {
    answer = JSON.parse(message.string())
  } catch {
    throw new JetStreamRequestError('the answer is not one of JetStream')
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

/** The part of a delivered message's reply subject that is used. */
export interface DeliveryFacts {
  /** How often the message was delivered, this time included. */
  readonly deliveries: number
  /** Number of the message in its stream. */
  readonly sequence: number
  /** When it was stored, in nanoseconds since the Unix epoch: the same in each delivery. */
  readonly storedAt: string
}

/** JetStream: `$JS.ACK.<stream>.<consumer>.<deliveries>.…`, or with a domain and an account's hash before the stream. */
export function parseAckSubject(reply: string | undefined): DeliveryFacts | undefined {
  const tokens = reply?.split('.') ?? []
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.length < 9) return undefined
  const [deliveries, sequence, , storedAt = ''] = tokens.slice(tokens.length >= 11 ? 6 : 4)
  const facts = { deliveries: Number(deliveries), sequence: Number(sequence), storedAt }
  return Number.isSafeInteger(facts.deliveries) && Number.isSafeInteger(facts.sequence) ? facts : undefined
}
