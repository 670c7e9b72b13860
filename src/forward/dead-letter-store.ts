/** Stores rejected entries in the dead-letter stream. */
import type { DeadLetter } from '../batch/batch.js'
import { countHeaderBytes, encodeDeadLetter } from '../nats/dead-letter.js'
import type { DeadLetterMessage } from '../nats/dead-letter.js'
import { publishToStream } from '../nats/jetstream-request.js'
import type { BatchKind, StreamNames } from '../nats/message.js'
import { shortenToFit } from '../record/shorten-entry.js'
import type { Clock } from '../shared/clock.js'
import { pause } from '../shared/pause.js'
import type { QueueConnection } from './queue-connection.js'
import type { QueueHealth } from './queue-health.js'

const TIMEOUT_MS = 3_000
const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 5_000
const PART = 'the dead-letter stream'
/**
 * If a letter is too long, texts of the service are cut to this number of UTF-16 units. The second limit applies if the headers still take
 * more than half of the message.
 */
const TEXT_UNITS = [256, 32]
/** Minimum that `shortenToFit` supports. */
const MIN_ENTRY_BYTES = 1_024

export interface DeadLetterStoreOptions {
  readonly connection: Pick<QueueConnection, 'current'>
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
   * @param body bytes of a message that is not a batch
   * @returns whether all letters are stored. Never rejects
   */
  async store(
    kind: BatchKind,
    letters: readonly DeadLetter[],
    signal: AbortSignal,
    body?: Uint8Array,
  ): Promise<boolean> {
    const { connection, names, clock, health } = this.#options
    for (const letter of letters) {
      for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
        const { current } = connection
        try {
          if (current !== undefined) {
            const message = this.#encode(kind, letter, body, current.info?.max_payload ?? Infinity)
            await publishToStream(
              current,
              { stream: names.deadStream, subject: message.subject },
              {
                body: message.body,
                headers: message.headers,
                timeoutMs: TIMEOUT_MS,
              },
            )
            health.works(PART)
            break
          }
        } catch (error) {
          health.failed(PART, 'UNAVAILABLE', error instanceof Error ? error.message : String(error))
        }
        await pause(clock, waitMs, signal)
        if (signal.aborted) return false
      }
    }
    return true
  }

  /** Shortens a letter that exceeds `max_payload`: including the reason it can be larger than the original message. */
  #encode(kind: BatchKind, letter: DeadLetter, body: Uint8Array | undefined, maxPayload: number): DeadLetterMessage {
    let message = encodeDeadLetter(this.#options.names, kind, letter, body)
    let room = maxPayload - countHeaderBytes(message)
    for (const units of TEXT_UNITS) {
      if (message.body.length <= room) return message
      message = encodeDeadLetter(this.#options.names, kind, cutTexts(letter, units), body)
      room = maxPayload - countHeaderBytes(message)
      if (room >= maxPayload / 2) break
    }
    if (message.body.length <= room) return message
    const short = body ?? shortenEntry(letter.entry, room)
    return { ...message, body: short.subarray(0, Math.max(room, 0)) }
  }
}

function cutTexts(letter: DeadLetter, units: number): DeadLetter {
  const [code, field, reason] = [letter.code, letter.field, letter.reason].map((text) => text.slice(0, units))
  return { ...letter, code: code as string, field: field as string, reason: reason as string }
}

function shortenEntry(entry: string, maxBytes: number): Uint8Array {
  try {
    return Buffer.from(shortenToFit(entry, Math.max(maxBytes, MIN_ENTRY_BYTES)))
  } catch {
    // The message of another program may not be JSON.
    return Buffer.from(entry)
  }
}
