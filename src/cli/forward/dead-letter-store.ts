/** Stores rejected entries in the dead-letter stream. */
import type { DeadLetter } from '../../batch/sender.js'
import { countHeaderBytes, encodeDeadLetter } from '../../nats/dead-letter.js'
import type { DeadLetterMessage } from '../../nats/dead-letter.js'
import { publishToStream } from '../../nats/jetstream-request.js'
import type { BatchKind, StreamNames } from '../../nats/message.js'
import { shortenToFit } from '../../record/shorten-entry.js'
import type { Clock } from '../../shared/clock.js'
import { pause } from './pause.js'
import type { QueueConnection } from './queue-connection.js'
import type { QueueHealth } from './queue-health.js'

const TIMEOUT_MS = 3_000
const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 5_000
const PART = 'the dead-letter stream'
/** Of a text of the service, if the letter is too long: the second if half a message is still not left for the entry. UTF-16 units. */
const TEXT_UNITS = [256, 32]
/** An entry cannot be shortened to less. */
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
   * Repeats each until it is confirmed.
   * @param signal ends the attempts
   * @param body of a message that is no batch
   * @returns whether all are stored. Never rejects
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

  /** What no server would take is shortened: with its reason a letter can be larger than the message that the entry came in. */
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
    // What another program has published need not be JSON.
    return Buffer.from(entry)
  }
}
