/** A connection to NATS. Once it is open, the client reconnects by itself. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { NatsSettings } from '../options/nats-settings.js'
import { Signal } from '../shared/signal.js'
import { connectNats } from './connect.js'
import { ConnectionSockets } from './connection-sockets.js'
import { isPermissionError } from './nats-error.js'

export interface ServerConnectionOptions {
  readonly settings: NatsSettings
  /** @see connectNats */
  readonly purpose: string
  /** Default true. */
  readonly reconnects?: boolean
  /**
   * Whether a socket that the client leaves open would keep the process alive, and must be destroyed. Not in a worker, whose sockets close
   * with it. Default true.
   */
  readonly keepsProcessAlive?: boolean
  readonly connect?: typeof connectNats
}

export class ServerConnection {
  /** Emitted at the first connection and after each reconnect. */
  readonly connected = new Signal<[NatsConnection]>()
  /** Emitted when an attempt failed, when the connection is lost or closed, and for each error that the servers report. */
  readonly failed = new Signal<[Error]>()
  readonly #options: ServerConnectionOptions
  #sockets: ConnectionSockets | undefined
  /** The attempt to open the connection, until the connection is closed. */
  #opened: Promise<NatsConnection> | undefined
  #current: NatsConnection | undefined
  /** Why it is not connected: the servers' reason for refusing it, if they sent one. */
  #reason: Error | undefined

  constructor(options: ServerConnectionOptions) {
    this.#options = options
  }

  /** Undefined while there is no connection: the client would buffer requests until they time out. */
  get current(): NatsConnection | undefined {
    return this.#current
  }

  /**
   * Opens the connection, unless it is open. Concurrent calls make one attempt.
   * @throws the client's errors; immediately while the client reconnects
   */
  async open(): Promise<NatsConnection> {
    const connection = await (this.#opened ??= this.#start())
    if (this.#current !== connection) throw this.#reason ?? new Error('the connection was closed')
    return connection
  }

  /** Closes the connection immediately, also if the server hangs. `open` opens it again. Never rejects. */
  async close(): Promise<void> {
    const current = this.#current
    const closed = this.#opened?.then((connection) => connection.close()).catch(() => {})
    this.#forget(new Error('the connection was closed'))
    if (current === undefined) return this.#sockets?.end()
    await closed
  }

  protected get servers(): string {
    return this.#options.settings.servers.join(', ')
  }

  #start(): Promise<NatsConnection> {
    const { settings, purpose, reconnects = true, keepsProcessAlive = true, connect = connectNats } = this.#options
    const start = (): Promise<NatsConnection> => connect(settings, purpose, { reconnects })
    this.#sockets = keepsProcessAlive ? new ConnectionSockets() : undefined
    const opened = this.#sockets?.run(start) ?? start()
    opened.then(
      (connection) => void this.#follow(opened, connection),
      (error: Error) => {
        error.message = `${error.message} (${this.servers})`
        if (this.#opened === opened) this.#forget(error)
      },
    )
    return opened
  }

  /** @param opened another attempt may have replaced it */
  async #follow(opened: Promise<NatsConnection>, connection: NatsConnection): Promise<void> {
    if (this.#opened !== opened) return
    this.#setConnected(connection)
    for await (const status of connection.status()) {
      if (this.#opened !== opened) return
      if (status.type === 'reconnect') this.#setConnected(connection)
      else if (status.type === 'disconnect' || status.type === 'reconnecting') {
        this.#current = undefined
        this.#reason ??= new Error(`the connection to ${this.servers} was lost`)
        this.failed.emit(this.#reason)
      } else if (status.type === 'error') {
        if (!isPermissionError(status.error)) this.#reason = status.error
        this.failed.emit(status.error)
      }
    }
    if (this.#opened === opened) this.#forget(new Error('the connection was closed'))
  }

  #setConnected(connection: NatsConnection): void {
    this.#current = connection
    this.#reason = undefined
    this.connected.emit(connection)
  }

  #forget(reason: Error): void {
    this.#opened = undefined
    this.#current = undefined
    this.#reason = undefined
    this.failed.emit(reason)
  }
}
