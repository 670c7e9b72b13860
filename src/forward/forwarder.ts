/** Creates the parts of `pino-ingest forward` and connects them. */
import type { StreamState } from '@nats-io/jetstream'
import { formatPrometheusText } from '../app/metrics/prometheus-text.js'
import { createDestination } from '../delivery/destination.js'
import type { Destination } from '../delivery/destination.js'
import { Account } from '../diagnostics/account.js'
import { Reporter } from '../diagnostics/reporter.js'
import type { EmitEvent } from '../diagnostics/reporter.js'
import { createSecretMask } from '../diagnostics/secret-mask.js'
import { findOldServer, manageJetStream } from '../nats/connect.js'
import { toStreamNames } from '../nats/message.js'
import type { BatchKind } from '../nats/message.js'
import type { NatsSettings } from '../options/nats-settings.js'
import type { Settings } from '../options/settings.js'
import { EndpointPipeline } from '../pipeline/endpoint-pipeline.js'
import type { Clock } from '../shared/clock.js'
import { CONTROL_CHARACTERS } from '../shared/control-characters.js'
import { KeyPause } from '../shared/key-pause.js'
import { BatchForwarder } from './batch-forwarder.js'
import { DeadLetterStore } from './dead-letter-store.js'
import { DeliveredBatches } from './delivered-batches.js'
import { FORWARD_FAMILIES } from './forward-metrics.js'
import type { ForwardStats } from './forward-metrics.js'
import { createLeasedSender } from './held-message.js'
import { QueueConnection } from './queue-connection.js'
import { QueueConsumer } from './queue-consumer.js'
import { QueueHealth } from './queue-health.js'

export interface ForwarderOptions {
  readonly settings: Settings
  readonly nats: NatsSettings
  readonly secrets: readonly string[]
  readonly clock: Clock
  readonly logTo: Settings['logTo']
  readonly emit: EmitEvent
}

export interface ForwardTotals {
  readonly forwarded: number
  readonly rejected: number
  readonly duplicate: number
}

/** What `/healthz` answers. */
export interface Health {
  readonly ready: boolean
  /** Null if unknown. */
  readonly lag: number | null
  readonly oldestUnsentMs: number | null
  readonly lastError: string | null
}

const KINDS: readonly BatchKind[] = ['logs', 'requests']
const POLL_MS = 5_000
const INFO_TIMEOUT_MS = 2_000
/** Orchestrators wait 10 s. The rest of that time is for batches in flight at the deadline, and for closing the connection. */
const DELIVER_MS = 8_000

export class Forwarder {
  readonly #options: ForwarderOptions
  readonly #mask: (text: string) => string
  readonly #reporter: Reporter
  readonly #health: QueueHealth
  readonly #connection: QueueConnection
  readonly #stream: string
  readonly #consumers: Readonly<Record<BatchKind, QueueConsumer>>
  readonly #forwarders: readonly BatchForwarder[]
  readonly #destination: Destination
  /** Undefined if it cannot be read. */
  #streamState: StreamState | undefined
  #cancelPoll: () => void = () => {}
  #isStopping = false

  constructor(options: ForwarderOptions) {
    this.#options = options
    const { settings, nats, clock, logTo, emit } = options
    const secrets = [...options.secrets]
    settings.apiKey.changed.on((key) => void secrets.push(key))
    const names = toStreamNames(nats)
    const accounts = { logs: new Account(), requests: new Account() }
    const mask = createSecretMask(secrets)
    const reporter = new Reporter({
      clock,
      logTo,
      secrets,
      emit,
      rejectedHint: '`npx pino-ingest forward dead ls` lists them',
      snapshot: () => accounts.logs.snapshot(),
    })
    const reports = { logs: reporter, requests: reporter.forRequestLogs() }
    const health = new QueueHealth({ clock, report: reporter })
    const connection = new QueueConnection({ settings: nats, health, clock })
    const delivered = new DeliveredBatches({ connection, bucket: names.bucket, health, clock })
    const deadLetters = new DeadLetterStore({ connection, names, health, clock })
    const destination = createDestination({ settings, clock, mask })
    const targets = { logs: destination.entries, requests: destination.requestLogs }
    const pause = new KeyPause(clock)
    const queue = { names, connection, health, clock }
    const consumers = {
      logs: new QueueConsumer({ kind: 'logs', ...queue }),
      requests: new QueueConsumer({ kind: 'requests', ...queue }),
    }
    this.#forwarders = KINDS.map((kind) => {
      const pipeline = new EndpointPipeline({
        // The forwarder limits the bytes.
        settings: { ...settings, spool: false, maxBufferBytes: Infinity },
        clock,
        account: accounts[kind],
        report: reports[kind],
        mask,
        pause,
        target: createLeasedSender(targets[kind]),
        url: settings.url,
        isShortenable: kind === 'logs',
        meanwhile: 'batches stay in the queue',
      })
      const shared = { connection, consumer: consumers[kind], delivered, deadLetters, health, clock }
      return new BatchForwarder({ ...settings, ...shared, kind, pipeline })
    })
    this.#mask = mask
    this.#stream = names.stream
    this.#reporter = reporter
    this.#health = health
    this.#connection = connection
    this.#destination = destination
    this.#consumers = consumers
  }

  /**
   * Connects, and forwards until `stop`. Never rejects.
   * @returns why the servers cannot be used; pending if they can
   */
  async start(): Promise<string> {
    await this.#connection.keepOpening()
    const old = findOldServer(this.#connection.current?.info)
    if (old?.isRefused === true) return old.text
    if (old !== undefined) this.#reporter.note('server version', `NATS: ${old.text}`)
    if (!this.#isStopping) {
      void this.#poll()
      for (const forwarder of this.#forwarders) void forwarder.run()
    }
    return new Promise(() => {})
  }

  get totals(): ForwardTotals {
    const sum = (of: keyof ForwardStats['entries']): number =>
      this.#forwarders.reduce((total, { stats }) => total + stats.entries[of], 0)
    return { forwarded: sum('forwarded'), rejected: sum('rejected'), duplicate: sum('duplicate') }
  }

  get metrics(): string {
    const kinds = this.#forwarders.map(({ kind, stats, inFlight, delivery }) => {
      return { kind, stats, inFlight, limit: delivery.limit, info: this.#consumers[kind].info }
    })
    const state = { kinds, isReady: this.health.ready, oldestUnsentMs: this.#oldestUnsentMs }
    return formatPrometheusText(FORWARD_FAMILIES, state, {})
  }

  get health(): Health {
    const lastFailure = this.#forwarders.map(({ delivery }) => delivery.lastFailure).find((one) => one !== undefined)
    const lastError = this.#health.lastError ?? lastFailure
    // An outage of the service is not the forwarder's; a service that refuses everything needs a correction.
    const used = this.#forwarders.filter(({ isUsed }) => isUsed)
    const isRefused = used.length > 0 && used.every((one) => one.refusesEverything)
    const isQueueReady = this.#isConnected && KINDS.every((kind) => this.#consumers[kind].isReady)
    return {
      ready: isQueueReady && !isRefused,
      lag: this.#lag ?? null,
      oldestUnsentMs: this.#oldestUnsentMs ?? null,
      lastError: lastError === undefined ? null : this.#mask(lastError).replace(CONTROL_CHARACTERS, ' '),
    }
  }

  /** Stops pulling, and delivers or releases the pulled batches within 10 s. Never rejects. */
  async stop(): Promise<void> {
    const { clock } = this.#options
    const deadlineAt = clock.now() + DELIVER_MS
    this.#isStopping = true
    this.#cancelPoll()
    await Promise.all(this.#forwarders.map((one) => one.stop(deadlineAt)))
    await Promise.all([this.#connection.close(), this.#destination.close()])
    this.#reporter.flushNow()
  }

  get #isConnected(): boolean {
    return this.#connection.current !== undefined
  }

  /** Batches that no forwarder has received. Undefined if unknown. */
  get #lag(): number | undefined {
    const infos = KINDS.map((kind) => this.#consumers[kind].info)
    if (!this.#isConnected || infos.includes(undefined)) return undefined
    return infos.reduce((total, info) => total + (info?.num_pending ?? 0), 0)
  }

  /** Age of the oldest batch that is not acknowledged; 0 if there is none. Undefined if unknown. */
  get #oldestUnsentMs(): number | undefined {
    if (!this.#isConnected || this.#streamState === undefined) return undefined
    const { messages, first_ts: firstAt } = this.#streamState
    return messages === 0 ? 0 : Math.max(this.#options.clock.wallNow() - Date.parse(firstAt), 0)
  }

  /** Reads the state of the queue and its consumers, for metrics and readiness. Never rejects. */
  async #poll(): Promise<void> {
    const inspections = KINDS.map((kind) => this.#consumers[kind].inspect())
    try {
      const { current } = this.#connection
      const manager = current && (await manageJetStream(current, INFO_TIMEOUT_MS))
      this.#streamState = (await manager?.streams.info(this.#stream))?.state
    } catch {
      // The inspections fail, too, and report it.
      this.#streamState = undefined
    }
    await Promise.all(inspections)
    if (!this.#isStopping) this.#cancelPoll = this.#options.clock.timer(POLL_MS, () => void this.#poll())
  }
}
