/** Segments that are too many or too old: the entries of one after the other are counted, in turns, and its file is deleted then. */
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
  /** Entries that were found when they were counted. */
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

  /** Still on the disk. */
  get bytes(): number {
    return this.#bytes
  }

  get segments(): Segment[] {
    return this.#drops.map(({ claimed: { segment } }) => segment)
  }

  /** @returns as `resume` */
  add(claimed: ClaimedSegment, reason: Drop['reason'], why: string): Promise<void> {
    claimed.isDropped = true
    this.#drops.push({ claimed, reason, why })
    this.#bytes += claimed.bytes
    return this.resume()
  }

  /** Tries again what could not be opened. @returns when all is deleted, or cannot be opened for now. Never rejects */
  resume(): Promise<void> {
    if (this.#drops.length > 0) this.#running ??= this.#run()
    return this.#running ?? Promise.resolve()
  }

  /** What is not deleted yet stays on disk, for the next who finds it. */
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
        // It was to be deleted: how many entries it has is not known.
        if (!isWaiting) this.#drop(drop, 0)
      }
    }
    this.#running = undefined
  }

  async #count(drop: Drop): Promise<void> {
    const { segment: { path }, restAt } = drop.claimed
    const settlements = readJournal(journalOf(path))
    const reader = new SegmentReader(path, restAt)
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
