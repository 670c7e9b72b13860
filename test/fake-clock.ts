/**
 * A clock that only `advance()` moves. Timers fire in order of time; the work that a timer starts runs before the
 * next timer.
 */
import type { Clock } from '../src/shared/clock.js'

interface Timer {
  readonly at: number
  readonly order: number
  readonly fire: () => void
}

export class FakeClock implements Clock {
  #now = 0
  #order = 0
  readonly #timers = new Set<Timer>()
  readonly #wallStart: number

  constructor(wallStart = Date.UTC(2025, 0, 1)) {
    this.#wallStart = wallStart
  }

  /** The number of pending timers. */
  get timers(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#now
  }

  wallNow(): number {
    return this.#wallStart + this.#now
  }

  timer(delayMs: number, fire: () => void): () => void {
    const timer = { at: this.#now + Math.max(delayMs, 0), order: this.#order++, fire }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** Advances by `ms` and fires the due timers. @param onPassed called with the milliseconds since the last call, before each timer and at the end */
  async advance(ms: number, onPassed?: (ms: number) => void): Promise<void> {
    const until = this.#now + ms
    await settled()
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#timers.delete(next)
      this.#moveTo(next.at, onPassed)
      next.fire()
      await settled()
    }
    this.#moveTo(until, onPassed)
  }

  #moveTo(at: number, onPassed?: (ms: number) => void): void {
    const passed = at - this.#now
    this.#now = at
    if (passed > 0) onPassed?.(passed)
  }

  #next(until: number): Timer | undefined {
    const due = [...this.#timers].filter((timer) => timer.at <= until)
    return due.toSorted((a, b) => a.at - b.at || a.order - b.order)[0]
  }
}

/** Resolves after all pending promise callbacks: `setImmediate` runs after the last of them. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
