/**
 * The connection of a publisher. A batch opens it, since the scheduler decides when to try. Nothing is published while it is disconnected:
 * the client would buffer the message, and the acknowledgement would arrive after the batch was published again.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import type { Clock } from '../shared/clock.js'
import { ServerConnection } from './server-connection.js'
import type { ServerConnectionOptions } from './server-connection.js'

export interface PublisherConnectionOptions extends Omit<ServerConnectionOptions, 'purpose'> {
  readonly clock: Clock
  /** Closes the connection after this many milliseconds without a batch, since it keeps the process alive. Default: never. */
  readonly idleMs?: number | undefined
}

/** The client tries each address of each server for 3 s. */
const OPEN_MS = 10_000

export class PublisherConnection extends ServerConnection {
  readonly #clock: Clock
  readonly #idleMs: number | undefined
  /** Each rejects a request that waits for a reply. */
  readonly #pending = new Set<(error: Error) => void>()
  #isClosed = false
  #cancelIdle: () => void = () => {}

  constructor({ clock, idleMs, ...options }: PublisherConnectionOptions) {
    super({ ...options, purpose: 'publisher' })
    this.#clock = clock
    this.#idleMs = idleMs
    this.failed.on((error) => {
      if (this.current === undefined) for (const fail of this.#pending) fail(error)
    })
  }

  /**
   * Runs a request over the connection. Opens the connection if necessary.
   * @param signal ends the wait for the reply
   * @throws the client's errors; immediately while the connection is down, and when it is lost
   */
  async use<T>(signal: AbortSignal, request: (connection: NatsConnection) => Promise<T>): Promise<T> {
    this.#cancelIdle()
    return await new Promise<T>((resolve, reject) => {
      const end = (hasFailed: boolean, settle: () => void): void => {
        if (!this.#pending.delete(fail)) return
        signal.removeEventListener('abort', abort)
        // After a failure, close at once: the server may hang, and the connection would keep the process alive.
        if (this.#pending.size === 0) this.#closeAfter(hasFailed ? 0 : this.#idleMs)
        settle()
      }
      const fail = (error: Error): void => end(true, () => reject(error))
      const abort = (): void => fail(new Error('the attempt was aborted'))
      this.#pending.add(fail)
      signal.addEventListener('abort', abort)
      if (signal.aborted) return abort()
      if (this.#isClosed) return fail(new Error('the transport was closed'))
      const cancel = this.#clock.timer(OPEN_MS, () => fail(new Error(`not connected within ${OPEN_MS} ms`)))
      this.open()
        .finally(cancel)
        .then(request)
        .then((reply) => end(false, () => resolve(reply)), fail)
    })
  }

  /** Requests that wait for a reply fail, and later ones. */
  override close(): Promise<void> {
    this.#isClosed = true
    this.#cancelIdle()
    return super.close()
  }

  /** Does nothing without `idleMs`. */
  #closeAfter(ms: number | undefined): void {
    if (this.#idleMs === undefined || ms === undefined) return
    this.#cancelIdle()
    this.#cancelIdle = this.#clock.timer(ms, () => void super.close())
  }
}
