/** How often what was forgotten is taken from a file too, which costs more than to forget it (pure). */

/** A little less than the minute within which a service asks at least once, so that no second one is waited for. */
const INTERVAL_MS = 59_000

export class ErasureInterval {
  #lastMs = -Infinity

  /** `receivedBeforeMs` is what is forgotten by: it goes on as the wall clock does, which may be set back. */
  isDue(receivedBeforeMs: number): boolean {
    return Math.abs(receivedBeforeMs - this.#lastMs) >= INTERVAL_MS
  }

  erased(receivedBeforeMs: number): void {
    this.#lastMs = receivedBeforeMs
  }
}
