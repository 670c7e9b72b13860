/**
 * Messages that stay in the queue though the consumer takes them for acknowledged, or does not know them: the servers may differ in what
 * they know when one was killed. No forwarder gets them any more, so they are published again. Most were delivered, which the lookup of
 * each batch finds out.
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
/** At a time: what comes in between is not delayed by thousands. */
const MAX_MESSAGES = 500
const EXPECTED_STREAM_HEADER = 'Nats-Expected-Stream'
/** The headers that are instructions to the server were for the first publication. */
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
  /** All messages up to it are acknowledged, as the consumer knows. */
  readonly ackFloor: number
  readonly pending: number
  readonly ackPending: number
  readonly ackWaitMs: number
}

/** What was seen, and when. */
interface Mark {
  readonly incarnationId: string
  /** The last sequence that the consumer will not deliver. What is published again comes behind it. */
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

  /** Messages that were published again. */
  get republished(): number {
    return this.#republished
  }

  /**
   * Call from time to time. Never rejects.
   * @param range first and last sequence in the stream
   */
  async check(range: SequenceRange, floors: readonly ConsumerFloor[]): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    try {
      for (const floor of floors) await this.#checkKind(range, floor)
    } catch {
      // No leader, a full stream, a lost connection: they are there the next time.
    } finally {
      this.#isBusy = false
    }
  }

  async #checkKind({ first, last }: SequenceRange, consumer: ConsumerFloor): Promise<void> {
    const { kind, ackFloor, pending, ackPending, ackWaitMs } = consumer
    // A consumer that has nothing to deliver may be led by a server whose copy of the stream lacks the last messages.
    const until = pending + ackPending === 0 ? last : Math.min(ackFloor, last)
    const { incarnation, clock } = this.#options
    const incarnationId = incarnation.id
    const mark = this.#marks.get(kind)
    if (incarnationId === undefined || first > until) return void this.#marks.delete(kind)
    // A consumer that goes on delivers what is above its floor, which may have been set back.
    if (mark === undefined || mark.incarnationId !== incarnationId || mark.until > until)
      return void this.#marks.set(kind, { incarnationId, until, at: clock.now() })
    // An acknowledged message is deleted a moment later, and after an election some seconds.
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
        // The first ones may be of the other kind.
        if (message === undefined || message.sequence > mark.until) return
        await this.#republish(current, kind, mark, message).catch((error: unknown) => {
          // Those behind it must not wait for it.
          if (!isUnpublishable(error)) throw error
        })
        from = message.sequence + 1
      }
    } finally {
      const count = this.#republished - republishedBefore
      if (count > 0)
        report.note(
          `orphaned ${kind}`,
          `NATS: published ${count} messages of ${names.subjects[kind]} again that no forwarder would have received, left by a server that was killed`,
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
        // Several forwarders find the same one: JetStream stores the first. A server that was killed may have had another batch at this
        // sequence, of which this one is no duplicate.
        [MESSAGE_ID_HEADER, `orphan-${incarnationId}-${sequence}-${batchId}`],
        [EXPECTED_STREAM_HEADER, names.stream],
      ],
      timeoutMs: TIMEOUT_MS,
    })
    if (!isDuplicate) this.#republished += 1
    // In a new stream of the name the sequence is another message.
    if ((await incarnation.isStill(incarnationId, startedAt)) !== true) throw new Error('the stream may be another one')
    await requestJetStream(connection, `$JS.API.STREAM.MSG.DELETE.${names.stream}`, {
      body: JSON.stringify({ seq: sequence, no_erase: true }),
      timeoutMs: TIMEOUT_MS,
    }).catch((error: unknown) => {
      // Another forwarder has deleted it.
      if (!(error instanceof JetStreamRequestError)) throw error
    })
  }
}

/**
 * Whether no attempt can store this message: it exceeds limits that have become smaller since, or that its new headers exceed; or another
 * program gave it headers that the client does not send.
 */
function isUnpublishable(error: unknown): boolean {
  if (error instanceof JetStreamRequestError) return error.errorCode === MESSAGE_TOO_LARGE
  return error instanceof Error && error.name === 'InvalidArgumentError'
}

/** @returns the first message of the kind at or after `from`, if there is one */
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

/** As they are on the wire: a line with the version, then one line each. */
function parseHeaders(text: string): (readonly [name: string, value: string])[] {
  return text
    .split('\r\n')
    .slice(1)
    .flatMap((line) => {
      const colon = line.indexOf(':')
      return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()] as const]
    })
}
