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
}

export interface DropQueueOptions {
  /** Called with the number of entries counted in a segment. */
  readonly onRecovered: (entries: number) => void
  readonly onDropped: (entries: number, reason: Drop['reason'], detail: string) => void
  readonly onError: (error: unknown) => void
}

export class DropQueue {
  readonly #options: DropQueueOptions
  #drops: Drop[] = []
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
    return this.#drops.map(({ claimed: { segment } }) => segment)
  }

  /** Queues a segment. @returns as `resume` */
  add(claimed: ClaimedSegment, reason: Drop['reason'], why: string): Promise<void> {
    claimed.isDropped = true
    this.#drops.push({ claimed, reason, why })
    this.#bytes += claimed.bytes
    return this.resume()
  }

  /** Continues, and retries segments that could not be opened. @returns a promise that resolves when all are deleted or none can be opened. Never rejects */
  resume(): Promise<void> {
    if (this.#drops.length > 0) this.#running ??= this.#run()
    return this.#running ?? Promise.resolve()
  }

  /** Empties the queue. Its segments stay on disk for the next process that claims them. */
  clear(): void {
    this.#drops = []
    this.#bytes = 0
  }

  async #run(): Promise<void> {
    let isWaiting = false
    for (let drop = this.#drops[0]; drop !== undefined && !isWaiting; drop = this.#drops[0]) {
      try {
        await this.#count(drop)
      } catch (error) {
        this.#options.onError(error)
        isWaiting = isOutOfFiles(error)
        // Deleted all the same; its number of entries is unknown.
        if (!isWaiting) this.#drop(drop, 0)
      }
    }
    this.#running = undefined
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
