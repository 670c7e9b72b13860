/**
 * The key-value bucket shared by the forwarders, by the conventions of NATS: a value is the last message of its subject.
 *
 * Forwarders work without it, so its failures are reported and otherwise ignored.
 * @see ADR-8 of NATS
 */
import type { Msg } from '@nats-io/transport-node'
import { manageJetStream, publishToStream, STREAM_NOT_FOUND } from '../../nats/jetstream-request.js'
import type { StreamNames } from '../../nats/message.js'
import { describeNatsError, readErrorCode } from '../../nats/nats-error.js'
import type { Clock } from '../../shared/clock.js'
import type { QueueConnection } from './queue-connection.js'
import type { QueueHealth } from './queue-health.js'

const TIMEOUT_MS = 1_000
/** Time after a failure during which callers do not wait for the bucket. */
const DISTRUST_MS = 5_000
const PART = 'the key-value bucket'

export interface StateValue {
  readonly text: string
  /** Time at which the server stored it, in milliseconds since the Unix epoch. */
  readonly storedAtMs: number
  readonly sequence: number
}

export interface StateBucketOptions {
  readonly connection: Pick<QueueConnection, 'current' | 'connected'>
  readonly bucket: StreamNames['bucket']
  readonly health: Pick<QueueHealth, 'failed' | 'works'>
  readonly clock: Clock
}

export class StateBucket {
  readonly #options: StateBucketOptions
  readonly #watched = new WeakSet<object>()
  #distrustedUntil = -Infinity
  #isMissing = false

  constructor(options: StateBucketOptions) {
    this.#options = options
  }

  /** Never rejects. @returns true if the value is stored, false if that is unknown */
  async put(key: string, text: string): Promise<boolean> {
    const isDistrusted = this.isDistrusted
    const stream = `KV_${this.#options.bucket}`
    const stored = this.#request((connection) =>
      publishToStream(connection, { stream, subject: this.#subject(key) }, { body: text, timeoutMs: TIMEOUT_MS }),
    )
    // Otherwise a hanging bucket would delay each batch by 1 s.
    return !isDistrusted && (await stored) !== undefined
  }

  /**
   * Reads from the stream's leader: another replica may lack a stored value.
   * @returns null if there is no value, undefined if it cannot be read. Never rejects
   */
  async get(key: string): Promise<StateValue | null | undefined> {
    const { bucket } = this.#options
    return this.#request(async (connection) => {
      const { streams } = await manageJetStream(connection, TIMEOUT_MS)
      const message = await streams.getMessage(`KV_${bucket}`, { last_by_subj: this.#subject(key) })
      // The deletion of a key is stored as a message.
      if (message === null || message.header.has('KV-Operation')) return null
      return { text: message.string(), storedAtMs: message.time.getTime(), sequence: message.seq }
    })
  }

  get isConnected(): boolean {
    return this.#options.connection.current !== undefined
  }

  /** Emitted at the first connection and after each reconnect. */
  get connected(): Pick<QueueConnection['connected'], 'on'> {
    return this.#options.connection.connected
  }

  /** Whether it failed within the last 5 s. */
  get isDistrusted(): boolean {
    return this.#options.clock.now() < this.#distrustedUntil
  }

  /** Whether JetStream has replied that the bucket does not exist. A publish without a reply is no evidence of that. */
  get isMissing(): boolean {
    return this.#isMissing
  }

  /** Calls `listener` with each value when it is published, which can be before it is stored. */
  watch(key: string, listener: (text: string) => void): void {
    this.#options.connection.connected.on((connection) => {
      // The client renews the subscription when it reconnects.
      if (this.#watched.has(connection)) return
      this.#watched.add(connection)
      connection.subscribe(this.#subject(key), {
        callback: (error: Error | null, message: Msg) => {
          if (error === null) listener(message.string())
        },
      })
    })
  }

  #subject(key: string): string {
    return `$KV.${this.#options.bucket}.${key}`
  }

  async #request<T>(send: (connection: NonNullable<QueueConnection['current']>) => Promise<T>): Promise<T | undefined> {
    const { connection, clock, health } = this.#options
    const { current } = connection
    if (current === undefined) return undefined
    return send(current).then(
      (result) => {
        this.#distrustedUntil = -Infinity
        this.#isMissing = false
        health.works(PART)
        return result
      },
      (error: unknown) => {
        if (connection.current === undefined) return undefined
        this.#distrustedUntil = clock.now() + DISTRUST_MS
        const code = readErrorCode(error)
        if (code !== undefined) this.#isMissing = code === STREAM_NOT_FOUND
        health.failed(PART, 'UNAVAILABLE', describeNatsError(error))
        return undefined
      },
    )
  }
}
