/**
 * The key-value bucket that the forwarders share, by the conventions of NATS: a value is the last message of its subject.
 *
 * Nothing waits for it that could not go on without it, so its failures are reported and otherwise ignored.
 * @see ADR-8 of NATS
 */
import type { Msg } from '@nats-io/transport-node'
import {
  JetStreamRequestError,
  MESSAGE_NOT_FOUND,
  publishToStream,
  requestJetStream,
  STREAM_NOT_FOUND,
} from '../../nats/jetstream-request.js'
import type { StreamNames } from '../../nats/message.js'
import type { Clock } from '../../shared/clock.js'
import type { QueueConnection } from './queue-connection.js'
import type { QueueHealth } from './queue-health.js'

const TIMEOUT_MS = 1_000
/** After a failure nothing waits for the bucket for this long. */
const DISTRUST_MS = 5_000
const PART = 'the key-value bucket'

export interface StateValue {
  readonly text: string
  /** When the server stored it, in milliseconds since the Unix epoch. */
  readonly storedAtMs: number
  readonly sequence: number
}

/** As JetStream answers. Data and headers are in base64. */
interface StoredMessage {
  readonly message?: {
    readonly seq?: number
    readonly data?: string
    readonly hdrs?: string
    readonly time?: string
  }
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

  /** Resolves when the value is stored (true), or may not be. Never rejects. */
  async put(key: string, text: string): Promise<boolean> {
    const isDistrusted = this.isDistrusted
    const stream = `KV_${this.#options.bucket}`
    const stored = this.#request((connection) =>
      publishToStream(connection, { stream, subject: this.#subject(key) }, { body: text, timeoutMs: TIMEOUT_MS }),
    )
    // A bucket that hangs would otherwise take a second of each batch.
    return !isDistrusted && (await stored) !== undefined
  }

  /**
   * Asks the stream's leader: another replica may not have a value that is stored, and would say that there is none.
   * @returns null if there is none, undefined if it cannot be read. Never rejects
   */
  async get(key: string): Promise<StateValue | null | undefined> {
    const { bucket } = this.#options
    const body = JSON.stringify({ last_by_subj: this.#subject(key) })
    const answer = await this.#request((connection) =>
      requestJetStream<StoredMessage>(connection, `$JS.API.STREAM.MSG.GET.KV_${bucket}`, {
        body,
        timeoutMs: TIMEOUT_MS,
      }).catch((error: unknown) => {
        if (error instanceof JetStreamRequestError && error.errorCode === MESSAGE_NOT_FOUND) return null
        throw error
      }),
    )
    if (answer === null || answer === undefined) return answer
    const { data = '', hdrs = '', seq = 0, time = '' } = answer.message ?? {}
    // A deleted key is a message of its own.
    if (decode(hdrs).includes('KV-Operation:')) return null
    return { text: decode(data), storedAtMs: Date.parse(time), sequence: seq }
  }

  get isConnected(): boolean {
    return this.#options.connection.current !== undefined
  }

  /** The first time, and each time after the connection was lost. */
  get connected(): Pick<QueueConnection['connected'], 'on'> {
    return this.#options.connection.connected
  }

  /** It has failed a moment ago. */
  get isDistrusted(): boolean {
    return this.#options.clock.now() < this.#distrustedUntil
  }

  /** JetStream has answered that there is none. Nobody answers a message to it, which shows nothing. */
  get isMissing(): boolean {
    return this.#isMissing
  }

  /** Calls `listener` with each value as it is written, without waiting until it is stored. */
  watch(key: string, listener: (text: string) => void): void {
    this.#options.connection.connected.on((connection) => {
      // The client renews it with the connection.
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
        const code = error instanceof JetStreamRequestError ? error.errorCode : undefined
        if (code !== undefined) this.#isMissing = code === STREAM_NOT_FOUND
        health.failed(PART, 'UNAVAILABLE', error instanceof Error ? error.message : String(error))
        return undefined
      },
    )
  }
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString()
}
