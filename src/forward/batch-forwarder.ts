/** Takes batches of one kind from the queue at the rate at which the service accepts them, delivers and acknowledges them. */
import { setMaxListeners } from 'node:events'
import type { JsMsg } from '@nats-io/jetstream'
import type { Batch, DeadLetter } from '../batch/batch.js'
import type { Outcome } from '../batch/outcome.js'
import type { DeliveryEvent } from '../delivery/delivery-event.js'
import type { Scheduler } from '../delivery/scheduler.js'
import type { BatchKind } from '../nats/message.js'
import type { EndpointPipeline } from '../pipeline/endpoint-pipeline.js'
import type { Clock } from '../shared/clock.js'
import type { DeadLetterStore } from './dead-letter-store.js'
import type { DeliveredBatches } from './delivered-batches.js'
import { ForwardStats } from './forward-metrics.js'
import { HeldMessage, toHeldMessage } from './held-message.js'
import type { QueueConnection } from './queue-connection.js'
import type { QueueConsumer } from './queue-consumer.js'
import type { QueueHealth } from './queue-health.js'
import { readMessage } from './queue-message.js'
import type { NoBatch } from './queue-message.js'

export interface BatchForwarderOptions {
  readonly kind: BatchKind
  readonly connection: Pick<QueueConnection, 'current'>
  readonly consumer: Pick<QueueConsumer, 'info' | 'run' | 'close'>
  /** Its target's sender is a `createLeasedSender`. */
  readonly pipeline: EndpointPipeline
  readonly delivered: Pick<DeliveredBatches, 'has' | 'add'>
  readonly deadLetters: Pick<DeadLetterStore, 'store'>
  readonly health: Pick<QueueHealth, 'failed' | 'works'>
  readonly clock: Clock
  /** Limit of the bodies of the batches that are being sent, and of those that fail. A single batch can exceed it. */
  readonly maxBufferBytes: number
}

/** Interval at which the held messages are extended, unless a sixth of `ack_wait` is shorter. */
const EXTEND_MS = 5_000
const LEAST_EXTEND_MS = 100
/** Delay before a batch that is given back for the first time is redelivered. */
const FIRST_RETURN_MS = 1_000
/** Delay if it was redelivered before, or if another message with its batch id is held. */
const NEXT_RETURN_MS = 10_000
/** Batches taken per request that may be in flight, so that the next one is ready. */
const READY = 2
/** Batches taken while the service refuses: it may accept one of them, and JetStream delivers those that were given back first. */
const CHOICE = 64
/** At the end: one attempt, and another if that used a closed connection. */
const FAILURES_AT_END = 2
/** Time for aborted batches to be given back. */
const ABORT_MS = 300
const INTERNAL = 'an internal error'
/** As for all statuses that concern the size, the batch is halved. */
const TOO_LARGE = 413

export class BatchForwarder {
  readonly stats = new ForwardStats()
  readonly #options: BatchForwarderOptions
  /** By batch id; a message that is not a batch by its sequence. */
  readonly #held = new Map<string, HeldMessage>()
  /** Ids of batches that the service has refused since it last accepted one; two are kept. */
  readonly #refused = new Set<string>()
  /** Ends waits and retries at the end of `stop`. */
  readonly #abort = new AbortController()
  /** Waits for a change: room, or a batch that ended. */
  readonly #waits = new Set<() => void>()
  #isStopping = false
  #cancelExtend: () => void = () => {}

  constructor(options: BatchForwarderOptions) {
    this.#options = options
    setMaxListeners(0, this.#abort.signal)
    options.pipeline.events.on((event) => this.#onEvent(event))
  }

  get kind(): BatchKind {
    return this.#options.kind
  }
  /** Batches that are being sent or wait for their next attempt. */
  get inFlight(): number {
    return [...this.#held.values()].filter(({ phase }) => phase !== 'settled').length
  }
  /** What is known about the service, and how many requests it may get at a time. */
  get delivery(): Pick<Scheduler, 'limit' | 'health' | 'lastFailure'> {
    return this.#options.pipeline.delivery
  }
  /** Whether the service was called. */
  get isUsed(): boolean {
    return Object.values(this.stats.requests).some((count) => count > 0)
  }
  /** Whether the service refuses everything. A single refused batch is no evidence of that. */
  get refusesEverything(): boolean {
    return this.#refused.size > 1
  }

  /** Runs until `stop`. Never rejects. */
  async run(): Promise<void> {
    this.#startExtending()
    await this.#options.consumer.run({
      waitForRoom: (timeoutMs) => this.#until(() => this.#isStopping || this.#hasRoom, timeoutMs),
      take: (message) => this.#take(message),
    })
  }

  /**
   * Takes no more messages, delivers the held batches until `deadlineAt`, and gives back the rest. Never rejects.
   * @param deadlineAt on the monotonic clock
   */
  async stop(deadlineAt: number): Promise<void> {
    const { pipeline, clock } = this.#options
    this.#isStopping = true
    this.#options.consumer.close()
    this.#wake()
    await pipeline.drain(deadlineAt - clock.now(), FAILURES_AT_END)
    pipeline.close()
    for (const held of this.#held.values()) held.giveUp()
    await this.#until(() => this.#held.size === 0, deadlineAt - clock.now())
    this.#abort.abort()
    await this.#until(() => this.#held.size === 0, ABORT_MS)
    for (const held of this.#held.values()) held.giveBack(0)
    this.#cancelExtend()
  }

  /** Failing batches take no room from others. */
  get #hasRoom(): boolean {
    const { health, limit } = this.delivery
    // In one pass without a copy, since every message asks.
    let [sending, bytes] = [0, 0]
    for (const held of this.#held.values()) {
      if (held.phase === 'sending') sending += 1
      if (held.phase !== 'failing') bytes += held.bytes
    }
    const most = health.kind === 'denied' ? CHOICE : limit * READY
    return sending < most && bytes < this.#options.maxBufferBytes
  }

  #take(message: JsMsg): void {
    const { connection, clock, health } = this.#options
    const read = readMessage(message)
    const batch = 'problem' in read ? undefined : read
    const key = batch?.batchId ?? String(message.seq)
    const held = new HeldMessage({ message, batch, leaseMs: this.#ackWaitMs / 3, connection, clock })
    if (this.#isStopping) return held.giveBack(0)
    // The outcome of the other message decides whether this one is a duplicate.
    if (this.#held.has(key)) return held.giveBack(NEXT_RETURN_MS)
    this.#held.set(key, held)
    void ('problem' in read ? this.#storeInvalid(held, read) : this.#deliver(held, read))
      .catch((bug: unknown) => {
        health.failed(INTERNAL, 'UNAVAILABLE', `${String(bug)}, please report it`, true)
        this.#giveBack(held)
      })
      .finally(() => {
        this.#held.delete(key)
        this.#wake()
      })
  }

  async #deliver(held: HeldMessage, { batchId, count }: Batch): Promise<void> {
    const { stats } = this
    const { pipeline, delivered, deadLetters, health, clock } = this.#options
    if (held.message.redelivered) {
      stats.batches.redelivered += 1
      stats.entries.redelivered += count
    }
    if (await delivered.has(batchId, this.#abort.signal)) {
      stats.batches.duplicate += 1
      stats.entries.duplicate += count
      return held.acknowledge(this.#abort.signal)
    }
    pipeline.add(held.batch as Batch)
    const letters = await held.ended
    held.phase = 'settled'
    this.#wake()
    if (letters === undefined) {
      pipeline.delivery.withdraw((part) => toHeldMessage(part) === held)
      return this.#giveBack(held)
    }
    stats.batches.forwarded += 1
    stats.lastSuccessAtMs = clock.wallNow()
    if (!(await deadLetters.store(this.kind, letters, this.#abort.signal))) return held.giveBack(0)
    // Neither waits for the other: each alone keeps the batch from being sent again, and their leaders are elected at different times.
    void delivered.add(batchId, this.#abort.signal)
    await held.acknowledge(this.#abort.signal)
    health.works(INTERNAL)
  }

  #giveBack(held: HeldMessage): void {
    this.stats.batches.released += 1
    const delayMs = held.message.redelivered ? NEXT_RETURN_MS : FIRST_RETURN_MS
    held.giveBack(this.#isStopping ? 0 : delayMs)
  }

  /** Stores a message that is not a batch as a dead letter, since the service would always refuse it. */
  async #storeInvalid(held: HeldMessage, { id, problem }: NoBatch): Promise<void> {
    const { streamSequence, timestampNanos } = held.message.info
    const letter: DeadLetter = {
      // The message's id alone may not be unique.
      batchId: `${id === '' ? 'message' : id}-${streamSequence}-${timestampNanos}`,
      index: 0,
      status: 0,
      code: 'INVALID',
      field: '',
      reason: `the message is not a batch: ${problem}`,
      entry: '',
    }
    const { deadLetters, kind } = this.#options
    if (!(await deadLetters.store(kind, [letter], this.#abort.signal, held.message.data))) return held.giveBack(0)
    this.stats.batches.invalid += 1
    await held.acknowledge(this.#abort.signal)
  }

  #onEvent(event: DeliveryEvent): void {
    const { entries, requests } = this.stats
    if (event.kind === 'accepted') this.#refused.clear()
    else if (event.kind === 'settled') {
      entries.forwarded += event.accepted
      entries.rejected += event.rejected
    } else if (event.kind === 'replied') {
      const { job, outcome } = event
      requests[outcome.kind] += 1
      if (outcome.kind !== 'delivered') this.#failed(toHeldMessage(job.batch), job.batch.origin === undefined, outcome)
      this.#wake()
    }
  }

  /**
   * Gives the batch up, or leaves it to delivery, which repeats or divides it. Only `stop` gives up a divided batch: its accepted entries
   * would be sent again.
   * @param isWhole whether the reply is to the whole batch, not to a part
   */
  #failed(held: HeldMessage, isWhole: boolean, outcome: Outcome): void {
    const { maxBufferBytes } = this.#options
    if (outcome.kind === 'abandoned') return held.giveUp()
    held.phase = 'failing'
    if (!isWhole) return
    const isRefused = namesNoEntry(outcome)
    if (isRefused && this.#refused.size < 2) this.#refused.add(held.batch?.batchId ?? '')
    const failing = [...this.#held.values()].filter(({ phase }) => phase === 'failing')
    const bytes = failing.reduce((sum, one) => sum + one.bytes, 0)
    // Another forwarder may have another key or reach another node, so it tries first. If the batch is refused again, its content may be the
    // cause.
    const isFirst = isRefused && !held.message.redelivered
    if (isFirst || (failing.length > 1 && bytes > maxBufferBytes)) held.giveUp()
  }

  get #ackWaitMs(): number {
    return (this.#options.consumer.info?.config.ack_wait ?? 0) / 1_000_000
  }

  #startExtending(): void {
    const extendMs = Math.max(Math.min(EXTEND_MS, this.#ackWaitMs / 6), LEAST_EXTEND_MS)
    this.#cancelExtend = this.#options.clock.timer(extendMs, () => {
      for (const held of this.#held.values()) held.extend()
      this.#startExtending()
    })
  }

  #wake(): void {
    for (const check of this.#waits) check()
  }

  /** @returns whether the condition holds; false after `timeoutMs` */
  async #until(condition: () => boolean, timeoutMs = Infinity): Promise<boolean> {
    if (condition()) return true
    return new Promise((resolve) => {
      const end = (isTrue: boolean): void => {
        cancel()
        this.#waits.delete(check)
        resolve(isTrue)
      }
      const check = (): void => void (condition() && end(true))
      const cancel = timeoutMs === Infinity ? () => {} : this.#options.clock.timer(timeoutMs, () => end(false))
      this.#waits.add(check)
    })
  }
}

/** Whether the reply refuses the batch without naming an entry. */
function namesNoEntry(outcome: Outcome): boolean {
  if (outcome.kind === 'endpoint-rejected') return true
  return outcome.kind === 'refused' && outcome.status !== TOO_LARGE && outcome.rejected.length === 0
}
