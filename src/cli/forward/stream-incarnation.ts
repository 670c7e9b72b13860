/**
 * Which of the streams that have had this name it is. A held message is acknowledged by its sequence: once the stream was deleted and
 * created anew, the same sequence is another message, which would be deleted without being delivered.
 */
import { requestJetStream } from '../../nats/jetstream-request.js'
import type { StreamNames } from '../../nats/message.js'
import type { Clock } from '../../shared/clock.js'
import type { QueueConnection } from './queue-connection.js'

const TIMEOUT_MS = 2_000
/** No one deletes a stream, creates it and fills it up to the same sequence in this time. */
const FRESH_MS = 2_000

export interface StreamInfo {
  /** When it was created: differs for each stream of this name. */
  readonly created?: string
  readonly state?: {
    readonly messages?: number
    readonly first_seq?: number
    readonly last_seq?: number
    readonly first_ts?: string
  }
}

export interface StreamIncarnationOptions {
  readonly connection: Pick<QueueConnection, 'current'>
  readonly names: Pick<StreamNames, 'stream'>
  readonly clock: Clock
}

export class StreamIncarnation {
  readonly #options: StreamIncarnationOptions
  #id: string | undefined
  #readAt = -Infinity
  #reading: Promise<StreamInfo> | undefined

  constructor(options: StreamIncarnationOptions) {
    this.#options = options
  }

  /** As last read; undefined before. */
  get id(): string | undefined {
    return this.#id
  }

  /** Rejects with JetStreamRequestError, and the client's errors. */
  read(): Promise<StreamInfo> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  /**
   * Asks JetStream, unless that was done lately. Never rejects.
   * @param knownAt when `id` was known to be right, on the monotonic clock
   * @returns undefined if it is not known at present
   */
  async isStill(id: string | undefined, knownAt: number): Promise<boolean | undefined> {
    if (id !== this.#id) return false
    const isFresh = this.#options.clock.now() - Math.max(this.#readAt, knownAt) <= FRESH_MS
    if (isFresh) return true
    return this.read().then(
      () => id === this.#id,
      () => undefined,
    )
  }

  async #read(): Promise<StreamInfo> {
    const { connection, names, clock } = this.#options
    const { current } = connection
    if (current === undefined) throw new Error('not connected')
    const startedAt = clock.now()
    const info = await requestJetStream<StreamInfo>(current, `$JS.API.STREAM.INFO.${names.stream}`, {
      timeoutMs: TIMEOUT_MS,
    })
    this.#id = info.created
    this.#readAt = startedAt
    return info
  }
}
