/** Entries that tell the service what was dropped: one for all drops of a while, once the service accepts entries. */
import type { DropReason } from '../account.js'
import type { Clock } from '../clock.js'
import { NOTICE_WINDOW_MS, droppedNotice } from '../notice.js'
import type { UntoldDrops } from '../notice.js'
import type { Settings } from '../options.js'

export interface NoticesOptions {
  readonly clock: Clock
  readonly settings: Pick<Settings, 'service' | 'environment' | 'version'>
  /** Whether an entry would be dropped with the rest, or not be taken any more. */
  readonly isHeld: () => boolean
  /** Must have put the entry on disk, where there is one, when it returns. */
  readonly onNotice: (entryJson: string) => void
  /** Keeps the counts on disk for the next process, in place of those before; undefined: there are none. */
  readonly onKeep: (drops: UntoldDrops | undefined) => void
}

export class Notices {
  readonly #options: NoticesOptions
  #untold: Partial<Record<DropReason, number>> = {}
  /** Of the wall clock: when the latest of them was dropped. */
  #lastAtMs = 0
  /** Since the first of them: before that the service may be down without anybody knowing. */
  #hasAccepted = false
  #told = 0
  #toldAt = -Infinity
  #keptCounts = ''
  #state: 'open' | 'closing' | 'ended' = 'open'
  #cancelTimer: (() => void) | undefined

  constructor(options: NoticesOptions) {
    this.#options = options
  }

  /** Notices so far. */
  get told(): number {
    return this.#told
  }

  /** These were dropped. */
  add(count: number, reason: DropReason): void {
    this.#count({ dropped: { [reason]: count }, lastAtMs: this.#options.clock.wallNow() })
    if (this.#state === 'closing') this.#keep()
    else this.#openWindow()
  }

  /** An earlier process dropped these, and told nobody. They are kept when this returns. */
  addEarlier(drops: UntoldDrops): void {
    this.#count(drops)
    this.#keep()
  }

  /** The service has accepted entries: it is told now, unless it was within the last window. */
  accepted(): void {
    if (this.#isEmpty) return
    this.#hasAccepted = true
    if (this.#state === 'closing' || this.#options.clock.now() - this.#toldAt >= NOTICE_WINDOW_MS) this.tell()
    else this.#openWindow()
  }

  /** Tells what is not yet told, if the service has accepted entries since. */
  tell(): void {
    const { isHeld, settings, clock, onNotice } = this.#options
    if (this.#isEmpty || !this.#hasAccepted || isHeld()) return
    const entry = droppedNotice(this.#untold, settings, this.#lastAtMs)
    this.#untold = {}
    this.#hasAccepted = false
    this.#told += 1
    this.#toldAt = clock.now()
    onNotice(entry)
    this.#keep()
  }

  /** The app ends: what cannot be told is kept from now on at once. */
  close(): void {
    this.#state = 'closing'
    this.#cancelTimer?.()
    this.tell()
    this.#keep()
  }

  /** Nothing is told or kept any more. */
  end(): void {
    this.#state = 'ended'
    this.#cancelTimer?.()
  }

  get #isEmpty(): boolean {
    return Object.keys(this.#untold).length === 0
  }

  #count({ dropped, lastAtMs }: UntoldDrops): void {
    for (const [reason, count] of Object.entries(dropped) as [DropReason, number][]) this.#untold[reason] = (this.#untold[reason] ?? 0) + count
    // What is on disk may say any time, and an entry's is a date.
    this.#lastAtMs = Math.max(this.#lastAtMs, Math.min(lastAtMs, this.#options.clock.wallNow()))
  }

  #keep(): void {
    const counts = this.#isEmpty ? '' : JSON.stringify(this.#untold)
    if (counts === this.#keptCounts) return
    this.#keptCounts = counts
    this.#options.onKeep(this.#isEmpty ? undefined : { dropped: { ...this.#untold }, lastAtMs: this.#lastAtMs })
  }

  /** Not in the turn of a drop: what dropped may be the batcher, in the middle of its way to disk. */
  #openWindow(): void {
    if (this.#state === 'ended' || this.#cancelTimer !== undefined) return
    this.#cancelTimer = this.#options.clock.timer(NOTICE_WINDOW_MS, () => {
      this.#cancelTimer = undefined
      this.tell()
      this.#keep()
    })
  }
}
