/**
 * Detects that the stream was deleted and created again. Messages are acknowledged by their sequence: in a new stream the same sequence is
 * another message, and acknowledging it would delete that message undelivered.
 */
import type { StreamInfo } from '@nats-io/jetstream'
import { manageJetStream } from '../nats/jetstream-request.js'
import type { StreamNames } from '../nats/message.js'
import type { Clock } from '../shared/clock.js'
import type { QueueConnection } from './queue-connection.js'

const TIMEOUT_MS = 2_000
/** Within this time a stream cannot be deleted, created again and filled up to the same sequence. */
const MIN_RECREATE_MS = 2_000

export interface StreamIncarnationOptions {
  readonly connection: Pick<QueueConnection, 'current'>
  readonly names: Pick<StreamNames, 'stream'>
  readonly clock: Clock
}

export class StreamIncarnation {
  readonly #options: StreamIncarnationOptions
  /** Creation time of the stream. */
  #id: string | undefined
  #readAt = -Infinity
  #reading: Promise<StreamInfo> | undefined

  constructor(options: StreamIncarnationOptions) {
    this.#options = options
  }

  /** Last value read; undefined before the first read. */
  get id(): string | undefined {
    return this.#id
  }

  /** Rejects with the client's errors. */
  read(): Promise<StreamInfo> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  /**
   * Asks JetStream, unless the answer is at most 2 s old. Never rejects.
   * @param knownAt time at which `id` was known to be correct, on the monotonic clock
   * @returns undefined if JetStream cannot be asked at present
   */
  async isStill(id: string | undefined, knownAt: number): Promise<boolean | undefined> {
    if (id !== this.#id) return false
    const isFresh = this.#options.clock.now() - Math.max(this.#readAt, knownAt) <= MIN_RECREATE_MS
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
    const info = await (await manageJetStream(current, TIMEOUT_MS)).streams.info(names.stream)
    this.#id = info.created
    this.#readAt = startedAt
    return info
  }
}
