/** What came too long ago goes: looked at as records come, and now and then where none do. */
import type { Schedule } from '../schedule.js'

/** A store may take a while over it, so it is not asked for every record. */
const MIN_INTERVAL_MS = 1000
const MAX_INTERVAL_MS = 60_000

export interface AgeLimitOptions {
  readonly maxAgeMs: number
  /** What came before this time. */
  readonly deleteOlder: (receivedBeforeMs: number) => void
  readonly wallNow: () => number
  readonly now: () => number
  readonly after: Schedule
  readonly onProblem: (message: string) => void
}

export class AgeLimit {
  readonly #parts: AgeLimitOptions
  #lookedAtMs = -Infinity
  #cancel: () => void

  constructor(parts: AgeLimitOptions) {
    this.#parts = parts
    this.#look()
    this.#cancel = this.#plan()
  }

  recordsStored(): void {
    if (this.#parts.now() - this.#lookedAtMs >= MIN_INTERVAL_MS) this.#look()
  }

  close(): void {
    this.#cancel()
  }

  #look(): void {
    const { maxAgeMs, deleteOlder: forget, wallNow, now, onProblem } = this.#parts
    this.#lookedAtMs = now()
    try {
      forget(wallNow() - maxAgeMs)
    } catch (error) {
      onProblem(
        `what is older than maxAgeMs could not be removed: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }

  #plan(): () => void {
    return this.#parts.after(MAX_INTERVAL_MS, () => {
      this.#look()
      this.#cancel = this.#plan()
    })
  }
}
