/** The first halves of requests that wait for their second: Fastify tells of a request in two records. Bounded in every direction. */
import type { Clock } from '../shared/clock.js'
import type { RequestStart } from './request-log.js'

/** Requests under way at once in one process, and more than that. */
const MAX_OPEN = 10_000
/** Paths are a server's to bound, mostly at 16 KiB; ten thousand of these would be too much. */
const MAX_OPEN_CHARS = 4 * 1024 * 1024
/** What is aborted is never told of again. */
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

  /** Requests that wait. */
  get size(): number {
    return this.#waiting.size
  }

  /** @param id of the request, which may be that of an earlier one: the newer counts */
  set(id: string, opening: RequestStart): void {
    this.#remove(id)
    const { method, path, labels } = opening
    const chars = [id, method, path, ...Object.values(labels)].reduce((sum, text) => sum + text.length, 0)
    this.#waiting.set(id, { opening, chars, openedAt: this.#clock.now() })
    this.#chars += chars
    this.#forget()
  }

  /** @returns how the request of this id began; undefined where nobody told, or too long ago */
  get(id: string): RequestStart | undefined {
    this.#forget()
    return this.#waiting.get(id)?.opening
  }

  /** It has ended: what its id names next is another request. */
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
