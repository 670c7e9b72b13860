/** Pulls batches of one kind from the queue at the rate at which the service accepts them, delivers and acknowledges them. */
import { setMaxListeners } from 'node:events'
import type { Msg } from '@nats-io/transport-node'
import type { DeadLetter } from '../batch/batch.js'
import type { DeliveryEvent } from '../delivery/delivery-event.js'
import { countBytes } from '../delivery/job.js'
import { parseAckSubject } from '../nats/jetstream-request.js'
import type { BatchKind, StreamNames } from '../nats/message.js'
import type { EndpointPipeline } from '../pipeline/endpoint-pipeline.js'
import type { Clock } from '../shared/clock.js'
import { ByteBudget } from './byte-budget.js'
import type { Share } from './byte-budget.js'
import type { ConsumerFacts } from './consumer-state.js'
import type { DeadLetterStore } from './dead-letter-store.js'
import type { DeliveredBatches } from './delivered-batches.js'
import { ForwardStats } from './forward-stats.js'
import { PulledMessage } from './pulled-message.js'
import type { QueueConnection } from './queue-connection.js'
import { QueueConsumer } from './queue-consumer.js'
import type { QueueHealth } from './queue-health.js'
import { computeBodyBytes, readMessage } from './queue-message.js'
import type { NoBatch, QueuedMessage } from './queue-message.js'
import { PulledBatch, toPulledBatch } from './pulled-batch.js'
import type { StreamIncarnation } from './stream-incarnation.js'
import { formatUnstored, parseUnstored } from './unstored-letters.js'

export interface BatchForwarderOptions {
  readonly kind: BatchKind
  readonly names: StreamNames
  readonly connection: QueueConnection
  readonly incarnation: StreamIncarnation
  /** Its target's sender is a `createLeasedSender`. */
  readonly pipeline: EndpointPipeline
  readonly delivered: Pick<DeliveredBatches, 'find' | 'add' | 'addUnfinished'>
  readonly deadLetters: Pick<DeadLetterStore, 'store'>
  readonly health: Pick<QueueHealth, 'failed' | 'works'>
  readonly clock: Clock
  /** Limit of the bytes of all unacknowledged batches, and of those that failed. A single batch can exceed it. */
  readonly maxBufferBytes: number
  readonly maxConcurrency: number
}

/** Interval at which unacknowledged messages are extended, unless a third of `ack_wait` is shorter. */
const EXTEND_MS = 10_000
/** Limit of delivered batches that wait for their acknowledgement. */
const MAX_UNACKNOWLEDGED = 40
/** Time for aborted batches to be released. */
const ABORT_MS = 300
/**
 * Delay before the redelivery of a batch that was given up, or that failed because of a bug. It doubles with each delivery: JetStream
 * delivers these batches before new ones, which would never be tried.
 */
const RELEASE_MS = 30_000
const MAX_DOUBLINGS = 10
/** Delay before the redelivery of a batch of which another message is in progress here. */
const DUPLICATE_MS = 5_000
/** At the end: one attempt, and another if that used a connection that was already closed. */
const FAILURES_AT_END = 2

export class BatchForwarder {
  readonly stats = new ForwardStats()
  readonly #options: BatchForwarderOptions
  readonly #consumer: QueueConsumer
  readonly #inProgress = new Set<PulledMessage>()
  readonly #budget: ByteBudget
  /** By batch id: from the lookup until the acknowledgement. */
  readonly #running = new Map<string, PulledBatch>()
  /** Ends waits and retries at the end of `stop`. */
  readonly #abort = new AbortController()
  /** Those of `#inProgress` whose batch has no outcome yet and did not fail. */
  readonly #delivering = new Set<PulledMessage>()
  /** The service refused them, or failed. They wait, possibly until other batches are accepted. */
  readonly #failed = new Set<PulledBatch>()
  #cancelExtend: () => void = () => {}
  #isStopping = false
  /** Waits for a change: a connection, room, a batch that ended, or `stop`. */
  readonly #waits: (() => void)[] = []

  constructor(options: BatchForwarderOptions) {
    this.#options = options
    this.#budget = new ByteBudget(options.maxBufferBytes)
    setMaxListeners(0, this.#abort.signal)
    this.#consumer = new QueueConsumer({
      ...options,
      onMessage: (message) => void this.#process(message),
      onAckWaitChanged: () => this.#startExtending(),
      hasRoom: () => this.#free > 0,
      signal: this.#abort.signal,
    })
    options.connection.connected.on(() => {
      // At once, since `ack_wait` continued during the outage.
      for (const pulled of this.#inProgress) void pulled.extend()
      this.#wake()
    })
    options.pipeline.events.on((event) => this.#onEvent(event))
  }

  get kind(): BatchKind {
    return this.#options.kind
  }
  /** Undefined until the consumer was found, and while the connection is lost. */
  get facts(): ConsumerFacts | undefined {
    return this.#consumer.facts
  }
  /** The consumer exists and answers pull requests. */
  get isReady(): boolean {
    return this.#consumer.isReady
  }
  /** Batches that are being sent or wait for a free slot. */
  get inFlight(): number {
    return this.#delivering.size + this.#failed.size
  }
  get limit(): number {
    return this.#options.pipeline.delivery.limit
  }
  /** Why the service accepts nothing. */
  get lastFailure(): string | undefined {
    return this.#options.pipeline.delivery.lastFailure
  }
  /** Whether the service was called. */
  get isUsed(): boolean {
    return Object.values(this.stats.requests).some((count) => count > 0)
  }
  /** Whether the service refuses everything. A single refused batch is no evidence of that. */
  get isRefused(): boolean {
    return this.#options.pipeline.delivery.health.kind === 'denied' && this.#failed.size > 1
  }

  /** Runs until `stop`. Never rejects. */
  async run(): Promise<void> {
    this.#startExtending()
    while (!this.#isStopping) {
      if (this.#options.connection.current === undefined || this.#free <= 0) await this.#untilWoken()
      else await this.#consumer.pull(this.#free, this.#budget.left)
    }
  }

  /** Reads the state of the consumer from JetStream. Never rejects. @returns whether the consumer exists */
  inspect(): Promise<boolean> {
    return this.#consumer.inspect()
  }

  /**
   * Stops pulling, delivers the unacknowledged batches until `deadlineAt`, and releases the rest. Never rejects.
   * @param deadlineAt on the monotonic clock
   */
  async stop(deadlineAt: number): Promise<void> {
    const { pipeline, clock } = this.#options
    this.#isStopping = true
    this.#consumer.close()
    this.#budget.close()
    this.#wake()
    await pipeline.drain(deadlineAt - clock.now(), FAILURES_AT_END)
    pipeline.close()
    for (const running of this.#running.values()) running.giveUp()
    await this.#untilSettled(deadlineAt - clock.now())
    this.#abort.abort()
    await this.#untilSettled(ABORT_MS)
    for (const pulled of this.#inProgress) pulled.release()
    this.#cancelExtend()
  }

  get #free(): number {
    const { pipeline, maxConcurrency } = this.#options
    // Batches that only wait for their acknowledgement do not use up concurrency, up to a limit: they would delay the next batches.
    const left = Math.max(maxConcurrency, MAX_UNACKNOWLEDGED) * 2 + this.#failed.size - this.#inProgress.size
    return this.#budget.left === 0 ? 0 : Math.min(pipeline.delivery.limit - this.#delivering.size, left)
  }

  #onEvent(event: DeliveryEvent): void {
    const { entries, requests } = this.stats
    if (event.kind === 'settled') {
      entries.forwarded += event.accepted
      entries.rejected += event.rejected
    } else if (event.kind === 'sent') toPulledBatch(event.job.batch).inFlight += 1
    else if (event.kind === 'replied') {
      const running = toPulledBatch(event.job.batch)
      const { kind } = event.outcome
      running.inFlight -= 1
      requests[kind] += 1
      if (kind === 'abandoned') running.giveUp()
      else if (kind !== 'delivered') this.#makeRoom(running)
      this.#wake()
    }
  }

  /** A batch that failed takes no room from others. If there are too many, those with the fewest settled entries are given up. */
  #makeRoom(running: PulledBatch): void {
    if (this.#running.get(running.batch.batchId) !== running || this.#failed.has(running)) return
    this.#failed.add(running)
    this.#delivering.delete(running.pulled)
    this.#budget.give(running.share)
    const failed = [...this.#failed].toSorted((a, b) => a.settledEntries - b.settledEntries)
    let bytes = failed.reduce((sum, one) => sum + countBytes(one), 0)
    for (const one of failed.slice(0, -1)) {
      if (bytes <= this.#options.maxBufferBytes) return
      if (one.inFlight > 0) continue
      one.giveUp()
      bytes -= countBytes(one)
    }
  }

  async #process(message: Msg): Promise<void> {
    const { connection, incarnation, clock } = this.#options
    const pulled = new PulledMessage({
      message,
      connection,
      incarnation,
      ackWaitMs: () => this.#consumer.ackWaitMs,
      clock,
    })
    if (this.#isStopping) return pulled.release()
    const share = this.#budget.take(message.data.length)
    this.#inProgress.add(pulled)
    this.#delivering.add(pulled)
    try {
      await this.#forward(pulled, share)
    } catch (bug) {
      // Not expected. The message is redelivered.
      this.#options.health.failed('a batch', 'UNAVAILABLE', String(bug), true)
      pulled.release(RELEASE_MS)
    }
    this.#inProgress.delete(pulled)
    this.#budget.give(share)
    this.#endDelivering(pulled)
  }

  /** @returns undefined if this forwarder stops before there is room for the body */
  #read({ message }: PulledMessage, share: Share): Promise<QueuedMessage | NoBatch | undefined> {
    const bytes = computeBodyBytes(message)
    if (bytes === undefined) return readMessage(message)
    return this.#budget.unpack(share, bytes, async () => {
      const read = await readMessage(message)
      return [read, 'batch' in read ? read.batch.body.length : 0]
    })
  }

  async #forward(pulled: PulledMessage, share: Share): Promise<void> {
    const { stats } = this
    const { pipeline, delivered, clock } = this.#options
    const read = await this.#read(pulled, share)
    if (read === undefined) return pulled.release()
    if ('problem' in read) {
      this.#endDelivering(pulled)
      return this.#storeInvalid(pulled, read)
    }
    const { batch } = read
    // The outcome of the other message decides whether this one is a duplicate.
    if (this.#running.has(batch.batchId)) return this.#release(pulled, DUPLICATE_MS)
    const deliveries = parseAckSubject(pulled.message.reply)?.deliveries ?? 1
    if (deliveries > 1) {
      stats.batches.redelivered += 1
      stats.entries.redelivered += batch.count
    }
    const running = new PulledBatch(batch, pulled, share)
    this.#running.set(batch.batchId, running)
    try {
      const known = await delivered.find(batch.batchId, this.#abort.signal)
      if (known !== undefined) {
        stats.batches.duplicate += 1
        stats.entries.duplicate += batch.count
        this.#endDelivering(pulled)
        if (known !== '') return await this.#settle(pulled, batch.batchId, parseUnstored(known, batch.body))
        return void (await pulled.acknowledge(this.#abort.signal))
      }
      pipeline.add(running.batch)
      const letters = await running.ended
      this.#failed.delete(running)
      this.#endDelivering(pulled)
      if (letters === undefined) {
        pipeline.delivery.withdraw((part) => toPulledBatch(part) === running)
        return this.#release(pulled, RELEASE_MS * 2 ** Math.min(deliveries - 1, MAX_DOUBLINGS))
      }
      stats.batches.forwarded += 1
      stats.lastSuccessAtMs = clock.wallNow()
      await this.#settle(pulled, batch.batchId, letters)
    } finally {
      this.#running.delete(batch.batchId)
    }
  }

  #release(pulled: PulledMessage, delayMs: number): void {
    this.stats.batches.released += 1
    pulled.release(this.#isStopping ? 0 : delayMs)
  }

  /** Call when the service has accepted the batch. @param letters the entries that it rejected */
  async #settle(pulled: PulledMessage, batchId: string, letters: readonly DeadLetter[]): Promise<void> {
    const { delivered, deadLetters, kind } = this.#options
    // Before the id is saved: a forwarder killed between the two steps would lose the letters.
    if (await deadLetters.store(kind, letters, this.#abort.signal)) {
      await delivered.add(batchId)
      await pulled.acknowledge(this.#abort.signal)
    } else {
      await delivered.addUnfinished(batchId, formatUnstored(letters))
      pulled.release()
    }
  }

  /** Stores a message that is not a batch as a dead letter, since the service would always refuse it. */
  async #storeInvalid(pulled: PulledMessage, { id, problem }: NoBatch): Promise<void> {
    const { deadLetters, kind } = this.#options
    const { sequence = 0, storedAt = '' } = parseAckSubject(pulled.message.reply) ?? {}
    const letter: DeadLetter = {
      // The message's id alone may not be unique.
      batchId: `${id === '' ? 'message' : id}-${sequence}-${storedAt}`,
      index: 0,
      status: 0,
      code: 'INVALID',
      field: '',
      reason: `the message is not a batch: ${problem}`,
      entry: '',
    }
    if (!(await deadLetters.store(kind, [letter], this.#abort.signal, pulled.message.data))) return pulled.release()
    this.stats.batches.invalid += 1
    await pulled.acknowledge(this.#abort.signal)
  }

  #startExtending(): void {
    this.#cancelExtend()
    this.#cancelExtend = this.#options.clock.timer(Math.min(EXTEND_MS, this.#consumer.ackWaitMs / 3), () => {
      for (const pulled of this.#inProgress) void pulled.extend()
      this.#startExtending()
    })
  }

  #endDelivering(pulled: PulledMessage): void {
    this.#delivering.delete(pulled)
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waits.splice(0)) resolve()
  }

  #untilWoken(): Promise<void> {
    return new Promise((resolve) => void this.#waits.push(resolve))
  }

  async #untilSettled(ms: number): Promise<void> {
    let isOver = false
    const cancel = this.#options.clock.timer(ms, () => {
      isOver = true
      this.#wake()
    })
    while (this.#inProgress.size > 0 && !isOver) await this.#untilWoken()
    cancel()
  }
}
