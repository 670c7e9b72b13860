/** The durable pull consumer of one kind of batches: its state, and requests for its messages. */
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { CONSUMER_NOT_FOUND, manageJetStream, STREAM_NOT_FOUND } from '../nats/jetstream-request.js'
import type { BatchKind, StreamNames } from '../nats/message.js'
import { describeNatsError, readErrorCode } from '../nats/nats-error.js'
import { PullSubscription } from '../nats/pull-subscription.js'
import type { PullFailure } from '../nats/pull-subscription.js'
import { ACK_WAIT_MS } from '../nats/streams.js'
import type { Clock } from '../shared/clock.js'
import { toConsumerState } from './consumer-state.js'
import type { ConsumerFacts } from './consumer-state.js'
import { pause } from '../shared/pause.js'
import type { QueueConnection } from './queue-connection.js'
import type { QueueHealth } from './queue-health.js'
import type { StreamIncarnation } from './stream-incarnation.js'

export interface QueueConsumerOptions {
  readonly kind: BatchKind
  readonly names: StreamNames
  readonly connection: Pick<QueueConnection, 'current' | 'disconnected'>
  readonly incarnation: Pick<StreamIncarnation, 'read'>
  readonly health: Pick<QueueHealth, 'failed' | 'works'>
  readonly clock: Clock
  /** Called synchronously for each message. */
  readonly onMessage: (message: Msg) => void
  readonly onAckWaitChanged: () => void
  /** Whether the forwarder has room for messages. */
  readonly hasRoom: () => boolean
  /** Ends the waits after failures. */
  readonly signal: AbortSignal
}

const INFO_TIMEOUT_MS = 2_000
const RETRY_MS = 250
const MISSING_RETRY_MS = 2_000

export class QueueConsumer {
  readonly #options: QueueConsumerOptions
  readonly #part: string
  readonly #pullPart: string
  readonly #streamPart: string
  #facts: ConsumerFacts | undefined
  #ackWaitMs = ACK_WAIT_MS
  /** Limits of a pull request, set by the consumer. */
  #maxBatch = Infinity
  #maxPullBytes = Infinity
  /** Backoff before the next pull request; 0 if the last one succeeded. */
  #pullPauseMs = 0
  /** The stream or the consumer does not exist. */
  #isMissing = false
  #isClosed = false
  #pulls: { readonly connection: NatsConnection; readonly subscription: PullSubscription } | undefined

  constructor(options: QueueConsumerOptions) {
    const { kind, names, connection } = options
    this.#options = options
    this.#part = `the consumer ${names.consumers[kind]}`
    this.#pullPart = `pull requests to ${names.consumers[kind]}`
    this.#streamPart = `the stream ${names.stream}`
    connection.disconnected.on(() => {
      this.#facts = undefined
      this.#pulls?.subscription.fail('the connection was lost')
    })
  }

  /** Undefined until the consumer was found, and while the connection is lost. */
  get facts(): ConsumerFacts | undefined {
    return this.#facts
  }
  /** The consumer exists and answers pull requests. */
  get isReady(): boolean {
    return this.#facts !== undefined && this.#pullPauseMs === 0
  }
  /** The last known `ack_wait`. */
  get ackWaitMs(): number {
    return this.#ackWaitMs
  }

  /**
   * Requests messages, or inspects the consumer if its state is unknown. Resolves when the next call is due: after a failure, after
   * a backoff. Call while connected. Never rejects.
   * @param count greatest number of messages
   * @param bytes greatest number of bytes of all messages together
   */
  async pull(count: number, bytes: number): Promise<void> {
    const { connection, clock, signal } = this.#options
    if (this.#facts === undefined) {
      if (!(await this.inspect())) await pause(clock, this.#isMissing ? MISSING_RETRY_MS : RETRY_MS, signal)
      return
    }
    const { current } = connection
    if (current === undefined) return
    const failure = await this.#subscriptionOn(current).pull(
      Math.min(count, this.#maxBatch),
      Math.min(bytes, this.#maxPullBytes),
    )
    if (failure === undefined) this.#pullWorks()
    else if (!this.#isClosed) await this.#pullFailed(failure)
  }

  /** Reads the state of the consumer from JetStream. Never rejects. @returns whether the consumer exists */
  async inspect(): Promise<boolean> {
    const { connection, incarnation, names, kind, health, hasRoom, onAckWaitChanged } = this.#options
    const { current } = connection
    if (current === undefined) return false
    this.#isMissing = false
    try {
      const { consumers } = await manageJetStream(current, INFO_TIMEOUT_MS)
      const state = toConsumerState(await consumers.info(names.stream, names.consumers[kind]))
      // Read before the next pull request: messages must be acknowledged to the stream incarnation that they came from.
      if (this.#facts === undefined) await incarnation.read()
      this.#maxBatch = state.maxBatch
      this.#maxPullBytes = state.maxPullBytes
      if (state.ackWaitMs !== this.#ackWaitMs) {
        this.#ackWaitMs = state.ackWaitMs
        onAckWaitChanged()
      }
      this.#facts = state
      health.works(this.#streamPart)
      health.works(this.#part)
      // Without room no pull request would report the recovery.
      if (!hasRoom()) this.#pullWorks()
      return true
    } catch (error) {
      const code = readErrorCode(error)
      this.#isMissing = code === CONSUMER_NOT_FOUND || code === STREAM_NOT_FOUND
      if (this.#isMissing) {
        this.#facts = undefined
        const part = code === STREAM_NOT_FOUND ? this.#streamPart : this.#part
        health.failed(part, 'MISDIRECTED', 'it does not exist; create it with pino-ingest forward init', true)
      } else health.failed(this.#part, 'UNAVAILABLE', describeNatsError(error))
      return false
    }
  }

  /** Ends the current request. */
  close(): void {
    this.#isClosed = true
    this.#pulls?.subscription.close()
  }

  #pullWorks(): void {
    this.#pullPauseMs = 0
    this.#options.health.works(this.#pullPart)
  }

  async #pullFailed({ reason, isLasting = false }: PullFailure): Promise<void> {
    const { health, clock, connection, signal } = this.#options
    // Makes the next call inspect the consumer: it may be missing.
    this.#facts = undefined
    // The connection was lost, which is reported elsewhere.
    if (connection.current === undefined) return
    if (isLasting) health.failed(this.#pullPart, 'MISDIRECTED', `${reason}; see pino-ingest forward init`, true)
    else health.failed(this.#pullPart, 'UNAVAILABLE', reason)
    // The server can refuse a request immediately although the consumer exists, so back off.
    this.#pullPauseMs = Math.min(Math.max(this.#pullPauseMs * 2, RETRY_MS), MISSING_RETRY_MS)
    await pause(clock, this.#pullPauseMs, signal)
  }

  #subscriptionOn(connection: NatsConnection): PullSubscription {
    if (this.#pulls?.connection === connection && !this.#pulls.subscription.isClosed) return this.#pulls.subscription
    const { names, kind, clock, onMessage } = this.#options
    const subscription = new PullSubscription({
      connection,
      stream: names.stream,
      consumer: names.consumers[kind],
      clock,
      onMessage,
      onAnswer: () => this.#pullWorks(),
    })
    this.#pulls = { connection, subscription }
    return subscription
  }
}
