/** Entries that tell the service what was dropped: one for all of a while, and not while it is down. */
import type { DropReason } from '../account.js'
import type { Clock } from '../clock.js'
import { NOTICE_WINDOW_MS, droppedNotice } from '../notice.js'
import type { Settings } from '../options.js'

export interface NoticesOptions {
  readonly clock: Clock
  readonly settings: Pick<Settings, 'service' | 'environment' | 'version'>
  /** Whether an entry would be dropped with the rest, or not be taken any more. */
  readonly isHeld: () => boolean
  readonly onNotice: (entryJson: string) => void
}

export class Notices {
  readonly #options: NoticesOptions
  #untold: Partial<Record<DropReason, number>> = {}
  #cancelTimer: (() => void) | undefined

  constructor(options: NoticesOptions) {
    this.#options = options
  }

  /** These were dropped: told soon, and what follows within the window with the next. */
  add(count: number, reason: DropReason): void {
    this.#untold[reason] = (this.#untold[reason] ?? 0) + count
    if (this.#cancelTimer !== undefined) return
    this.#openWindow()
    this.tellSoon()
  }

  /** Not in the turn of a drop or of the recovery: what dropped may be the batcher, in the middle of its way to disk. */
  tellSoon(): void {
    queueMicrotask(() => this.tell())
  }

  /** Tells now what is not yet told. @returns whether there was something */
  tell(): boolean {
    const { isHeld, settings, clock, onNotice } = this.#options
    if (isHeld() || Object.keys(this.#untold).length === 0) return false
    const entry = droppedNotice(this.#untold, settings, clock.wallNow())
    this.#untold = {}
    onNotice(entry)
    return true
  }

  cancel(): void {
    this.#cancelTimer?.()
    this.#untold = {}
  }

  /** What was told at its end begins another: drops that go on are told once in a window. */
  #openWindow(): void {
    this.#cancelTimer = this.#options.clock.timer(NOTICE_WINDOW_MS, () => {
      this.#cancelTimer = undefined
      if (this.tell()) this.#openWindow()
    })
  }
}
