/**
 * Republishes messages that remain in the queue although the consumer considers them acknowledged or does not know them. This happens if
 * the state of the servers differs after one was killed. JetStream no longer delivers these messages. Most of their batches were delivered
 * before; the lookup of each batch id skips them.
 */
import { BATCH_ID_HEADER, MESSAGE_ID_HEADER } from '../../nats/message.js'
import type { BatchKind, StreamNames } from '../../nats/message.js'
import {
  JetStreamRequestError,
  MESSAGE_NOT_FOUND,
  MESSAGE_TOO_LARGE,
  publishToStream,
  requestJetStream,
} from '../../nats/jetstream-request.js'
import type { Requester } from '../../nats/jetstream-request.js'
import type { Reporter } from '../../diagnostics/reporter.js'
import type { Clock } from '../../shared/clock.js'
import type { QueueConnection } from './queue-connection.js'
import type { StreamIncarnation } from './stream-incarnation.js'

const TIMEOUT_MS = 2_000
/** Limit per check: thousands of republished messages would delay new ones. */
const MAX_MESSAGES = 500
const EXPECTED_STREAM_HEADER = 'Nats-Expected-Stream'
/** Headers with instructions to the server. They applied to the first publish only. */
const SERVER_HEADER = /^nats-/i

export interface OrphanedMessagesOptions {
  readonly connection: Pick<QueueConnection, 'current'>
  readonly incarnation: Pick<StreamIncarnation, 'id' | 'isStill'>
  readonly names: StreamNames
  readonly report: Pick<Reporter, 'note'>
  readonly clock: Clock
}

export interface SequenceRange {
  readonly first: number
  readonly last: number
}

export interface ConsumerFloor {
  readonly kind: BatchKind
  /** The consumer considers all messages up to this sequence acknowledged. */
  readonly ackFloor: number
  readonly pending: number
  readonly ackPending: number
  readonly ackWaitMs: number
}

/** State of the queue at an earlier check. */
interface Mark {
  readonly incarnationId: string
  /** The last sequence that the consumer will not deliver. Republished messages have higher sequences. */
  readonly until: number
  readonly at: number
}

interface StoredMessage {
  readonly sequence: number
  readonly body: Uint8Array
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export class OrphanedMessages {
  readonly #options: OrphanedMessagesOptions
  readonly #marks = new Map<BatchKind, Mark>()
  #isBusy = false
  #republished = 0

  constructor(options: OrphanedMessagesOptions) {
    this.#options = options
  }

  /** Number of republished messages. */
  get republished(): number {
    return this.#republished
  }

  /**
   * Call periodically. Never rejects.
   * @param range first and last sequence in the stream
   */
  async check(range: SequenceRange, floors: readonly ConsumerFloor[]): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    try {
      for (const floor of floors) await this.#checkKind(range, floor)
    } catch {
      // No leader, a full stream or a lost connection: the next check finds them again.
    } finally {
      this.#isBusy = false
    }
  }

  async #checkKind({ first, last }: SequenceRange, consumer: ConsumerFloor): Promise<void> {
    const { kind, ackFloor, pending, ackPending, ackWaitMs } = consumer
    // If the consumer has nothing to deliver, its leader's copy of the stream may lack the last messages.
    const until = pending + ackPending === 0 ? last : Math.min(ackFloor, last)
    const { incarnation, clock } = this.#options
    const incarnationId = incarnation.id
    const mark = this.#marks.get(kind)
    if (incarnationId === undefined || first > until) return void this.#marks.delete(kind)
    // A working consumer delivers all messages above its floor, and the floor can move back.
    if (mark === undefined || mark.incarnationId !== incarnationId || mark.until > until)
      return void this.#marks.set(kind, { incarnationId, until, at: clock.now() })
    // JetStream deletes an acknowledged message with a delay, after a leader election of some seconds.
    if (clock.now() - mark.at <= ackWaitMs) return
    await this.#republishUpTo(kind, mark, first)
    this.#marks.delete(kind)
  }

  async #republishUpTo(kind: BatchKind, mark: Mark, firstSequence: number): Promise<void> {
    const { connection, names, report } = this.#options
    const republishedBefore = this.#republished
    try {
      for (let from = firstSequence, found = 0; found < MAX_MESSAGES; found += 1) {
        const { current } = connection
        if (current === undefined) return
        const message = await readFrom(current, names, kind, from)
        // The first sequences may belong to the other kind.
        if (message === undefined || message.sequence > mark.until) return
        await this.#republish(current, kind, mark, message).catch((error: unknown) => {
          // It must not block the messages after it.
          if (!isUnpublishable(error)) throw error
        })
        from = message.sequence + 1
      }
    } finally {
      const count = this.#republished - republishedBefore
      if (count > 0)
        report.note(
          `orphaned ${kind}`,
          `NATS: published ${count} messages of ${names.subjects[kind]} again, which JetStream would not have delivered after a server was killed`,
        )
    }
  }

  async #republish(
    connection: Requester,
    kind: BatchKind,
    { incarnationId }: Mark,
    { sequence, body, headers }: StoredMessage,
  ): Promise<void> {
    const { incarnation, names, clock } = this.#options
    const own = headers.filter(([name]) => !SERVER_HEADER.test(name))
    const [, messageId] = headers.find(([name]) => name === MESSAGE_ID_HEADER) ?? []
    const [, ownId] = own.find(([name]) => name === BATCH_ID_HEADER) ?? []
    const batchId = ownId ?? messageId ?? ''
    const startedAt = clock.now()
    const target = { stream: names.stream, subject: names.subjects[kind] }
    const { isDuplicate } = await publishToStream(connection, target, {
      body,
      headers: [
        ...own,
        ...(messageId === undefined || ownId !== undefined ? [] : [[BATCH_ID_HEADER, messageId] as const]),
        // The same ID in all forwarders: JetStream stores one. It includes the batch id, since a killed server may have had another batch
        // at this sequence.
        [MESSAGE_ID_HEADER, `orphan-${incarnationId}-${sequence}-${batchId}`],
        [EXPECTED_STREAM_HEADER, names.stream],
      ],
      timeoutMs: TIMEOUT_MS,
    })
    if (!isDuplicate) this.#republished += 1
    // If the stream was created again, the sequence belongs to another message.
    if ((await incarnation.isStill(incarnationId, startedAt)) !== true) throw new Error('the stream may be another one')
    await requestJetStream(connection, `$JS.API.STREAM.MSG.DELETE.${names.stream}`, {
      body: JSON.stringify({ seq: sequence, no_erase: true }),
      timeoutMs: TIMEOUT_MS,
    }).catch((error: unknown) => {
      // Another forwarder may have deleted it.
      if (!(error instanceof JetStreamRequestError)) throw error
    })
  }
}

/**
 * Whether the message can never be stored: it exceeds the current limits, possibly because of its new headers, or another program gave it
 * headers that the client refuses to send.
 */
function isUnpublishable(error: unknown): boolean {
  if (error instanceof JetStreamRequestError) return error.errorCode === MESSAGE_TOO_LARGE
  return error instanceof Error && error.name === 'InvalidArgumentError'
}

/** @returns the first message of the kind at or after the sequence `from`, if there is one */
async function readFrom(
  connection: Requester,
  { stream, subjects }: StreamNames,
  kind: BatchKind,
  from: number,
): Promise<StoredMessage | undefined> {
  const answer = await requestJetStream<{ readonly message?: Readonly<Record<string, unknown>> }>(
    connection,
    `$JS.API.STREAM.MSG.GET.${stream}`,
    { body: JSON.stringify({ seq: from, next_by_subj: subjects[kind] }), timeoutMs: TIMEOUT_MS },
  ).catch((error: unknown) => {
    if (error instanceof JetStreamRequestError && error.errorCode === MESSAGE_NOT_FOUND) return undefined
    throw error
  })
  const { seq, data, hdrs } = answer?.message ?? {}
  if (typeof seq !== 'number') return undefined
  const decode = (base64: unknown): Buffer => Buffer.from(typeof base64 === 'string' ? base64 : '', 'base64')
  return { sequence: seq, body: decode(data), headers: parseHeaders(decode(hdrs).toString()) }
}

/** Parses the wire format: a line with the version, then one line per header. */
function parseHeaders(text: string): (readonly [name: string, value: string])[] {
  return text
    .split('\r\n')
    .slice(1)
    .flatMap((line) => {
      const colon = line.indexOf(':')
      return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()] as const]
    })
}
