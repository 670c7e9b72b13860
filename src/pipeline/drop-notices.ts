/**
 * Reports dropped entries to the service: one notice for all drops within a window, sent with the next
 * accepted entries, by a flush or at the end. The counts are only in memory: after the end of the process, no other one reports them.
 */
import type { DropReason, DroppedByReason } from '../diagnostics/account.js'
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
}

/** Drops within this time are merged into one notice. */
const NOTICE_WINDOW_MS = 10_000
const NOTICE_SEVERITY = 2

export class DropNotices {
  readonly #options: DropNoticesOptions
  #target: NoticeTarget | undefined
  #unreported: Partial<Record<DropReason, number>> = {}
  /** Wall-clock time of the latest unreported drop. */
  #lastAtMs = 0
  #reportCount = 0
  #reportedAt = -Infinity

  constructor(options: DropNoticesOptions) {
    this.#options = options
  }

  connect(target: NoticeTarget): void {
    this.#target = target
  }

  get reportCount(): number {
    return this.#reportCount
  }

  add(count: number, reason: DropReason): void {
    this.#unreported[reason] = (this.#unreported[reason] ?? 0) + count
    this.#lastAtMs = this.#options.clock.wallNow()
  }

  /** Called when the service has accepted entries. Reports unless the last notice is younger than the window. */
  onAccepted(): void {
    if (this.#options.clock.now() - this.#reportedAt >= NOTICE_WINDOW_MS) this.report()
  }

  /** Creates a notice of unreported drops, if the service accepts entries. */
  report(): void {
    const { settings, clock } = this.#options
    const target = this.#target
    if (Object.keys(this.#unreported).length === 0 || target?.isAccepting !== true) return
    const entry = createDropNotice(this.#unreported, settings, this.#lastAtMs)
    this.#unreported = {}
    this.#reportCount += 1
    this.#reportedAt = clock.now()
    target.addGenerated(entry, NOTICE_SEVERITY)
    target.batcher.seal()
  }
}

/** An entry of level warn, as JSON. @param labels labels of every entry of this app @param atMs of the latest drop */
function createDropNotice(dropped: DroppedByReason, labels: Labels, atMs: number): string {
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
