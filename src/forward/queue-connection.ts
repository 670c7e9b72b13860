/** The connection to NATS. Retries until the first connection; then the client reconnects by itself. */
import type { NatsConnection } from '@nats-io/transport-node'
import {
  describeNatsError,
  findMissingPermission,
  isAuthorizationError,
  isPermissionError,
} from '../nats/nats-error.js'
import type { NatsSettings } from '../options/nats-settings.js'
import type { Clock } from '../shared/clock.js'
import { pause } from '../shared/pause.js'
import { Signal } from '../shared/signal.js'
import type { QueueHealth } from './queue-health.js'

export interface QueueConnectionOptions {
  readonly nats: NatsSettings
  readonly connect: (settings: NatsSettings, purpose: string) => Promise<NatsConnection>
  readonly health: QueueHealth
  readonly clock: Clock
}

const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 5_000
/** A hanging server must not delay the shutdown. */
const CLOSE_MS = 500
const PART = 'the connection'

export class QueueConnection {
  /** Emitted at the first connection and after each reconnect. */
  readonly connected = new Signal<[NatsConnection]>()
  readonly #options: QueueConnectionOptions
  readonly #closed = new AbortController()
  #connection: NatsConnection | undefined
  #isConnected = false

  constructor(options: QueueConnectionOptions) {
    this.#options = options
  }

  /** Undefined while there is no connection: the client would buffer requests until they time out. */
  get current(): NatsConnection | undefined {
    return this.#isConnected ? this.#connection : undefined
  }

  /** Retries until it is connected or closed. Never rejects. */
  async open(): Promise<void> {
    const { nats, connect, health, clock } = this.#options
    const { signal } = this.#closed
    for (let waitMs = FIRST_RETRY_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
      try {
        const connection = await connect(nats, 'forward')
        if (signal.aborted) return void connection.close().catch(() => {})
        void this.#follow(connection)
        return this.#setConnected(connection)
      } catch (error) {
        const isLasting = mustBeCorrected(error)
        health.failed(PART, isLasting ? 'AUTH' : 'UNAVAILABLE', describeNatsError(error), isLasting)
        await pause(clock, waitMs, signal)
      }
    }
  }

  /** Sends what was published before, unless the server hangs. Never rejects. */
  async close(): Promise<void> {
    const { current } = this
    this.#closed.abort()
    this.#isConnected = false
    const inTime = new AbortController()
    const closed = (current?.flush() ?? Promise.resolve()).then(() => this.#connection?.close()).catch(() => {})
    await Promise.race([closed, pause(this.#options.clock, CLOSE_MS, inTime.signal)])
    inTime.abort()
    void this.#connection?.close().catch(() => {})
  }

  #setConnected(connection: NatsConnection): void {
    this.#connection = connection
    this.#isConnected = true
    this.#options.health.works(PART)
    this.connected.emit(connection)
  }

  async #follow(connection: NatsConnection): Promise<void> {
    const { health } = this.#options
    for await (const status of connection.status()) {
      if (this.#closed.signal.aborted) return
      if (status.type === 'disconnect') {
        this.#isConnected = false
        health.failed(PART, 'UNAVAILABLE', `lost to ${status.server}`)
      } else if (status.type === 'reconnect') {
        this.#setConnected(connection)
      } else if (status.type === 'error' && mustBeCorrected(status.error)) {
        const missing = this.#isConnected ? findMissingPermission(status.error) : undefined
        if (missing === undefined) health.failed(PART, 'AUTH', describeNatsError(status.error), true)
        else health.refused(`permission to ${missing.operation} to ${shorten(missing.subject)}`, 'missing')
      }
    }
    // Not expected, since the client retries forever.
    this.#isConnected = false
    await this.open()
  }
}

/** Subjects that differ from request to request, up to the part that is always the same. */
const VARYING = /^(?:_INBOX\.[^.]+|\$KV\.[^.]+|\$JS\.ACK\.[^.]+)(?=\.)/

/** The subject as a permission, so that each missing permission is reported once. */
function shorten(subject: string): string {
  const fixed = VARYING.exec(subject)
  return fixed === null ? subject : `${fixed[0]}.>`
}

/** Whether a user has to correct credentials or permissions. */
function mustBeCorrected(error: unknown): boolean {
  return isAuthorizationError(error) || isPermissionError(error)
}
