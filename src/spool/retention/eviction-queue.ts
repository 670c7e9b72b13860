/** Drops claimed segments that exceed the size or age limit: counts the entries of each, then deletes its file. */
import { toAcknowledgementLogPath } from '../disk-format.js'
import { readAcknowledgements } from '../segment/acknowledgement-log.js'
import { PositionSet } from '../segment/position-set.js'
import { SegmentReader } from '../segment/segment-reader.js'
import type { ClaimedSegment } from '../instance/claimed-segment.js'
import type { Segment } from '../segment/segment.js'
import { isResourceExhausted } from '../segment/format-version.js'

interface Drop {
  readonly claimed: ClaimedSegment
  readonly reason: 'spool' | 'age'
  readonly why: string
  failures: number
}

export interface EvictionQueueOptions {
  /** Called with the number of entries counted in a segment. */
  readonly onRecovered: (entries: number) => void
  readonly onDropped: (entries: number, reason: Drop['reason'], detail: string) => void
  readonly onError: (error: unknown) => void
}

/** Failed scans after which a segment is deleted uncounted. Otherwise a bad block would hold its room forever. */
const MAX_FAILURES = 3
/** Segments that are deleted and reported together: a log call waits for the deletion. */
const MAX_COUNTED = 8

export class EvictionQueue {
  readonly #options: EvictionQueueOptions
  #drops: Drop[] = []
  /** Entries of the first of them, by position. */
  #counts: number[] = []
  readonly #postponed: Drop[] = []
  #bytes = 0
  #running: Promise<void> | undefined

  constructor(options: EvictionQueueOptions) {
    this.#options = options
  }

  /** Bytes on disk that are queued for deletion. */
  get bytes(): number {
    return this.#bytes
  }

  get segments(): Segment[] {
    return [...this.#drops, ...this.#postponed].map(({ claimed: { segment } }) => segment)
  }

  /** Queues a segment. @returns as `resume` */
  add(claimed: ClaimedSegment, reason: Drop['reason'], why: string): Promise<void> {
    claimed.isDropped = true
    this.#drops.push({ claimed, reason, why, failures: 0 })
    this.#bytes += claimed.bytes
    return this.resume()
  }

  /** Retries segments that could not be read. */
  retry(): void {
    this.#drops.push(...this.#postponed.splice(0))
    void this.resume()
  }

  /** Continues. @returns a promise that resolves when all are deleted or none can be read for now. Never rejects */
  resume(): Promise<void> {
    if (this.#drops.length > 0) this.#running ??= this.#run()
    return this.#running ?? Promise.resolve()
  }

  /** Empties the queue. Its segments stay on disk for the next process that claims them. */
  clear(): void {
    this.#drops = []
    this.#counts = []
    this.#postponed.length = 0
    this.#bytes = 0
  }

  async #run(): Promise<void> {
    for (;;) {
      const at = this.#counts.length
      const drop = at === MAX_COUNTED ? undefined : this.#drops[at]
      if (drop === undefined) {
        if (this.#deleteCounted()) continue
        break
      }
      try {
        const entries = await this.#count(drop)
        // Cleared meanwhile.
        if (this.#drops[at] === drop) this.#counts.push(entries)
      } catch (error) {
        this.#options.onError(error)
        if (isResourceExhausted(error)) {
          this.#deleteCounted()
          break
        }
        if (this.#drops[at] === drop) this.#failed(drop, error)
      }
    }
    this.#running = undefined
  }

  /** Moves the segment out of the way of the others. */
  #failed(drop: Drop, error: unknown): void {
    drop.failures += 1
    // Deleted all the same; its number of entries is unknown.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || drop.failures === MAX_FAILURES)
      return void this.#counts.push(0)
    this.#drops.splice(this.#counts.length, 1)
    this.#postponed.push(drop)
  }

  async #count({
    claimed: {
      segment: { path },
      nextOffset,
    },
  }: Drop): Promise<number> {
    const settlements = readAcknowledgements(toAcknowledgementLogPath(path))
    const reader = new SegmentReader(path, nextOffset)
    try {
      let entries = 0
      for (let read = await reader.next(); read !== undefined; read = await reader.next()) {
        const positions = PositionSet.from(
          read.runs.flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at)),
        )
        entries += positions.difference(settlements.get(read.batchId)?.settled ?? PositionSet.empty()).size
      }
      return entries
    } finally {
      await reader.close()
    }
  }

  /** Deletes the counted segments and reports them together. @returns whether there were any */
  #deleteCounted(): boolean {
    const entries = new Map<string, { readonly reason: Drop['reason']; readonly detail: string; entries: number }>()
    for (const count of this.#counts.splice(0)) {
      const {
        claimed: { segment, bytes },
        reason,
        why,
      } = this.#drops.shift() as Drop
      this.#bytes -= bytes
      segment.drop()
      const detail = `${why}, left by an earlier process: ${segment.path}`
      const sum = entries.get(reason) ?? { reason, detail, entries: 0 }
      sum.entries += count
      entries.set(reason, sum)
    }
    for (const { reason, detail, entries: sum } of entries.values()) {
      this.#options.onRecovered(sum)
      this.#options.onDropped(sum, reason, detail)
    }
    return entries.size > 0
  }
}
