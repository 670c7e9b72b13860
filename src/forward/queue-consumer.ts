/** The durable consumer of one kind of batches. Hands its messages on at the rate at which there is room for them. */
import type { ConsumerInfo, ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { manageJetStream } from '../nats/connect.js'
import loadNats from '../nats/load-nats.cjs'
import type { BatchKind, StreamNames } from '../nats/message.js'
import { describeNatsError, isNotFound, JETSTREAM_CODES, readErrorCode } from '../nats/nats-error.js'
import type { Clock } from '../shared/clock.js'
import { pause } from '../shared/pause.js'
import type { QueueConnection } from './queue-connection.js'
import type { QueueHealth } from './queue-health.js'

export interface QueueConsumerOptions {
  readonly kind: BatchKind
  readonly names: StreamNames
  readonly connection: Pick<QueueConnection, 'current'>
  readonly health: Pick<QueueHealth, 'failed' | 'works'>
  readonly clock: Clock
}

/** Who receives the messages. */
export interface Receiver {
  /** Resolves when there is room for a message, and at the end; to false if there is none within `timeoutMs`. */
  waitForRoom(timeoutMs?: number): Promise<boolean>
  take(message: JsMsg): void
}

const INFO_TIMEOUT_MS = 2_000
const RETRY_MS = 100
/**
 * Messages that the client requests ahead. They wait in its iterator, where nothing extends them: all of them together must wait less
 * than `ack_wait`.
 */
const PREFETCHED = 8
/** Time without room after which the prefetched messages are given back. */
const NO_ROOM_MS = 2_000
const PULL_EXPIRES_MS = 10_000
/** After two missed heartbeats the client repeats its request. Longer than `NO_ROOM_MS`, in which it has no request open. */
const HEARTBEAT_MS = 2_500

export class QueueConsumer {
  readonly #options: QueueConsumerOptions
  readonly #part: string
  readonly #closed = new AbortController()
  #messages: ConsumerMessages | undefined
  /** State at the last inspection; undefined if it does not exist. */
  info: ConsumerInfo | undefined
  /** It exists, and its leader answers. */
  isReady = false

  constructor(options: QueueConsumerOptions) {
    this.#options = options
    this.#part = `the consumer ${options.names.consumers[options.kind]}`
  }

  /** Reads its state from JetStream. Never rejects. */
  async inspect(): Promise<void> {
    const { connection, names, kind, health } = this.#options
    if (connection.current === undefined) return
    try {
      const { consumers } = await manageJetStream(connection.current, INFO_TIMEOUT_MS)
      this.info = await consumers.info(names.stream, names.consumers[kind])
      this.isReady = true
      health.works(this.#part)
    } catch (error) {
      this.isReady = false
      if (!isNotFound(error)) return this.#fails(error)
      this.info = undefined
      void this.#messages?.close()
      const what = readErrorCode(error) === JETSTREAM_CODES.streamNotFound ? `the stream ${names.stream}` : 'it'
      health.failed(this.#part, 'MISDIRECTED', `${what} does not exist; run pino-ingest forward init`, true)
    }
  }

  /** Hands messages to `receiver` until `close`. Never rejects. */
  async run(receiver: Receiver): Promise<void> {
    const { connection, clock } = this.#options
    const { signal } = this.#closed
    while (!signal.aborted) {
      await receiver.waitForRoom()
      const { current } = connection
      try {
        if (current === undefined || this.info === undefined) await pause(clock, RETRY_MS, signal)
        else await this.#consume(current, this.info, receiver)
      } catch (error) {
        this.#fails(error)
        await pause(clock, RETRY_MS, signal)
      }
    }
  }

  /** Gives back the prefetched messages. */
  close(): void {
    this.#closed.abort()
    void this.#messages?.close()
  }

  /** Resolves when the client ends the iteration: the consumer is missing, there was no room, or `close`. */
  async #consume(connection: NatsConnection, info: ConsumerInfo, receiver: Receiver): Promise<void> {
    const consumer = loadNats().jetstream(connection).consumers.getConsumerFromInfo(info)
    const messages = await consumer.consume({
      max_messages: PREFETCHED,
      expires: PULL_EXPIRES_MS,
      idle_heartbeat: HEARTBEAT_MS,
      // Else, after missed heartbeats, the client requests nothing until it can read the consumer's state, and waits `expires` after each try.
      bind: true,
    })
    this.#messages = messages
    let isOver = false
    for await (const message of messages) {
      isOver ||= !(await receiver.waitForRoom(NO_ROOM_MS)) || this.#closed.signal.aborted
      if (isOver) void messages.close()
      // Without a connection the message is ignored: JetStream may redeliver it to another forwarder.
      if (this.#options.connection.current === undefined) continue
      // Another forwarder may have room.
      if (isOver) message.nak()
      else receiver.take(message)
    }
  }

  #fails(error: unknown): void {
    const { connection, health } = this.#options
    // A lost connection is reported elsewhere.
    if (connection.current !== undefined) health.failed(this.#part, 'UNAVAILABLE', describeNatsError(error))
  }
}
