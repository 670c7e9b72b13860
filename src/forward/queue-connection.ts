/** The forwarder's connection to NATS. Retries until the first connection, and reports failures. */
import {
  describeNatsError,
  findMissingPermission,
  isAuthorizationError,
  isPermissionError,
} from '../nats/nats-error.js'
import { ServerConnection } from '../nats/server-connection.js'
import type { ServerConnectionOptions } from '../nats/server-connection.js'
import type { Clock } from '../shared/clock.js'
import { pause } from '../shared/pause.js'
import type { QueueHealth } from './queue-health.js'

export interface QueueConnectionOptions extends Omit<ServerConnectionOptions, 'purpose'> {
  readonly health: Pick<QueueHealth, 'failed' | 'works'>
  readonly clock: Clock
}

const RETRY_MS = 1_000
/** A hanging server must not delay the shutdown. */
const FLUSH_MS = 500
const PART = 'the connection'

export class QueueConnection extends ServerConnection {
  readonly #clock: Clock
  readonly #closed = new AbortController()

  constructor({ clock, health, ...options }: QueueConnectionOptions) {
    // Finding its sockets would slow down the forwarder. The command ends the process.
    super({ ...options, purpose: 'forward', keepsProcessAlive: false })
    this.#clock = clock
    this.connected.on(() => health.works(PART))
    this.failed.on((error) => {
      const missing = this.current && findMissingPermission(error)
      if (missing !== undefined)
        health.failed(
          `permission to ${missing}`,
          'AUTH',
          'the user lacks it; docs/fleet-operations.md lists the permissions of a forwarder',
          true,
        )
      else if (isAuthorizationError(error) || isPermissionError(error))
        health.failed(PART, 'AUTH', describeNatsError(error), true)
      else if (this.current === undefined) health.failed(PART, 'UNAVAILABLE', describeNatsError(error))
    })
  }

  /** Retries until it is connected or closed. Never rejects. */
  async keepOpening(): Promise<void> {
    const { signal } = this.#closed
    while (this.current === undefined && !signal.aborted)
      await this.open().catch(() => pause(this.#clock, RETRY_MS, signal))
  }

  /** Sends what was published before, unless the server hangs. Never rejects. */
  override async close(): Promise<void> {
    const inTime = new AbortController()
    this.#closed.abort()
    await Promise.race([this.current?.flush(), pause(this.#clock, FLUSH_MS, inTime.signal)]).catch(() => {})
    inTime.abort()
    await super.close()
  }
}
