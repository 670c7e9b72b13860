/** Reports dropped entries to the service: one notice for all drops within a window, sent once the service accepts entries. */
import type { DropReason } from '../diagnostics/account.js'
import type { Clock } from '../shared/clock.js'
import { NOTICE_WINDOW_MS, createDropNotice } from '../diagnostics/unreported-drops.js'
import type { UnreportedDrops } from '../diagnostics/unreported-drops.js'
import type { Settings } from '../options/resolve-options.js'

export interface DropNoticesOptions {
  readonly clock: Clock
  readonly settings: Pick<Settings, 'service' | 'environment' | 'version'>
  /** Whether a notice made now would be dropped as well, or comes too late. */
  readonly isBlocked: () => boolean
  /** With a spool, the entry must be on disk when this returns. */
  readonly onNotice: (entryJson: string) => void
  /** Saves the counts on disk for the next process and replaces earlier ones; undefined deletes them. */
  readonly saveCounts: (drops: UnreportedDrops | undefined) => void
}

export class DropNotices {
  readonly #options: DropNoticesOptions
  #unreported: Partial<Record<DropReason, number>> = {}
  /** Wall-clock time of the latest unreported drop. */
  #lastAtMs = 0
  /** Whether the service has accepted entries since the first unreported drop. */
  #hasAccepted = false
  #reportCount = 0
  #reportedAt = -Infinity
  #savedCounts = ''
  #state: 'open' | 'closing' | 'ended' = 'open'
  #cancelTimer: (() => void) | undefined

  constructor(options: DropNoticesOptions) {
    this.#options = options
  }

  /** Notices made so far. */
  get reportCount(): number {
    return this.#reportCount
  }

  /** Counts dropped entries. */
  add(count: number, reason: DropReason): void {
    this.#count({ dropped: { [reason]: count }, lastAtMs: this.#options.clock.wallNow() })
    if (this.#state === 'closing') this.#save()
    else this.#openWindow()
  }

  /** Adds drops that an earlier process did not report. They are saved when this returns. */
  addFromPreviousProcess(drops: UnreportedDrops): void {
    this.#count(drops)
    this.#save()
  }

  /** The service has accepted entries: reports now, unless the last notice is younger than the window. */
  onAccepted(): void {
    if (this.#isEmpty) return
    this.#hasAccepted = true
    if (this.#state === 'closing' || this.#options.clock.now() - this.#reportedAt >= NOTICE_WINDOW_MS) this.report()
    else this.#openWindow()
  }

  /** Makes a notice of what is unreported, if the service has accepted entries since. */
  report(): void {
    const { isBlocked: isHeld, settings, clock, onNotice } = this.#options
    if (this.#isEmpty || !this.#hasAccepted || isHeld()) return
    const entry = createDropNotice(this.#unreported, settings, this.#lastAtMs)
    this.#unreported = {}
    this.#hasAccepted = false
    this.#reportCount += 1
    this.#reportedAt = clock.now()
    onNotice(entry)
    this.#save()
  }

  /** The app ends: from now on unreported counts are saved at once. */
  close(): void {
    this.#state = 'closing'
    this.#cancelTimer?.()
    this.report()
    this.#save()
  }

  /** Reports and saves nothing any more. */
  end(): void {
    this.#state = 'ended'
    this.#cancelTimer?.()
  }

  get #isEmpty(): boolean {
    return Object.keys(this.#unreported).length === 0
  }

  #count({ dropped, lastAtMs }: UnreportedDrops): void {
    for (const [reason, count] of Object.entries(dropped) as [DropReason, number][])
      this.#unreported[reason] = (this.#unreported[reason] ?? 0) + count
    // A time read from disk may be any number, and an entry needs a valid date.
    this.#lastAtMs = Math.max(this.#lastAtMs, Math.min(lastAtMs, this.#options.clock.wallNow()))
  }

  #save(): void {
    const counts = this.#isEmpty ? '' : JSON.stringify(this.#unreported)
    if (counts === this.#savedCounts) return
    this.#savedCounts = counts
    this.#options.saveCounts(this.#isEmpty ? undefined : { dropped: { ...this.#unreported }, lastAtMs: this.#lastAtMs })
  }

  /** Deferred to a timer, because the drop may come from the batcher while it is writing to disk. */
  #openWindow(): void {
    if (this.#state === 'ended' || this.#cancelTimer !== undefined) return
    this.#cancelTimer = this.#options.clock.timer(NOTICE_WINDOW_MS, () => {
      this.#cancelTimer = undefined
      this.report()
      this.#save()
    })
  }
}
