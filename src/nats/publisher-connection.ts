/**
 * The connection of a publisher. A batch opens it, since the scheduler decides when to try. Once open, the client reconnects by
 * itself. Nothing is published while it is disconnected: the client would buffer the message, and the acknowledgement would arrive after
 * the batch was published again.
 */
import type { JetStreamClient } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { NatsSettings } from '../options/nats-settings.js'
import type { Clock } from '../shared/clock.js'
import { connectNats } from './connect.js'
import { ConnectionSockets } from './connection-sockets.js'
import loadNats from './load-nats.cjs'

export interface PublisherConnectionOptions {
  readonly settings: NatsSettings
  readonly clock: Clock
  /** Closes the connection after this many milliseconds without a batch, since it keeps the process alive. Default: never. */
  readonly idleMs?: number | undefined
  /** Whether sockets keep the process alive. Not in a worker, whose sockets close with it. */
  readonly holdsProcess: boolean
  /** Limit of a connection attempt, for all servers together. */
  readonly timeoutMs: number
  readonly connect?: typeof connectNats
  /** Called at each connection with the servers' maximum message size in bytes. */
  readonly onMaxPayload: (bytes: number) => void
}

export interface OpenConnection {
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
}

export class PublisherConnection {
  readonly #options: PublisherConnectionOptions
  readonly #ended = new AbortController()
  #opening: Promise<OpenConnection> | undefined
  #isConnected = false
  /** The servers' reason for refusing the connection, if they sent one. */
  #refusal: Error | undefined
  /** Each rejects a request that waits for a reply. */
  readonly #pending = new Set<(error: Error) => void>()
  #cancelIdle: () => void = () => {}
  /** Ends the current connection attempt. */
  #endAttempt: () => void = () => {}

  constructor(options: PublisherConnectionOptions) {
    this.#options = options
  }

  /**
   * Runs a request over the connection. Opens the connection if necessary.
   * @param signal ends the wait for the reply
   * @throws the client's errors; immediately while the connection is down, and when it is lost
   */
  async use<T>(signal: AbortSignal, request: (open: OpenConnection) => Promise<T>): Promise<T> {
    this.#cancelIdle()
    return await new Promise<T>((resolve, reject) => {
      const end = (hasFailed: boolean, settle: () => void): void => {
        if (!this.#pending.delete(fail)) return
        signal.removeEventListener('abort', abort)
        // After a failure, close at once: the server may hang, and the connection would keep the process alive.
        if (this.#pending.size === 0) this.#closeAfter(hasFailed ? 0 : this.#options.idleMs)
        settle()
      }
      const fail = (error: Error): void => end(true, () => reject(error))
      const abort = (): void => fail(new Error('the attempt was aborted'))
      this.#pending.add(fail)
      signal.addEventListener('abort', abort)
      if (signal.aborted) return abort()
      this.#open()
        .then((open) => {
          if (this.#isConnected) return request(open)
          throw this.#refusal ?? new Error(`not connected to ${this.#servers}`)
        })
        .then((reply) => end(false, () => resolve(reply)), fail)
    })
  }

  /** Closes the connection immediately. Requests that wait for a reply fail. */
  async close(): Promise<void> {
    this.#ended.abort()
    await this.#closeConnection()
  }

  get #servers(): string {
    return this.#options.settings.servers.join(', ')
  }

  #open(): Promise<OpenConnection> {
    if (this.#ended.signal.aborted) return Promise.reject(new Error('the transport was closed'))
    if (this.#opening !== undefined) return this.#opening
    const opening = this.#connect()
    this.#opening = opening
    opening.then(
      ({ connection }) =>
        void this.#watch(connection, opening).then(
          () => this.#forget(opening),
          () => this.#forget(opening),
        ),
      () => {
        if (this.#opening === opening) this.#opening = undefined
      },
    )
    return opening
  }

  async #connect(): Promise<OpenConnection> {
    const { onMaxPayload } = this.#options
    let connection: NatsConnection
    try {
      connection = await this.#attempt()
    } catch (error) {
      if (error instanceof Error) error.message = `${error.message} (${this.#servers})`
      throw error
    }
    this.#isConnected = !connection.isClosed()
    this.#refusal = undefined
    if (connection.info !== undefined) onMaxPayload(connection.info.max_payload)
    return { connection, jetstream: loadNats().jetstream(connection) }
  }

  /** Has its own timeout, since a host name can have any number of addresses and the client tries each. */
  #attempt(): Promise<NatsConnection> {
    const { settings, clock, holdsProcess, timeoutMs, connect = connectNats } = this.#options
    const sockets = holdsProcess ? new ConnectionSockets() : undefined
    const start = (): Promise<NatsConnection> => connect(settings, 'publisher', { timeoutMs })
    return new Promise((resolve, reject) => {
      let hasEnded = false
      const end = (error: Error): void => {
        hasEnded = true
        sockets?.end()
        reject(error)
      }
      const cancel = clock.timer(timeoutMs, () => end(new Error(`no connection within ${timeoutMs} ms`)))
      this.#endAttempt = () => end(new Error('the attempt was aborted'))
      void (sockets?.run(start) ?? start())
        .then((connection) => {
          if (hasEnded) void connection.close().catch(() => {})
          else resolve(connection)
        }, reject)
        .finally(cancel)
    })
  }

  async #watch(connection: NatsConnection, opening: Promise<OpenConnection>): Promise<void> {
    for await (const status of connection.status()) {
      // This connection is closing, and a batch may have opened another one.
      if (this.#opening !== opening) continue
      if (status.type === 'disconnect' || status.type === 'close') {
        this.#isConnected = false
        this.#failPending(`the connection to ${this.#servers} was lost`)
      } else if (status.type === 'reconnect') {
        this.#isConnected = true
        this.#refusal = undefined
        if (connection.info !== undefined) this.#options.onMaxPayload(connection.info.max_payload)
      } else if (status.type === 'error' && status.error.name !== 'PermissionViolationError') {
        this.#refusal = status.error
      }
    }
  }

  #forget(opening: Promise<OpenConnection>): void {
    if (this.#opening !== opening) return
    this.#opening = undefined
    this.#isConnected = false
    this.#failPending('the connection was closed')
  }

  #failPending(reason: string): void {
    for (const fail of [...this.#pending]) fail(this.#refusal ?? new Error(reason))
  }

  /** Does nothing without `idleMs`. */
  #closeAfter(ms: number | undefined): void {
    const { clock, idleMs } = this.#options
    if (idleMs === undefined || ms === undefined || this.#opening === undefined) return
    this.#cancelIdle()
    this.#cancelIdle = clock.timer(ms, () => void this.#closeConnection())
  }

  async #closeConnection(): Promise<void> {
    this.#cancelIdle()
    const opening = this.#opening
    if (opening === undefined) return
    const isConnected = this.#isConnected
    this.#forget(opening)
    if (!isConnected) this.#endAttempt()
    const closed = opening.then(({ connection }) => connection.close()).catch(() => {})
    if (isConnected) await closed
  }
}
