/** Starts of requests whose end is not logged yet. Bounded in number, size and age. */
import { copyString } from '../record/string-copy.js'
import type { Clock } from '../shared/clock.js'

/** More than the concurrent requests of one process. */
const MAX_OPEN = 10_000
/** Servers limit paths to about 16 KiB; 10,000 of these would take too much memory. */
const MAX_OPEN_CHARS = 4 * 1024 * 1024
/** Expires aborted requests, whose end is never logged. */
const MAX_AGE_MS = 5 * 60_000
/** Interval between searches for expired starts, which take longer than a look-up. */
const FORGET_MS = 60_000

/** Parts of the first entry of a request, as JSON without braces. */
export interface RequestStart {
  readonly request: string
  readonly metadata: string
  /** Number of open requests under the key whose first record is Fastify's. */
  readonly fastifyCount: number
}

interface Waiting {
  readonly start: RequestStart
  readonly chars: number
  readonly openedAt: number
}

export class RequestStarts {
  readonly #clock: Pick<Clock, 'now'>
  /** By key, the oldest first. */
  readonly #waiting = new Map<string, Waiting>()
  #chars = 0
  #forgottenAt = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  get size(): number {
    return this.#waiting.size
  }

  /** @param key of the request; if an earlier request has the same key, the newer one wins */
  set(key: string, { request, metadata, fastifyCount }: RequestStart): void {
    this.delete(key)
    // Copied, because a slice would keep the whole entry in memory.
    const copy = copyString(request + metadata + key)
    const [requestEnd, keyAt] = [request.length, request.length + metadata.length]
    const start = { request: copy.slice(0, requestEnd), metadata: copy.slice(requestEnd, keyAt), fastifyCount }
    this.#waiting.set(copy.slice(keyAt), { start, chars: copy.length, openedAt: this.#clock.now() })
    this.#chars += copy.length
    this.#forget()
  }

  /** @returns the start of the request; undefined if it was not logged or has expired */
  get(key: string): RequestStart | undefined {
    const now = this.#clock.now()
    // Expires starts even if no other request starts.
    if (now - this.#forgottenAt > FORGET_MS) this.#forget()
    const waiting = this.#waiting.get(key)
    return waiting === undefined || now - waiting.openedAt > MAX_AGE_MS ? undefined : waiting.start
  }

  /** Called when the request has ended. A later record with its key belongs to another request. */
  delete(key: string): void {
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) return
    this.#chars -= waiting.chars
    this.#waiting.delete(key)
  }

  #forget(): void {
    const now = this.#clock.now()
    this.#forgottenAt = now
    for (const [key, { openedAt }] of this.#waiting) {
      if (this.#waiting.size <= MAX_OPEN && this.#chars <= MAX_OPEN_CHARS && now - openedAt <= MAX_AGE_MS) return
      this.delete(key)
    }
  }
}
