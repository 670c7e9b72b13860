/** Entries that tell the service what was dropped: one for all of a while, and not while it is down. */
import type { Clock } from '../clock.js'
import { NOTICE_WINDOW_MS, addDropped, droppedNotice } from '../notice.js'
import type { DroppedByReason } from '../notice.js'
import type { Settings } from '../options.js'
import { Throttle } from '../report/throttle.js'

export interface NoticesOptions {
  readonly clock: Clock
  readonly settings: Pick<Settings, 'service' | 'environment' | 'version'>
  /** Whether an entry would be dropped with the rest, or not be taken any more. */
  readonly isHeld: () => boolean
  readonly onNotice: (entryJson: string) => void
}

export class Notices {
  readonly #options: NoticesOptions
  readonly #throttle: Throttle<DroppedByReason>
  #untold: DroppedByReason = {}

  constructor(options: NoticesOptions) {
    this.#options = options
    this.#throttle = new Throttle(options.clock, NOTICE_WINDOW_MS, addDropped, (dropped) => this.#take(dropped))
  }

  /** These were dropped. */
  add(dropped: DroppedByReason): void {
    this.#throttle.offer(dropped)
  }

  /** The service is back: not in the turn of a drop, since what dropped may be the batcher, in the middle of its way to disk. */
  tellSoon(): void {
    queueMicrotask(() => this.tell())
  }

  /** Tells now what is not yet told. */
  tell(): void {
    const { isHeld, settings, clock, onNotice } = this.#options
    if (isHeld() || Object.keys(this.#untold).length === 0) return
    const entry = droppedNotice(this.#untold, settings, clock.wallNow())
    this.#untold = {}
    onNotice(entry)
  }

  /** What the throttle holds back is to be told with the next. */
  flushNow(): void {
    this.#throttle.flushNow()
  }

  cancel(): void {
    this.#throttle.cancel()
  }

  #take(dropped: DroppedByReason): void {
    this.#untold = addDropped(this.#untold, dropped)
    this.tellSoon()
  }
}
