/** Reads the state of the queue and its consumers from JetStream every 5 s, for metrics and readiness. */
import type { Clock } from '../shared/clock.js'
import type { BatchForwarder } from './batch-forwarder.js'
import type { OrphanedMessages } from './orphaned-messages.js'
import type { QueueConnection } from './queue-connection.js'
import type { StreamIncarnation } from './stream-incarnation.js'

const INTERVAL_MS = 5_000

export interface QueueMonitorOptions {
  readonly connection: Pick<QueueConnection, 'current' | 'connected'>
  readonly incarnation: Pick<StreamIncarnation, 'read'>
  readonly forwarders: readonly Pick<BatchForwarder, 'kind' | 'inspect' | 'facts' | 'isReady'>[]
  readonly orphaned: Pick<OrphanedMessages, 'check' | 'republished'>
  readonly clock: Clock
}

export interface QueueState {
  readonly isConnected: boolean
  /** Connected, and all consumers exist and answer pull requests. Ignores outages of the service, where a restart would not help. */
  readonly isReady: boolean
  /** Batches that no forwarder has received. Undefined if unknown. */
  readonly lag: number | undefined
  readonly ackPending: number | undefined
  /** Messages that are neither pending nor waiting for an acknowledgement, for example after a server was killed. */
  readonly unaccounted: number | undefined
  /** Unaccounted messages that this forwarder published again. */
  readonly republished: number
  /** Age of the oldest batch that is not acknowledged. 0 if there is none. */
  readonly oldestUnsentMs: number | undefined
}

export class QueueMonitor {
  readonly #options: QueueMonitorOptions
  #messages: number | undefined
  #oldestAtMs: number | undefined
  #unaccounted: number | undefined
  #cancel: () => void = () => {}
  #isEnded = false

  constructor(options: QueueMonitorOptions) {
    this.#options = options
  }

  get state(): QueueState {
    const { connection, forwarders, orphaned, clock } = this.#options
    const facts = forwarders.map((one) => one.facts)
    const isConnected = connection.current !== undefined
    const isReady = isConnected && forwarders.every((one) => one.isReady)
    const sum = (of: 'pending' | 'ackPending'): number | undefined =>
      isConnected && facts.every((one) => one !== undefined)
        ? facts.reduce((total, one) => total + (one?.[of] ?? 0), 0)
        : undefined
    const age = this.#oldestAtMs === undefined ? 0 : Math.max(clock.wallNow() - this.#oldestAtMs, 0)
    return {
      isConnected,
      isReady,
      lag: sum('pending'),
      ackPending: sum('ackPending'),
      unaccounted: this.#unaccounted,
      republished: orphaned.republished,
      oldestUnsentMs: this.#messages === undefined ? undefined : age,
    }
  }

  start(): void {
    void this.#poll()
  }

  end(): void {
    this.#isEnded = true
    this.#cancel()
  }

  /** Never rejects. */
  async #poll(): Promise<void> {
    const { connection, incarnation, forwarders, orphaned, clock } = this.#options
    if (connection.current !== undefined) {
      const [info, ...inspected] = await Promise.all([
        incarnation.read().catch(() => undefined),
        ...forwarders.map((one) => one.inspect()),
      ])
      const messages = (this.#messages = info?.state?.messages)
      const firstAt = Date.parse(info?.state?.first_ts ?? '')
      this.#oldestAtMs = messages === undefined || messages === 0 || Number.isNaN(firstAt) ? undefined : firstAt
      // After a failed inspection a forwarder keeps its old facts, which no longer match the stream.
      const floors = forwarders.flatMap(({ kind, facts }, at) =>
        inspected[at] !== true || facts === undefined ? [] : [{ kind, ...facts }],
      )
      const known = floors.reduce((total, { pending, ackPending }) => total + pending + ackPending, 0)
      this.#unaccounted =
        messages === undefined || floors.length < forwarders.length
          ? undefined
          : // Can be negative, since the values are not read at the same instant.
            Math.max(messages - known, 0)
      const { first_seq: first, last_seq: last } = info?.state ?? {}
      if (first !== undefined && last !== undefined) void orphaned.check({ first, last }, floors)
    } else this.#messages = this.#oldestAtMs = this.#unaccounted = undefined
    if (!this.#isEnded) this.#cancel = clock.timer(INTERVAL_MS, () => void this.#poll())
  }
}
