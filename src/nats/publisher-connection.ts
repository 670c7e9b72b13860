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
  readonly connect?: typeof connectNats
  /** Called at each connection with the servers' maximum message size in bytes. */
  readonly onMaxPayload: (bytes: number) => void
}

export interface OpenConnection {
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
}

/** A connection, from the attempt to open it until it is closed. */
interface Link {
  readonly opened: Promise<OpenConnection>
  readonly sockets: ConnectionSockets | undefined
  isConnected: boolean
  /** The servers' reason for refusing the connection, if they sent one. */
  refusal?: Error | undefined
}

export class PublisherConnection {
  readonly #options: PublisherConnectionOptions
  /** Each rejects a request that waits for a reply. */
  readonly #pending = new Set<(error: Error) => void>()
  #link: Link | undefined
  #isClosed = false
  #cancelIdle: () => void = () => {}

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
      if (this.#isClosed) return fail(new Error('the transport was closed'))
      const link = (this.#link ??= this.#open())
      link.opened
        .then((open) => {
          if (link.isConnected) return request(open)
          throw link.refusal ?? new Error(`not connected to ${this.#servers}`)
        })
        .then((reply) => end(false, () => resolve(reply)), fail)
    })
  }

  /** Closes the connection immediately. Requests that wait for a reply fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#closeLink()
  }

  get #servers(): string {
    return this.#options.settings.servers.join(', ')
  }

  #open(): Link {
    const { settings, holdsProcess, connect = connectNats } = this.#options
    const sockets = holdsProcess ? new ConnectionSockets() : undefined
    const start = (): Promise<NatsConnection> => connect(settings, 'publisher')
    const opened = (sockets?.run(start) ?? start()).then((connection) => {
      this.#connected(link, connection)
      void this.#watch(link, connection)
        .catch(() => {})
        .then(() => this.#forget(link, 'the connection was closed'))
      return { connection, jetstream: loadNats().jetstream(connection) }
    })
    const link: Link = { opened, sockets, isConnected: false }
    opened.catch((error: Error) => {
      error.message = `${error.message} (${this.#servers})`
      this.#forget(link, error.message)
    })
    return link
  }

  #connected(link: Link, connection: NatsConnection): void {
    link.isConnected = !connection.isClosed()
    link.refusal = undefined
    if (connection.info !== undefined) this.#options.onMaxPayload(connection.info.max_payload)
  }

  async #watch(link: Link, connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'reconnect') this.#connected(link, connection)
      else if (status.type === 'disconnect' || status.type === 'close') {
        link.isConnected = false
        this.#failPending(link, `the connection to ${this.#servers} was lost`)
      } else if (status.type === 'error' && status.error.name !== 'PermissionViolationError')
        link.refusal = status.error
    }
  }

  #forget(link: Link, reason: string): void {
    link.isConnected = false
    this.#failPending(link, reason)
    if (this.#link === link) this.#link = undefined
  }

  /** Does nothing for a former connection: the requests are those of the next one. */
  #failPending(link: Link, reason: string): void {
    if (this.#link === link) for (const fail of [...this.#pending]) fail(link.refusal ?? new Error(reason))
  }

  /** Does nothing without `idleMs`. */
  #closeAfter(ms: number | undefined): void {
    const { clock, idleMs } = this.#options
    if (idleMs === undefined || ms === undefined || this.#link === undefined) return
    this.#cancelIdle()
    this.#cancelIdle = clock.timer(ms, () => void this.#closeLink())
  }

  async #closeLink(): Promise<void> {
    this.#cancelIdle()
    const link = this.#link
    if (link === undefined) return
    const { isConnected } = link
    this.#forget(link, 'the connection was closed')
    if (!isConnected) link.sockets?.end()
    const closed = link.opened.then(({ connection }) => connection.close()).catch(() => {})
    if (isConnected) await closed
  }
}
