/**
 * Republishes messages that remain in the queue although the consumer considers them acknowledged or does not know them. This happens if
 * the state of the servers differs after one was killed. JetStream no longer delivers these messages. Most of their batches were delivered
 * before; the lookup of each batch id skips them.
 */
import type { StoredMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { BATCH_ID_HEADER, MESSAGE_ID_HEADER } from '../nats/message.js'
import type { BatchKind, StreamNames } from '../nats/message.js'
import { manageJetStream, MESSAGE_TOO_LARGE, publishToStream } from '../nats/jetstream-request.js'
import { readErrorCode } from '../nats/nats-error.js'
import type { Reporter } from '../diagnostics/reporter.js'
import type { Clock } from '../shared/clock.js'
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
        const { streams } = await manageJetStream(current, TIMEOUT_MS)
        // The first sequences may belong to the other kind. The client's types lack `next_by_subj`.
        const query = { seq: from, next_by_subj: names.subjects[kind] }
        const message = await streams.getMessage(names.stream, query)
        if (message === null || message.seq > mark.until) return
        await this.#republish(current, kind, mark, message).catch((error: unknown) => {
          // It must not block the messages after it.
          if (!isUnpublishable(error)) throw error
        })
        from = message.seq + 1
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
    connection: NatsConnection,
    kind: BatchKind,
    { incarnationId }: Mark,
    { seq: sequence, data: body, header }: StoredMsg,
  ): Promise<void> {
    const { incarnation, names, clock } = this.#options
    const own = header.keys().filter((name) => !SERVER_HEADER.test(name))
    const batchId = header.get(BATCH_ID_HEADER) || header.get(MESSAGE_ID_HEADER)
    const startedAt = clock.now()
    const target = { stream: names.stream, subject: names.subjects[kind] }
    const { isDuplicate } = await publishToStream(connection, target, {
      body,
      headers: [
        ...own.map((name) => [name, header.get(name)] as const),
        ...(batchId === '' ? [] : [[BATCH_ID_HEADER, batchId] as const]),
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
    const { streams } = await manageJetStream(connection, TIMEOUT_MS)
    await streams.deleteMessage(names.stream, sequence, false).catch((error: unknown) => {
      // Another forwarder may have deleted it.
      if (readErrorCode(error) === undefined) throw error
    })
  }
}

/**
 * Whether the message can never be stored: it exceeds the current limits, possibly because of its new headers, or another program gave it
 * headers that the client refuses to send.
 */
function isUnpublishable(error: unknown): boolean {
  return readErrorCode(error) === MESSAGE_TOO_LARGE || (error instanceof Error && error.name === 'InvalidArgumentError')
}
