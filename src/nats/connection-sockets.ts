/**
 * The sockets of a connection. While the client of NATS connects to a server that does not answer, its `close()` leaves the socket open,
 * and a first attempt that has failed leaves it as well: the process would run for as long as the server hangs.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** Node: each socket that `net.connect()` makes. */
const CHANNEL = 'net.client.socket'

export class ConnectionSockets {
  /** Distinguishes the client's sockets from those of the application. */
  readonly #context = new AsyncLocalStorage<true>()
  readonly #sockets = new Set<Socket>()
  #hasEnded = false
  readonly #onSocket = (message: unknown): void => {
    if (this.#context.getStore() === undefined) return
    const { socket } = message as { readonly socket: Socket }
    // The client goes on to its next server. `net.connect()` uses the socket after this call.
    if (this.#hasEnded) return process.nextTick(() => void socket.destroy())
    for (const one of this.#sockets) if (one.destroyed) this.#sockets.delete(one)
    this.#sockets.add(socket)
  }

  /** Runs `connect`, and notes the sockets that it makes, then and when it connects again. With the connection they end. */
  async run(connect: () => Promise<NatsConnection>): Promise<NatsConnection> {
    subscribe(CHANNEL, this.#onSocket)
    try {
      const connection = await this.#context.run(true, connect)
      void connection.closed().then(() => this.#release())
      return connection
    } catch (error) {
      this.#release()
      throw error
    }
  }

  /** Ends an attempt in progress: no server is waited for. */
  end(): void {
    this.#hasEnded = true
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  #release(): void {
    this.end()
    unsubscribe(CHANNEL, this.#onSocket)
    // On Node 20 and 22 it makes each promise of the thread slower.
    this.#context.disable()
  }
}
