/** A message that this forwarder has received but not acknowledged or released. JetStream redelivers it after `ack_wait`. */
import type { Msg } from '@nats-io/transport-node'
import type { Clock } from '../shared/clock.js'
import type { QueueConnection } from './queue-connection.js'
import { pause } from '../shared/pause.js'
import type { StreamIncarnation } from './stream-incarnation.js'

const ACK = '+ACK'
const WORKING = '+WPI'
const NAK = '-NAK'
/** Time to wait for the server's reply. */
const ACK_TIMEOUT_MS = 1_000
const RETRY_MS = 250
/** By then JetStream has redelivered the message, and the bucket contains its id. */
const GIVE_UP_MS = 60_000

export interface PulledMessageOptions {
  readonly message: Msg
  readonly connection: Pick<QueueConnection, 'current'>
  readonly incarnation: Pick<StreamIncarnation, 'id' | 'isStill'>
  /** The consumer's `ack_wait`. */
  readonly ackWaitMs: () => number
  readonly clock: Clock
}

export class PulledMessage {
  readonly message: Msg
  readonly #options: PulledMessageOptions
  /** Incarnation of the stream that the message came from. */
  readonly #incarnationId: string | undefined
  readonly #receivedAt: number
  #isReleased = false
  #extendedAt: number
  #isOverdue = false

  constructor(options: PulledMessageOptions) {
    this.message = options.message
    this.#options = options
    this.#incarnationId = options.incarnation.id
    this.#receivedAt = this.#extendedAt = options.clock.now()
  }

  /** Restarts `ack_wait`, unless it has expired. Never rejects. */
  async extend(): Promise<void> {
    const { message, connection, clock } = this.#options
    const { current } = connection
    if (current === undefined || this.isOverdue || this.#isOfFormerStream) return
    const sentAt = clock.now()
    try {
      // As a request: a frozen server or a consumer without a leader does not reply.
      await current.request(message.reply ?? '', WORKING, { timeout: ACK_TIMEOUT_MS })
      if (!this.isOverdue) this.#extendedAt = sentAt
    } catch {
      // The next attempt may succeed.
    }
  }

  /** `ack_wait` expired without an extension, so JetStream may have delivered the message to another forwarder. Stays true. */
  get isOverdue(): boolean {
    this.#isOverdue ||= this.#options.clock.now() - this.#extendedAt > this.#options.ackWaitMs()
    return this.#isOverdue
  }

  /** Lets JetStream redeliver the message to any forwarder. @param delayMs delay before the redelivery */
  release(delayMs = 0): void {
    // Releasing an overdue message would take it from the forwarder that now holds it.
    if (this.#isReleased || this.isOverdue || this.#isOfFormerStream) return
    this.#isReleased = true
    this.#publish(delayMs === 0 ? NAK : `${NAK} ${JSON.stringify({ delay: delayMs * 1_000_000 })}`)
  }

  /**
   * Repeats the acknowledgement until the server confirms it, since a lost acknowledgement causes a redelivery.
   * @param signal ends the attempts
   * @returns whether it is confirmed. Never rejects
   */
  async acknowledge(signal: AbortSignal): Promise<boolean> {
    const { message, connection, incarnation, clock } = this.#options
    this.#isReleased = true
    const giveUpAt = clock.now() + GIVE_UP_MS
    do {
      const isOwn = await incarnation.isStill(this.#incarnationId, this.#receivedAt)
      if (isOwn === false) return false
      try {
        // Not `JsMsg.ackAck()`, which cannot be repeated.
        const sent = isOwn && connection.current?.request(message.reply ?? '', ACK, { timeout: ACK_TIMEOUT_MS })
        if (sent) {
          await sent
          return true
        }
      } catch {
        // No leader, a timeout or a lost connection: retry.
      }
      await pause(clock, RETRY_MS, signal)
    } while (!signal.aborted && clock.now() < giveUpAt)
    return false
  }

  get #isOfFormerStream(): boolean {
    return this.#incarnationId !== this.#options.incarnation.id
  }

  #publish(text: string): void {
    try {
      this.#options.connection.current?.publish(this.message.reply ?? '', text)
    } catch {
      // The connection is closing: the message is redelivered.
    }
  }
}
