/** Starts of requests whose end is not yet logged: Fastify logs a request in two records. Bounded in number, size and age. */
import type { Clock } from '../shared/clock.js'
import type { RequestStart } from './request-log.js'

/** More than the concurrent requests of one process. */
const MAX_OPEN = 10_000
/** Servers limit paths to 16 KiB or so; ten thousand of these would take too much memory. */
const MAX_OPEN_CHARS = 4 * 1024 * 1024
/** The end of an aborted request is never logged. */
const MAX_AGE_MS = 5 * 60_000

interface Waiting {
  readonly opening: RequestStart
  readonly chars: number
  readonly openedAt: number
}

export class RequestJoiner {
  readonly #clock: Pick<Clock, 'now'>
  /** By id, the oldest first. */
  readonly #waiting = new Map<string, Waiting>()
  #chars = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Number of requests that wait for their end. */
  get size(): number {
    return this.#waiting.size
  }

  /** @param id of the request; if an earlier request has the same id, the newer one wins */
  set(id: string, opening: RequestStart): void {
    this.#remove(id)
    const { method, path, labels } = opening
    const chars = [id, method, path, ...Object.values(labels)].reduce((sum, text) => sum + text.length, 0)
    this.#waiting.set(id, { opening, chars, openedAt: this.#clock.now() })
    this.#chars += chars
    this.#forget()
  }

  /** @returns the start of the request; undefined if it was not logged, or too long ago */
  get(id: string): RequestStart | undefined {
    this.#forget()
    return this.#waiting.get(id)?.opening
  }

  /** The request has ended: a later record with its id is another request. */
  delete(id: string): void {
    this.#remove(id)
  }

  #forget(): void {
    const now = this.#clock.now()
    for (const [id, { openedAt }] of this.#waiting) {
      if (this.#waiting.size <= MAX_OPEN && this.#chars <= MAX_OPEN_CHARS && now - openedAt <= MAX_AGE_MS) return
      this.#remove(id)
    }
  }

  #remove(id: string): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#chars -= waiting.chars
    this.#waiting.delete(id)
  }
}
