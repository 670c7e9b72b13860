/**
 * Destroys the sockets of a NATS connection. The client leaves the socket open if `close()` is called while it connects to a server that
 * does not answer, and if its first attempt fails. Such a socket keeps the process running for as long as the server hangs.
 */
import type { NatsConnection } from '@nats-io/transport-node'
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

/** Node's diagnostics channel for sockets created by `net.connect()`. */
const CHANNEL = 'net.client.socket'

export class ConnectionSockets {
  /** Distinguishes the client's sockets from those of the application. */
  readonly #context = new AsyncLocalStorage<true>()
  readonly #sockets = new Set<Socket>()
  #hasEnded = false
  readonly #onSocket = (message: unknown): void => {
    if (this.#context.getStore() === undefined) return
    const { socket } = message as { readonly socket: Socket }
    // The client tries its next server. `net.connect()` still uses the socket after this call.
    if (this.#hasEnded) return process.nextTick(() => void socket.destroy())
    for (const one of this.#sockets) if (one.destroyed) this.#sockets.delete(one)
    this.#sockets.add(socket)
  }

  /** Runs `connect` and tracks the sockets that it creates, also when it reconnects. They are destroyed when the connection closes. */
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

  /** Ends a connection attempt in progress. */
  end(): void {
    this.#hasEnded = true
    for (const socket of this.#sockets) socket.destroy()
    this.#sockets.clear()
  }

  #release(): void {
    this.end()
    unsubscribe(CHANNEL, this.#onSocket)
    // On Node 20 and 22 an enabled AsyncLocalStorage slows down every promise of the thread.
    this.#context.disable()
  }
}
