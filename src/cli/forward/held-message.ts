/** A message that this forwarder has received and not yet settled. JetStream redelivers it when `ack_wait` is over. */
import type { Msg } from '@nats-io/transport-node'
import type { Clock } from '../../shared/clock.js'
import type { QueueConnection } from './queue-connection.js'
import { pause } from './pause.js'
import type { StreamIncarnation } from './stream-incarnation.js'

const ACK = '+ACK'
const WORKING = '+WPI'
const NAK = '-NAK'
/** For the server's answer to an acknowledgement. */
const ACK_TIMEOUT_MS = 1_000
const RETRY_MS = 250
/** It was redelivered by then, and the bucket knows that it was delivered. */
const GIVE_UP_MS = 60_000

export interface HeldMessageOptions {
  readonly message: Msg
  readonly connection: Pick<QueueConnection, 'current'>
  readonly incarnation: Pick<StreamIncarnation, 'id' | 'isStill'>
  /** Of the consumer, in milliseconds. */
  readonly ackWaitMs: () => number
  readonly clock: Clock
}

export class HeldMessage {
  readonly message: Msg
  readonly #options: HeldMessageOptions
  /** Of the stream that it came from. */
  readonly #incarnationId: string | undefined
  readonly #receivedAt: number
  #isReleased = false
  #extendedAt: number
  #isOverdue = false

  constructor(options: HeldMessageOptions) {
    this.message = options.message
    this.#options = options
    this.#incarnationId = options.incarnation.id
    this.#receivedAt = this.#extendedAt = options.clock.now()
  }

  /** Restarts `ack_wait`, unless it is over. Never rejects. */
  async extend(): Promise<void> {
    const { message, connection, clock } = this.#options
    const { current } = connection
    if (current === undefined || this.isOverdue || this.#isOfFormerStream) return
    const sentAt = clock.now()
    try {
      // A frozen server, or a consumer without a leader, does not take it.
      await current.request(message.reply ?? '', WORKING, { timeout: ACK_TIMEOUT_MS })
      if (!this.isOverdue) this.#extendedAt = sentAt
    } catch {
      // The next one may be taken.
    }
  }

  /** JetStream may have given it to another forwarder, since it could not be extended for as long. That stays so. */
  get isOverdue(): boolean {
    this.#isOverdue ||= this.#options.clock.now() - this.#extendedAt > this.#options.ackWaitMs()
    return this.#isOverdue
  }

  /** Gives it back, for this or another forwarder. @param delayMs before it is redelivered; default 0 */
  release(delayMs = 0): void {
    // Of an overdue one the forwarder that has it now would be deprived.
    if (this.#isReleased || this.isOverdue || this.#isOfFormerStream) return
    this.#isReleased = true
    this.#publish(delayMs === 0 ? NAK : `${NAK} ${JSON.stringify({ delay: delayMs * 1_000_000 })}`)
  }

  /**
   * Acknowledges it until the server confirms: an acknowledgement that is lost would cost a redelivery.
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
        // No leader, a timeout, or the connection was lost: the same is sent again.
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
