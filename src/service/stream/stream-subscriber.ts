/**
 * One subscriber of the stream. It gets at most one event per 50 ms. Its queue is bounded: for a slow subscriber, the oldest entries
 * are skipped and counted.
 */
import type { Clock } from '../../shared/clock.js'
import type { EntrySummary, StreamChanged, StreamEntries } from '../query/api-types.js'
import { COMMENT, formatEvent } from './server-sent-events.js'

export const MIN_INTERVAL_MS = 50
export const MAX_EVENT_ENTRIES = 500
/** Maximum number of entries in the queue of a subscriber, and to send when it resumes. */
export const MAX_WAITING_ENTRIES = 2000

export type ChangedKind = StreamChanged['kinds'][number]

export interface SubscriberDependencies {
  /** Returns false if the connection is full; the next write then waits for `drained()`. */
  readonly write: (text: string) => boolean
  readonly clock: Clock
}

export class StreamSubscriber {
  readonly #write: (text: string) => boolean
  readonly #clock: Clock
  #waiting: EntrySummary[] = []
  #skipped = 0
  #skippedSeq = 0
  #kinds = new Set<ChangedKind>()
  /** `seq` of the last deleted record, until the subscriber is notified. */
  #resetSeq: number | undefined
  #isFull = false
  #writtenAtMs = -Infinity
  #cancel: (() => void) | undefined

  constructor({ write, clock }: SubscriberDependencies) {
    this.#write = write
    this.#clock = clock
  }

  entries(items: readonly EntrySummary[], skipped = 0): void {
    this.#waiting.push(...items)
    this.#skipped += skipped
    const tooMany = this.#waiting.splice(0, Math.max(0, this.#waiting.length - MAX_WAITING_ENTRIES))
    this.#skipped += tooMany.length
    this.#skippedSeq = tooMany.at(-1)?.seq ?? this.#skippedSeq
    this.#schedule()
  }

  changed(kind: ChangedKind): void {
    this.#kinds.add(kind)
    this.#schedule()
  }

  /** Reports that all records up to this `seq` were deleted; drops the queue. */
  reset(seq: number): void {
    this.#waiting = []
    this.#skipped = 0
    this.#kinds.clear()
    this.#resetSeq = seq
    this.#schedule()
  }

  drained(): void {
    this.#isFull = false
    this.#schedule()
  }

  comment(): void {
    this.#send(COMMENT)
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #schedule(): void {
    const hasNews =
      this.#waiting.length > 0 || this.#skipped > 0 || this.#kinds.size > 0 || this.#resetSeq !== undefined
    if (this.#cancel !== undefined || this.#isFull || !hasNews) return
    const delayMs = Math.max(0, this.#writtenAtMs + MIN_INTERVAL_MS - this.#clock.now())
    this.#cancel = this.#clock.timer(delayMs, () => {
      this.#cancel = undefined
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#isFull) return
    this.#writtenAtMs = this.#clock.now()
    let text = ''
    if (this.#resetSeq !== undefined) text += formatReset(this.#resetSeq)
    if (this.#waiting.length > 0 || this.#skipped > 0) {
      const items = this.#waiting.splice(0, MAX_EVENT_ENTRIES)
      text += formatEntries(items, this.#skipped, items.at(-1)?.seq ?? this.#skippedSeq)
      this.#skipped = 0
    }
    if (this.#kinds.size > 0) {
      text += formatEvent({ event: 'changed', data: { kinds: [...this.#kinds] } satisfies StreamChanged })
    }
    this.#resetSeq = undefined
    this.#kinds.clear()
    this.#send(text)
    this.#schedule()
  }

  #send(text: string): void {
    if (!this.#isFull) this.#isFull = !this.#write(text)
  }
}

/** The id prevents a second notification when the subscriber reconnects. */
export function formatReset(seq: number): string {
  return formatEvent({ event: 'reset', data: {}, id: seq })
}

export function formatEntries(items: readonly EntrySummary[], skipped: number, seq: number): string {
  return formatEvent({ event: 'entries', data: { items, skipped } satisfies StreamEntries, id: seq })
}
