/**
 * Publishes batches of both kinds to JetStream over one connection. Loaded only if `nats` is set.
 *
 * The first batch opens the connection, and the scheduler decides when to retry. Nothing is published while it is disconnected: the client would
 * buffer the message, and the acknowledgement would arrive after the batch was published again.
 */
import { isMainThread } from 'node:worker_threads'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Sender } from '../batch/sender.js'
import { CONTROL_CHARACTERS } from '../shared/control-characters.js'
import type { Clock } from '../shared/clock.js'
import { createJetStreamSender, MAX_HEADER_BYTES } from './jetstream-sender.js'
import { toStreamNames } from './message.js'
import type { BatchKind } from './message.js'
import { ServerConnection } from './server-connection.js'
import type { ServerConnectionOptions } from './server-connection.js'

export interface PublisherOptions extends Pick<ServerConnectionOptions, 'settings' | 'connect'> {
  readonly clock: Clock
  /** Runs in the application's own thread, where an open connection keeps the process alive. */
  readonly isInProcess: boolean
  /** Removes secrets. */
  readonly mask: (text: string) => string
  /** The largest body that the servers accept. */
  readonly onMaxBodyBytes: (bytes: number) => void
}

/** Milliseconds without a batch after which an in-process connection is closed. */
const IDLE_MS = 1_000
/** Limit for opening the connection. The client alone would try each address of each server for 3 s. */
const OPEN_MS = 10_000

export class Publisher extends ServerConnection {
  readonly senders: Readonly<Record<BatchKind, Sender>>
  readonly #clock: Clock
  readonly #isInProcess: boolean
  /** Each rejects a request that waits for a reply. */
  readonly #pending = new Set<(error: Error) => void>()
  #isClosed = false
  #cancelIdle: () => void = () => {}

  constructor({ clock, isInProcess, mask, onMaxBodyBytes, ...options }: PublisherOptions) {
    // Commands publish in the main thread.
    super({ ...options, purpose: 'publisher', keepsProcessAlive: isInProcess || isMainThread })
    this.#clock = clock
    this.#isInProcess = isInProcess
    this.connected.on(({ info }) => info && onMaxBodyBytes(info.max_payload - MAX_HEADER_BYTES))
    this.failed.on((error) => {
      if (this.current === undefined) for (const fail of this.#pending) fail(error)
    })
    const { stream, subjects } = toStreamNames(options.settings)
    const clean = (text: string): string => mask(text).replaceAll(CONTROL_CHARACTERS, ' ')
    const createSender = (kind: BatchKind): Sender =>
      createJetStreamSender({ connection: this, kind, stream, subject: subjects[kind], clean })
    this.senders = { logs: createSender('logs'), requests: createSender('requests') }
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
        // After a failure, close at once: the server may hang.
        if (this.#pending.size === 0 && this.#isInProcess) this.#closeAfter(hasFailed ? 0 : IDLE_MS)
        settle()
      }
      const fail = (error: Error): void => end(true, () => reject(error))
      const abort = (): void => fail(new Error('the attempt was aborted'))
      this.#pending.add(fail)
      signal.addEventListener('abort', abort)
      if (signal.aborted) return abort()
      if (this.#isClosed) return fail(new Error('the transport was closed'))
      const cancel = this.#clock.timer(OPEN_MS, () =>
        fail(new Error(`no connection to ${this.servers} within ${OPEN_MS / 1_000} s`)),
      )
      this.open()
        .finally(cancel)
        .then(request)
        .then((reply) => end(false, () => resolve(reply)), fail)
    })
  }

  /** Rejects the requests that wait for a reply, and all later ones. */
  override close(): Promise<void> {
    this.#isClosed = true
    const closed = super.close()
    this.#cancelIdle()
    return closed
  }

  #closeAfter(ms: number): void {
    this.#cancelIdle()
    this.#cancelIdle = this.#clock.timer(ms, () => void super.close())
  }
}
