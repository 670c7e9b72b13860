/** Creates the parts of `pino-ingest forward` and connects them. */
import type { NatsConnection } from '@nats-io/transport-node'
import { createDestination } from '../delivery/destination.js'
import type { Destination } from '../delivery/destination.js'
import { Account } from '../diagnostics/account.js'
import { Reporter } from '../diagnostics/reporter.js'
import type { EmitEvent } from '../diagnostics/reporter.js'
import { createSecretMask } from '../diagnostics/secret-mask.js'
import { toStreamNames } from '../nats/message.js'
import type { BatchKind } from '../nats/message.js'
import { findLossRisk } from '../nats/server-version.js'
import type { NatsSettings } from '../options/nats-settings.js'
import type { Settings } from '../options/settings.js'
import { EndpointPipeline } from '../pipeline/endpoint-pipeline.js'
import type { Clock } from '../shared/clock.js'
import { CONTROL_CHARACTERS } from '../shared/control-characters.js'
import { KeyPause } from '../shared/key-pause.js'
import { BatchForwarder } from './batch-forwarder.js'
import { DeadLetterStore } from './dead-letter-store.js'
import { DeliveredBatches } from './delivered-batches.js'
import { formatForwardMetrics } from './forward-metrics.js'
import type { ForwardState } from './forward-metrics.js'
import type { ForwardStats } from './forward-stats.js'
import { OrphanedMessages } from './orphaned-messages.js'
import { QueueConnection } from './queue-connection.js'
import { QueueHealth } from './queue-health.js'
import { QueueMonitor } from './queue-monitor.js'
import { createLeasedSender } from './pulled-batch.js'
import { StreamIncarnation } from './stream-incarnation.js'

export interface ForwarderOptions {
  readonly settings: Settings
  readonly nats: NatsSettings
  readonly secrets: readonly string[]
  readonly connect: (settings: NatsSettings, purpose: string) => Promise<NatsConnection>
  readonly clock: Clock
  readonly logTo: Settings['logTo']
  readonly emit: EmitEvent
}

export interface ForwardTotals {
  readonly forwarded: number
  readonly rejected: number
  readonly duplicate: number
  /** Batches in the queue; undefined if unknown. */
  readonly lag: number | undefined
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
/** Orchestrators wait 10 s. The rest of that time is for batches in flight at the deadline, and for closing the connection. */
const DELIVER_MS = 8_000
const FLUSH_MS = 500

export class Forwarder {
  readonly #options: ForwarderOptions
  readonly #mask: (text: string) => string
  readonly #reporter: Reporter
  readonly #health: QueueHealth
  readonly #connection: QueueConnection
  readonly #forwarders: readonly BatchForwarder[]
  readonly #monitor: QueueMonitor
  readonly #delivered: DeliveredBatches
  readonly #destination: Destination

  constructor(options: ForwarderOptions) {
    this.#options = options
    const { settings, nats, connect, clock, logTo, emit } = options
    const secrets = [...options.secrets]
    settings.apiKey.changed.on((key) => void secrets.push(key))
    const names = toStreamNames(nats)
    const accounts = { logs: new Account(), requests: new Account() }
    const mask = createSecretMask(secrets)
    const reporter = new Reporter({ clock, logTo, secrets, emit, snapshot: () => accounts.logs.snapshot() })
    const reports = { logs: reporter, requests: reporter.forRequestLogs() }
    const health = new QueueHealth({ clock, report: reporter })
    const connection = new QueueConnection({ nats, connect, health, clock })
    const incarnation = new StreamIncarnation({ connection, names, clock })
    const delivered = new DeliveredBatches({ connection, bucket: names.bucket, health, clock })
    const deadLetters = new DeadLetterStore({ connection, names, health, clock })
    const destination = createDestination({ settings, clock, mask })
    const targets = { logs: destination.entries, requests: destination.requestLogs }
    const pause = new KeyPause(clock)
    this.#forwarders = KINDS.map((kind) => {
      const pipeline = new EndpointPipeline({
        // The forwarder limits the bytes.
        settings: { ...settings, spool: false, maxBufferBytes: Infinity },
        clock,
        account: accounts[kind],
        report: reports[kind],
        mask,
        pause,
        target: { ...targets[kind], sender: createLeasedSender(targets[kind].sender) },
        url: settings.url,
        isShortenable: kind === 'logs',
        meanwhile: 'batches stay in the queue',
      })
      const shared = { names, connection, incarnation, delivered, deadLetters, health, clock }
      return new BatchForwarder({ ...settings, ...shared, kind, pipeline })
    })
    this.#mask = mask
    this.#reporter = reporter
    this.#health = health
    this.#connection = connection
    this.#destination = destination
    this.#delivered = delivered
    const orphaned = new OrphanedMessages({ connection, incarnation, names, report: reporter, clock })
    this.#monitor = new QueueMonitor({ connection, incarnation, forwarders: this.#forwarders, orphaned, clock })
    let isRiskReported = false
    // At the first connection and after each reconnect.
    connection.connected.on(({ info }) => {
      void delivered.saveRest()
      const risk = info === undefined ? undefined : findLossRisk(info)
      if (risk === undefined || isRiskReported) return
      isRiskReported = true
      reporter.note('server version', `NATS: ${risk}`)
    })
  }

  /** Connects and forwards in the background until `stop`. */
  start(): void {
    void this.#connection.open().then(() => this.#monitor.start())
    for (const forwarder of this.#forwarders) void forwarder.run()
  }

  get totals(): ForwardTotals {
    const sum = (of: keyof ForwardStats['entries']): number =>
      this.#forwarders.reduce((total, { stats }) => total + stats.entries[of], 0)
    const { lag } = this.#monitor.state
    return { forwarded: sum('forwarded'), rejected: sum('rejected'), duplicate: sum('duplicate'), lag }
  }

  get metrics(): string {
    const kinds = this.#forwarders.map(({ kind, stats, inFlight, limit, facts }) => {
      return { kind, stats, inFlight, limit, lag: facts?.pending, ackPending: facts?.ackPending }
    })
    return formatForwardMetrics({ kinds, queue: this.#monitor.state } satisfies ForwardState)
  }

  get health(): Health {
    const { isReady, lag = null, oldestUnsentMs = null } = this.#monitor.state
    const lastFailure = this.#forwarders.map((one) => one.lastFailure).find((one) => one !== undefined)
    const lastError = this.#health.lastError ?? lastFailure
    // An outage of the service is not the forwarder's; a service that refuses everything needs a correction.
    const used = this.#forwarders.filter(({ isUsed }) => isUsed)
    const isRefused = used.length > 0 && used.every((one) => one.isRefused)
    return {
      ready: isReady && !isRefused,
      lag,
      oldestUnsentMs,
      lastError: lastError === undefined ? null : this.#mask(lastError).replace(CONTROL_CHARACTERS, ' '),
    }
  }

  /** Stops pulling, and delivers or releases the pulled batches within 10 s. Never rejects. */
  async stop(): Promise<void> {
    const { clock } = this.#options
    const deadlineAt = clock.now() + DELIVER_MS
    this.#monitor.end()
    await Promise.all(this.#forwarders.map((one) => one.stop(deadlineAt)))
    // Releases must reach the server. The timeout is for a hanging server.
    const { current } = this.#connection
    let cancel = (): void => {}
    const timeout = new Promise<void>((resolve) => (cancel = clock.timer(FLUSH_MS, resolve)))
    await Promise.race([Promise.all([current?.flush().catch(() => {}), this.#delivered.saveRest()]), timeout])
    cancel()
    this.#health.end()
    await Promise.all([this.#connection.close(), this.#destination.close()])
    this.#reporter.flushNow()
  }
}
