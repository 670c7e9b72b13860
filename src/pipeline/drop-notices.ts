/** Reports dropped entries to the service: one notice for all drops within a window, sent once the service accepts entries. */
import type { DropReason, UnreportedDrops } from '../diagnostics/account.js'
import type { Settings } from '../options/settings.js'
import type { LogEntry } from '../protocol/log-entry.js'
import type { Clock } from '../shared/clock.js'

type Labels = Pick<Settings, 'service' | 'environment' | 'version'>

export interface DropNoticesOptions {
  readonly clock: Clock
  readonly settings: Labels
}

/** The endpoint that drops entries and sends the notices. */
export interface NoticeTarget {
  readonly batcher: { seal(): void }
  /** False if a notice would also be dropped, or would be late. */
  readonly isAccepting: boolean
  /** Adds an entry. With a spool, it is on disk when this returns. */
  addGenerated(entryJson: string, severity: number): void
  /** Saves the counts on disk for the next process and replaces earlier ones; undefined deletes them. */
  saveDropCounts(drops: UnreportedDrops | undefined): void
}

/** Drops within this time are merged into one notice. */
export const NOTICE_WINDOW_MS = 10_000
/** Severity of `warn`. */
const NOTICE_SEVERITY = 2

export class DropNotices {
  readonly #options: DropNoticesOptions
  #target: NoticeTarget | undefined
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

  connect(target: NoticeTarget): void {
    this.#target = target
  }

  /** Number of notices created so far. */
  get reportCount(): number {
    return this.#reportCount
  }

  /** Counts dropped entries. */
  add(count: number, reason: DropReason): void {
    this.#count({ dropped: { [reason]: count }, lastAtMs: this.#options.clock.wallNow() })
    if (this.#state === 'closing') this.#save()
    else this.#openWindow()
  }

  /** Adds drops that an earlier process did not report. Saves them before it returns. */
  addFromPreviousProcess(drops: UnreportedDrops): void {
    this.#count(drops)
    this.#save()
  }

  /**
   * Called when the service has accepted entries. Reports immediately, unless the last notice is younger than the
   * window.
   */
  onAccepted(): void {
    if (this.#isEmpty) return
    this.#hasAccepted = true
    if (this.#state === 'closing' || this.#options.clock.now() - this.#reportedAt >= NOTICE_WINDOW_MS) this.report()
    else this.#openWindow()
  }

  /** Creates a notice of unreported drops, if the service has accepted entries since then. */
  report(): void {
    const { settings, clock } = this.#options
    const target = this.#target
    if (this.#isEmpty || !this.#hasAccepted || target?.isAccepting !== true) return
    const entry = createDropNotice(this.#unreported, settings, this.#lastAtMs)
    this.#unreported = {}
    this.#hasAccepted = false
    this.#reportCount += 1
    this.#reportedAt = clock.now()
    target.addGenerated(entry, NOTICE_SEVERITY)
    target.batcher.seal()
    this.#save()
  }

  /** Called at shutdown. Later unreported counts are saved immediately. */
  close(): void {
    this.#state = 'closing'
    this.#cancelTimer?.()
    this.report()
    this.#save()
  }

  /** Stops reporting and saving. */
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
    const drops = { dropped: { ...this.#unreported }, lastAtMs: this.#lastAtMs }
    this.#target?.saveDropCounts(this.#isEmpty ? undefined : drops)
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

/** An entry of level warn, as JSON. @param labels labels of every entry of this app @param atMs of the latest drop */
export function createDropNotice(dropped: UnreportedDrops['dropped'], labels: Labels, atMs: number): string {
  const { service, environment, version } = labels
  const count = Object.values(dropped).reduce((sum, one) => sum + one, 0)
  const reasons = Object.entries(dropped)
    .map(([reason, one]) => `${reason} ${one}`)
    .join(', ')
  const entry: LogEntry = {
    level: 'warn',
    message: `pino-ingest dropped ${count === 1 ? '1 entry' : `${count} entries`} (${reasons})`,
    timestamp: new Date(atMs).toISOString(),
    ...(service !== undefined && { service }),
    ...(environment !== undefined && { environment }),
    ...(version !== undefined && { version }),
    metadata: { pino_ingest: { dropped: { ...dropped } } },
  }
  return JSON.stringify(entry)
}
