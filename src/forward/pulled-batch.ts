/** A pulled batch until all of its entries are settled. JetStream stores it, so it may be given up at any time. */
import type { Batch, BatchAcknowledgement, DeadLetter } from '../batch/batch.js'
import type { Sender } from '../batch/sender.js'
import type { Share } from './byte-budget.js'
import type { PulledMessage } from './pulled-message.js'

export class PulledBatch {
  readonly batch: Batch
  readonly pulled: PulledMessage
  /** Its part of the budget. */
  readonly share: Share
  /** The rejected entries, when all entries are settled; undefined if the batch was given up. */
  readonly ended: Promise<readonly DeadLetter[] | undefined>
  readonly deadLetters: DeadLetter[] = []
  /** Requests in flight. */
  inFlight = 0
  #settledEntries = 0
  #isGivenUp = false
  #end: (letters?: readonly DeadLetter[]) => void = () => {}

  constructor(batch: Batch, pulled: PulledMessage, share: Share) {
    this.batch = { ...batch, acknowledgement: new PulledPart(this, batch.count) }
    this.pulled = pulled
    this.share = share
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  get settledEntries(): number {
    return this.#settledEntries
  }

  settle(count: number): void {
    this.#settledEntries += count
    if (this.#settledEntries === this.batch.count) this.#end(this.deadLetters)
  }

  get isGivenUp(): boolean {
    return this.#isGivenUp
  }

  giveUp(): void {
    this.#isGivenUp = true
    this.#end()
  }
}

/** The acknowledgement of a batch or of a part. */
class PulledPart implements BatchAcknowledgement {
  readonly isDurable = true
  readonly running: PulledBatch
  readonly #count: number

  constructor(running: PulledBatch, count: number) {
    this.running = running
    this.#count = count
  }

  createPart({ length }: readonly number[]): PulledPart {
    return new PulledPart(this.running, length)
  }

  storeDeadLetters(letters: readonly DeadLetter[]): void {
    this.running.deadLetters.push(...letters)
  }

  acknowledge(positions?: readonly number[]): void {
    this.running.settle(positions?.length ?? this.#count)
  }
}

/** @param batch that of a `PulledBatch`, or a part of it */
export function toPulledBatch({ acknowledgement }: Batch): PulledBatch {
  return (acknowledgement as PulledPart).running
}

/** Sends a batch only while its message is still this forwarder's, and parts of it only until it is given up. */
export function createLeasedSender(inner: Sender): Sender {
  return {
    async send(batch, signal) {
      const { pulled, isGivenUp } = toPulledBatch(batch)
      if (!pulled.isOverdue && !isGivenUp) return inner.send(batch, signal)
      return { kind: 'abandoned', reason: 'JetStream may have delivered it to another forwarder' }
    },
  }
}
