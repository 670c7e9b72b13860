/** Drops claimed segments that exceed the size or age limit: counts the entries of each, then deletes its files. */
import type { ClaimedSegment } from '../instance/claimed-segment.js'
import { isResourceExhausted } from '../format-version.js'
import type { Segment } from '../segment/segment.js'
import { readUnsettledBatches } from '../segment/unsettled-batch.js'

const DELETION_REASONS = ['spool', 'age'] as const
type DeletionReason = (typeof DELETION_REASONS)[number]

interface Deletion {
  readonly claimed: ClaimedSegment
  readonly reason: DeletionReason
  readonly detail: string
  /** Number of unsettled entries, once counted. */
  entries?: number
  failures: number
  /** The segment could not be read; it is retried at the next scan. */
  isPostponed: boolean
}

export interface DeletionQueueOptions {
  /** Called with the number of entries counted in segments. */
  readonly onRecovered: (entries: number) => void
  readonly onDropped: (entries: number, reason: DeletionReason, detail: string) => void
  readonly onError: (error: unknown) => void
}

/**
 * Failed scans after which a segment is deleted uncounted. Otherwise a segment with a bad block would occupy space
 * forever.
 */
const MAX_FAILURES = 3
/** Maximum number of segments deleted and reported together, since a log call waits for the deletion. */
const MAX_COUNTED = 8

export class DeletionQueue {
  readonly #options: DeletionQueueOptions
  #queue: Deletion[] = []
  #running: Promise<void> | undefined

  constructor(options: DeletionQueueOptions) {
    this.#options = options
  }

  /** Bytes on disk that are queued for deletion. */
  get bytes(): number {
    return this.#queue.reduce((sum, { claimed }) => sum + claimed.bytes, 0)
  }

  get segments(): Segment[] {
    return this.#queue.map(({ claimed: { segment } }) => segment)
  }

  /** @returns a promise that resolves when all segments are deleted or none can be read at present. Never rejects */
  add(claimed: ClaimedSegment, reason: DeletionReason, limit: string): Promise<void> {
    claimed.isDropped = true
    const detail = `${limit}, left by an earlier process: ${claimed.segment.path}`
    this.#queue.push({ claimed, reason, detail, failures: 0, isPostponed: false })
    return this.#resume()
  }

  retry(): void {
    for (const deletion of this.#queue) deletion.isPostponed = false
    void this.#resume()
  }

  /** Empties the queue. Its segments stay on disk for the next process that claims them. */
  clear(): void {
    this.#queue = []
  }

  #resume(): Promise<void> {
    if (this.#next !== undefined) this.#running ??= this.#run()
    return this.#running ?? Promise.resolve()
  }

  get #next(): Deletion | undefined {
    return this.#queue.find(({ entries, isPostponed }) => entries === undefined && !isPostponed)
  }

  async #run(): Promise<void> {
    let counted = 0
    for (let next = this.#next; next !== undefined; next = this.#next) {
      try {
        next.entries = await countEntries(next.claimed)
      } catch (error) {
        this.#options.onError(error)
        if (isResourceExhausted(error)) break
        next.failures += 1
        if ((error as NodeJS.ErrnoException).code === 'ENOENT' || next.failures === MAX_FAILURES) next.entries = 0
        else next.isPostponed = true
      }
      counted += 1
      if (counted % MAX_COUNTED === 0) this.#deleteCounted()
    }
    this.#deleteCounted()
    this.#running = undefined
  }

  #deleteCounted(): void {
    const counted = this.#queue.filter(({ entries }) => entries !== undefined)
    this.#queue = this.#queue.filter(({ entries }) => entries === undefined)
    for (const { claimed } of counted) claimed.segment.drop()
    for (const reason of DELETION_REASONS) {
      const deletions = counted.filter((deletion) => deletion.reason === reason)
      const [first] = deletions
      if (first === undefined) continue
      const entries = deletions.reduce((sum, deletion) => sum + (deletion.entries ?? 0), 0)
      this.#options.onRecovered(entries)
      this.#options.onDropped(entries, reason, first.detail)
    }
  }
}

async function countEntries({ segment: { path }, nextOffset }: ClaimedSegment): Promise<number> {
  let entries = 0
  await readUnsettledBatches(path, ({ unsettled }) => void (entries += unsettled.size), nextOffset)
  return entries
}
