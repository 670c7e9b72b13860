/** Stores rejected entries in the dead-letter stream. */
import type { NatsConnection } from '@nats-io/transport-node'
import type { DeadLetter } from '../batch/batch.js'
import { encodeDeadLetter, MAX_DEAD_LETTER_HEADER_BYTES } from '../nats/dead-letter.js'
import type { BatchKind, StreamNames } from '../nats/message.js'
import { publishMessage } from '../nats/publish-message.js'
import { shortenToFit } from '../record/shorten-entry.js'
import type { Clock } from '../shared/clock.js'
import { pause } from '../shared/pause.js'
import type { QueueHealth } from './queue-health.js'
import { toMessage } from '../shared/errors.js'

const TIMEOUT_MS = 3_000
const RETRY_MS = 1_000
const PART = 'the dead-letter stream'
/** Minimum that `shortenToFit` supports. */
const MIN_ENTRY_BYTES = 1_024

export interface DeadLetterStoreOptions {
  readonly connection: { readonly current: NatsConnection | undefined }
  readonly names: Pick<StreamNames, 'deadStream' | 'deadSubject'>
  readonly health: Pick<QueueHealth, 'failed' | 'works'>
  readonly clock: Clock
}

export class DeadLetterStore {
  readonly #options: DeadLetterStoreOptions

  constructor(options: DeadLetterStoreOptions) {
    this.#options = options
  }

  /**
   * Publishes each letter until the stream confirms it.
   * @param signal ends the attempts
   * @param body bytes of a message that is not a batch; default: the entry
   * @returns whether all letters are stored. Never rejects
   */
  async store(
    kind: BatchKind,
    letters: readonly DeadLetter[],
    signal: AbortSignal,
    body?: Uint8Array,
  ): Promise<boolean> {
    for (const letter of letters) {
      while (!(await this.#tryStore(kind, letter, body))) {
        await pause(this.#options.clock, RETRY_MS, signal)
        if (signal.aborted) return false
      }
    }
    return true
  }

  async #tryStore(kind: BatchKind, letter: DeadLetter, body: Uint8Array | undefined): Promise<boolean> {
    const { connection, names, health } = this.#options
    const { current } = connection
    if (current === undefined) return false
    // A letter contains the reason as well, and can be larger than the message that contained the entry.
    const room = (current.info?.max_payload ?? Infinity) - MAX_DEAD_LETTER_HEADER_BYTES
    const maxBytes = Math.max(room, MIN_ENTRY_BYTES)
    const content = body ?? Buffer.from(shortenEntry(letter.entry, maxBytes))
    const message = { ...encodeDeadLetter(names, kind, letter), body: content.subarray(0, maxBytes) }
    try {
      await publishMessage(current, names.deadStream, message, { timeout: TIMEOUT_MS, retries: 1 })
    } catch (error) {
      health.failed(PART, 'UNAVAILABLE', toMessage(error))
      return false
    }
    health.works(PART)
    return true
  }
}

function shortenEntry(entry: string, maxBytes: number): string {
  try {
    return shortenToFit(entry, maxBytes)
  } catch {
    return entry // The message of another program may not be JSON.
  }
}
