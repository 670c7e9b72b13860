/** Pulls batches of one kind from the queue at the rate at which the service accepts them, delivers and acknowledges them. */
import { setMaxListeners } from 'node:events'
import type { Msg } from '@nats-io/transport-node'
import type { DeadLetter } from '../../batch/batch.js'
import type { OutcomeRecorder } from '../../delivery/outcome-recorder.js'
import { parseAckSubject } from '../../nats/jetstream-request.js'
import type { BatchKind, StreamNames } from '../../nats/message.js'
import type { Clock } from '../../shared/clock.js'
import { BatchMutex } from './batch-mutex.js'
import { ByteBudget } from './byte-budget.js'
import type { Share } from './byte-budget.js'
import type { ConsumerFacts } from './consumer-state.js'
import type { DeadLetterStore } from './dead-letter-store.js'
import type { DeliveredBatches } from './delivered-batches.js'
import type { ForwardStats } from './forward-stats.js'
import { PulledMessage } from './pulled-message.js'
import type { QueueConnection } from './queue-connection.js'
import { QueueConsumer } from './queue-consumer.js'
import type { QueueHealth } from './queue-health.js'
import { computeBodyBytes, readMessage } from './queue-message.js'
import type { NoBatch, QueuedMessage } from './queue-message.js'
import type { ServiceDelivery } from './service-delivery.js'
import type { StreamIncarnation } from './stream-incarnation.js'
import { formatUnstored, parseUnstored } from './unstored-letters.js'

export interface BatchForwarderOptions {
  readonly kind: BatchKind
  readonly names: StreamNames
  readonly connection: QueueConnection
  readonly incarnation: StreamIncarnation
  readonly delivery: Pick<ServiceDelivery, 'breaker' | 'deliver' | 'isolated' | 'giveWay' | 'startShutdown' | 'abort'>
  readonly delivered: Pick<DeliveredBatches, 'find' | 'add' | 'addUnfinished'>
  readonly deadLetters: Pick<DeadLetterStore, 'store'>
  readonly recorder: Pick<OutcomeRecorder, 'record'>
  readonly health: Pick<QueueHealth, 'failed' | 'works'>
  readonly stats: ForwardStats
  readonly clock: Clock
  /** Limit of the bytes of all unacknowledged batches. A single batch can exceed it. */
  readonly maxBufferBytes: number
  readonly maxConcurrency: number
}

/** Interval at which unacknowledged messages are extended, unless a third of `ack_wait` is shorter. */
const EXTEND_MS = 10_000
/** Limit of delivered batches that wait for their acknowledgement. */
const MAX_UNACKNOWLEDGED = 40
/** Time for aborted batches to be released. */
const ABORT_MS = 300
/** Delay before the redelivery of a batch that was abandoned, or that failed because of a bug. */
const RELEASE_MS = 30_000
/** While the buffer is full: interval of the check whether all unacknowledged batches wait for other batches. */
const GIVE_WAY_MS = 500

export class BatchForwarder {
  readonly #options: BatchForwarderOptions
  readonly #consumer: QueueConsumer
  readonly #inProgress = new Set<PulledMessage>()
  readonly #budget: ByteBudget
  readonly #mutex = new BatchMutex()
  /** Ends waits and retries at the end of `stop`. */
  readonly #abort = new AbortController()
  #delivering = 0
  #cancelExtend: () => void = () => {}
  #isStopping = false
  /** Ends of the waits for a change: a connection, room, a batch that ended, or `stop`. */
  readonly #waits = new Set<(isWoken: boolean) => void>()

  constructor(options: BatchForwarderOptions) {
    this.#options = options
    this.#budget = new ByteBudget(options.maxBufferBytes, (waiting) => this.#isIsolatingAll(waiting))
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
    options.delivery.breaker.onCapacity(() => this.#wake())
  }

  get kind(): BatchKind {
    return this.#options.kind
  }
  get stats(): ForwardStats {
    return this.#options.stats
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
    return this.#delivering
  }
  get limit(): number {
    return this.#options.delivery.breaker.limit
  }

  /** Runs until `stop`. Never rejects. */
  async run(): Promise<void> {
    this.#startExtending()
    while (!this.#isStopping) {
      if (this.#options.connection.current === undefined) await this.#untilWoken()
      else if (this.#free <= 0) await this.#untilRoom()
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
    const { delivery, clock } = this.#options
    this.#isStopping = true
    this.#consumer.close()
    delivery.startShutdown(deadlineAt)
    this.#budget.close()
    this.#wake()
    await this.#untilSettled(deadlineAt - clock.now())
    delivery.abort()
    this.#abort.abort()
    await this.#untilSettled(ABORT_MS)
    for (const pulled of this.#inProgress) pulled.release()
    this.#cancelExtend()
  }

  get #free(): number {
    const { delivery, maxConcurrency } = this.#options
    // Batches that only wait for their acknowledgement do not use up concurrency, up to a limit: they would delay the next batches.
    const left = Math.max(maxConcurrency, MAX_UNACKNOWLEDGED) * 2 - this.#inProgress.size
    return this.#budget.left === 0 ? 0 : Math.min(delivery.breaker.limit - this.#delivering, left)
  }

  /** Whether each batch that does not wait was refused. @param waiting batches that wait for room */
  #isIsolatingAll(waiting: number): boolean {
    return this.#delivering - waiting - this.#mutex.waiting <= this.#options.delivery.isolated
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
    this.#delivering += 1
    let isDelivering = true
    const endDelivering = (): void => {
      if (!isDelivering) return
      isDelivering = false
      this.#delivering -= 1
      this.#wake()
    }
    try {
      await this.#forward(pulled, share, endDelivering)
    } catch (bug) {
      // Not expected. The message is redelivered.
      this.#options.health.failed('a batch', 'UNAVAILABLE', String(bug), true)
      pulled.release(RELEASE_MS)
    }
    endDelivering()
    this.#inProgress.delete(pulled)
    this.#budget.give(share)
    this.#wake()
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

  async #forward(pulled: PulledMessage, share: Share, endDelivering: () => void): Promise<void> {
    const { stats, delivered, delivery, recorder, clock } = this.#options
    const read = await this.#read(pulled, share)
    if (read === undefined) return pulled.release()
    if ('problem' in read) {
      endDelivering()
      return this.#storeInvalid(pulled, read)
    }
    const { batch } = read
    if ((parseAckSubject(pulled.message.reply)?.deliveries ?? 1) > 1) {
      stats.batches.redelivered += 1
      stats.entries.redelivered += batch.count
    }
    const endTurn = await this.#mutex.take(batch.batchId)
    try {
      const known = await delivered.find(batch.batchId, this.#abort.signal)
      if (known !== undefined) {
        stats.batches.duplicate += 1
        stats.entries.duplicate += batch.count
        endDelivering()
        if (known !== '') return await this.#settle(pulled, batch.batchId, parseUnstored(known, batch.body))
        return void (await pulled.acknowledge(this.#abort.signal))
      }
      const { outcome, deadLetters: letters } = await delivery.deliver(batch, () => !pulled.isOverdue)
      endDelivering()
      if (outcome.kind !== 'delivered') {
        stats.batches.released += 1
        return pulled.release(this.#isStopping ? 0 : RELEASE_MS)
      }
      stats.batches.forwarded += 1
      stats.entries.forwarded += outcome.accepted
      stats.entries.rejected += batch.count - outcome.accepted
      stats.lastSuccessAtMs = clock.wallNow()
      recorder.record(batch, outcome)
      await this.#settle(pulled, batch.batchId, letters)
    } finally {
      endTurn()
    }
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
    const { stats, deadLetters, kind } = this.#options
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
    stats.batches.invalid += 1
    await pulled.acknowledge(this.#abort.signal)
  }

  #startExtending(): void {
    this.#cancelExtend()
    this.#cancelExtend = this.#options.clock.timer(Math.min(EXTEND_MS, this.#consumer.ackWaitMs / 3), () => {
      for (const pulled of this.#inProgress) void pulled.extend()
      this.#startExtending()
    })
  }

  #wake(): void {
    for (const end of this.#waits) end(true)
  }

  /** @returns whether there was a change before the time had passed */
  #untilWoken(maxMs = Infinity): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isWoken: boolean): void => {
        cancel()
        this.#waits.delete(end)
        resolve(isWoken)
      }
      const cancel = maxMs === Infinity ? () => {} : this.#options.clock.timer(maxMs, () => end(false))
      this.#waits.add(end)
    })
  }

  /** Batches under isolation can wait until the service accepts another batch, for which there must be room. */
  async #untilRoom(): Promise<void> {
    const isWoken = await this.#untilWoken(GIVE_WAY_MS)
    if (!isWoken && this.#isIsolatingAll(this.#budget.waiting)) this.#options.delivery.giveWay()
  }

  async #untilSettled(ms: number): Promise<void> {
    const { clock } = this.#options
    const endsAt = clock.now() + ms
    while (this.#inProgress.size > 0 && clock.now() < endsAt) await this.#untilWoken(endsAt - clock.now())
  }
}
