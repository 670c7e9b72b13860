/** A message that this forwarder has received, and neither acknowledged nor given back. JetStream redelivers it after `ack_wait`. */
import type { JsMsg } from '@nats-io/jetstream'
import type { Batch, BatchAcknowledgement, DeadLetter } from '../batch/batch.js'
import type { Sender } from '../batch/sender.js'
import { JOB_OVERHEAD_BYTES } from '../delivery/job.js'
import type { Clock } from '../shared/clock.js'
import { pause } from '../shared/pause.js'
import type { QueueConnection } from './queue-connection.js'

/**
 * `sending`: its batch waits for the first reply. `failing`: the service failed or refused it, or a part of it. `settled`: all of its
 * entries have an outcome, or it was given up, or it is not a batch; rejected entries are being stored.
 */
type Phase = 'sending' | 'failing' | 'settled'

export interface HeldMessageOptions {
  readonly message: JsMsg
  /** Undefined if the message is not a batch. */
  readonly batch: Batch | undefined
  /**
   * Milliseconds after an extension for which the message is certainly this forwarder's. Less than `ack_wait` by the time that the
   * client needs to notice a lost connection, since the extensions of that time have no effect.
   */
  readonly leaseMs: number
  readonly connection: Pick<QueueConnection, 'current'>
  readonly clock: Clock
}

const ACK_TIMEOUT_MS = 1_000
const ACK_RETRY_MS = 250
/** By then JetStream has redelivered the message, and the bucket contains the id. */
const ACK_MS = 60_000

export class HeldMessage {
  readonly message: JsMsg
  /** With an acknowledgement that leads back to this message. */
  readonly batch: Batch | undefined
  /** Memory that it takes. */
  readonly bytes: number
  /** The rejected entries, when all entries are settled; undefined if the batch was given up. */
  readonly ended: Promise<readonly DeadLetter[] | undefined>
  readonly deadLetters: DeadLetter[] = []
  phase: Phase
  readonly #options: HeldMessageOptions
  #leaseEndsAt: number
  #settledEntries = 0
  #isGivenUp = false
  #isAcknowledged = false
  #end: (letters?: readonly DeadLetter[]) => void = () => {}

  constructor(options: HeldMessageOptions) {
    const { message, batch, leaseMs, clock } = options
    this.#options = options
    this.message = message
    this.batch = batch && { ...batch, acknowledgement: createAcknowledgement(this, batch.count) }
    this.bytes = (batch?.body.length ?? message.data.length) + JOB_OVERHEAD_BYTES
    this.phase = batch === undefined ? 'settled' : 'sending'
    this.ended = new Promise((resolve) => (this.#end = resolve))
    this.#leaseEndsAt = clock.now() + leaseMs
  }

  /** Whether JetStream may have delivered the message to another forwarder. Stays true. */
  get isOverdue(): boolean {
    return this.#options.clock.now() > this.#leaseEndsAt
  }

  /** Whether its batch may be sent, and parts of it. */
  get maySend(): boolean {
    return !this.#isGivenUp && !this.isOverdue
  }

  settle(count: number): void {
    this.#settledEntries += count
    if (this.#settledEntries === this.batch?.count) this.#end(this.deadLetters)
  }

  giveUp(): void {
    this.#isGivenUp = true
    this.#end()
  }

  /** Restarts `ack_wait`. Does nothing once the message is overdue. */
  extend(): void {
    const { leaseMs, connection, clock } = this.#options
    // Without a connection, the client would keep what is sent until it is of no use.
    if (this.isOverdue || connection.current === undefined) return
    this.message.working()
    this.#leaseEndsAt = clock.now() + leaseMs
  }

  /**
   * Repeats the acknowledgement until the server confirms it, for a minute: while a leader is elected, nobody receives it. Not by
   * `ackAck()` of the client, which cannot be repeated. Never rejects.
   * @param signal ends the attempts
   */
  async acknowledge(signal: AbortSignal): Promise<void> {
    const { connection, clock } = this.#options
    const { reply } = this.message as JsMsg & { readonly reply: string }
    this.#isAcknowledged = true
    const endsAt = clock.now() + ACK_MS
    while (!signal.aborted && clock.now() < endsAt) {
      const sent = connection.current?.request(reply, '+ACK', { timeout: ACK_TIMEOUT_MS })
      if (sent && (await sent.then(Boolean, () => false))) return
      await pause(clock, ACK_RETRY_MS, signal)
    }
  }

  /** JetStream redelivers the message to any forwarder after the delay. An overdue one is another forwarder's. */
  giveBack(delayMs: number): void {
    const { connection } = this.#options
    if (!this.isOverdue && !this.#isAcknowledged && connection.current !== undefined) this.message.nak(delayMs)
  }
}

interface HeldAcknowledgement extends BatchAcknowledgement {
  readonly held: HeldMessage
}

/** @param count entries of the batch, or of a part of it */
function createAcknowledgement(held: HeldMessage, count: number): HeldAcknowledgement {
  return {
    held,
    // JetStream stores the batch, so delivery may give it up at any time.
    isDurable: true,
    createPart: ({ length }) => createAcknowledgement(held, length),
    storeDeadLetters: (letters) => void held.deadLetters.push(...letters),
    acknowledge: (positions) => held.settle(positions?.length ?? count),
  }
}

/** @param batch that of a held message, or a part of it */
export function toHeldMessage({ acknowledgement }: Batch): HeldMessage {
  return (acknowledgement as HeldAcknowledgement).held
}

/** Sends a batch only while its message is this forwarder's, and parts of it only until it is given up. */
export function createLeasedSender(inner: Sender): Sender {
  return {
    async send(batch, signal) {
      if (toHeldMessage(batch).maySend) return inner.send(batch, signal)
      return { kind: 'abandoned', reason: 'JetStream may have delivered it to another forwarder' }
    },
  }
}
