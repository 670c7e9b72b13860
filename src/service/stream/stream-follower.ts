/**
 * Follows the event stream of the local service: parses it, reconnects with growing delays, and resumes after the last event.
 * Used by the page and by `pino-ingest tail`: imports must work in browsers and in Node.
 */
import type { Clock } from '../../shared/clock.js'
import { pause } from '../../shared/pause.js'
import type { ServiceStatus } from '../query/api-types.js'
import { EventStreamParser } from './server-sent-events.js'
import type { ServerSentEvent } from './server-sent-events.js'

export interface StreamFollowerOptions {
  /** Id after which the stream starts. Undefined: only new events. */
  readonly after: string | undefined
  /** Start time of the service that issued this id, if known. */
  readonly startedAt?: string | undefined
  readStatus(signal: AbortSignal): Promise<Pick<ServiceStatus, 'started_at' | 'db_file'>>
  /** @returns the decoded text of the stream. Rejects if the service refuses or is unreachable */
  open(lastEventId: string | undefined, signal: AbortSignal): Promise<AsyncIterable<string>>
  onOpen(): void
  /** Reading continues when the promise resolves. */
  onEvent(event: ServerSentEvent): void | Promise<void>
  /** Called when the service restarted without its entries: ids start again. */
  onRestart(): void
  /** Called when the stream ended or could not be opened. If it throws, `run` rejects; otherwise the follower reconnects. */
  onFailure(error: unknown): void
  /** Waits; resolves early if the signal is aborted. Default: `setTimeout`. */
  wait?(ms: number, signal: AbortSignal): Promise<void>
}

const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 4_000

export class StreamFollower {
  readonly #options: StreamFollowerOptions
  #lastId: string | undefined
  #startedAt: string | undefined

  constructor(options: StreamFollowerOptions) {
    this.#options = options
    this.#lastId = options.after
    this.#startedAt = options.startedAt
  }

  get startedAt(): string | undefined {
    return this.#startedAt
  }

  async run(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      try {
        await this.#read(signal, () => (failures = 0))
        throw new Error('the connection was closed')
      } catch (error) {
        if (signal.aborted) return
        this.#options.onFailure(error)
      }
      const { wait = (ms) => pause(TIMERS, ms, signal) } = this.#options
      await wait(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures), signal)
      failures += 1
    }
  }

  async #read(signal: AbortSignal, onSuccess: () => void): Promise<void> {
    const { readStatus, open, onOpen, onEvent, onRestart } = this.#options
    const { started_at: startedAt, db_file: dbFile } = await readStatus(signal)
    const hasRestarted = this.#startedAt !== undefined && this.#startedAt !== startedAt
    this.#startedAt = startedAt
    if (hasRestarted && dbFile === null) {
      this.#lastId = '0'
      onRestart()
      if (signal.aborted) return
    }
    const stream = await open(this.#lastId, signal)
    onSuccess()
    onOpen()
    const parser = new EventStreamParser()
    for await (const text of stream) {
      for (const event of parser.push(text)) {
        if (signal.aborted) return
        await onEvent(event)
        this.#lastId = event.id ?? this.#lastId
      }
    }
  }
}

/** Of the page as well, so not `systemClock`. */
const TIMERS: Pick<Clock, 'timer'> = {
  timer: (delayMs, fire) => {
    const timer = setTimeout(fire, delayMs)
    return () => clearTimeout(timer)
  },
}
