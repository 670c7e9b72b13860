/** Drops claimed segments that exceed the size or age limit: counts the entries of each, then deletes its file. */
import { journalOf } from './format.js'
import { readJournal } from './journal.js'
import { Positions } from './positions.js'
import { SegmentReader } from './reader.js'
import type { ClaimedSegment } from './claimed-segment.js'
import type { Segment } from './segment.js'
import { isOutOfFiles } from './survey.js'

interface Drop {
  readonly claimed: ClaimedSegment
  readonly reason: 'spool' | 'age'
  readonly why: string
  failures: number
}

export interface DropQueueOptions {
  /** Called with the number of entries counted in a segment. */
  readonly onRecovered: (entries: number) => void
  readonly onDropped: (entries: number, reason: Drop['reason'], detail: string) => void
  readonly onError: (error: unknown) => void
}

/** Failed scans after which a segment is deleted uncounted. Otherwise a bad block would hold its room forever. */
const MAX_FAILURES = 3

export class DropQueue {
  readonly #options: DropQueueOptions
  #drops: Drop[] = []
  readonly #postponed: Drop[] = []
  #bytes = 0
  #running: Promise<void> | undefined

  constructor(options: DropQueueOptions) {
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
    this.#postponed.length = 0
    this.#bytes = 0
  }

  async #run(): Promise<void> {
    for (let drop = this.#drops[0]; drop !== undefined; drop = this.#drops[0]) {
      try {
        await this.#count(drop)
      } catch (error) {
        this.#options.onError(error)
        if (isOutOfFiles(error)) break
        if (this.#drops[0] === drop) this.#failed(drop, error)
      }
    }
    this.#running = undefined
  }

  /** Moves the segment out of the way of the others. */
  #failed(drop: Drop, error: unknown): void {
    drop.failures += 1
    // Deleted all the same; its number of entries is unknown.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || drop.failures === MAX_FAILURES) return this.#drop(drop, 0)
    this.#drops.shift()
    this.#postponed.push(drop)
  }

  async #count(drop: Drop): Promise<void> {
    const { segment: { path }, nextOffset } = drop.claimed
    const settlements = readJournal(journalOf(path))
    const reader = new SegmentReader(path, nextOffset)
    try {
      let entries = 0
      for (let read = await reader.next(); read !== undefined; read = await reader.next()) {
        const positions = Positions.of(read.pieces.flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at)))
        entries += positions.minus(settlements.get(read.batchId)?.settled ?? Positions.none()).size
      }
      this.#drop(drop, entries)
    } finally {
      await reader.close()
    }
  }

  #drop(drop: Drop, entries: number): void {
    if (this.#drops[0] !== drop) return
    this.#drops.shift()
    const { claimed: { segment, bytes }, reason, why } = drop
    this.#bytes -= bytes
    segment.drop()
    this.#options.onRecovered(entries)
    this.#options.onDropped(entries, reason, `${why}, left by an earlier process: ${segment.path}`)
  }
}
