/**
 * Replaces the spool for entries that are read from a file, since the file is their copy on disk. Reports the acknowledged position to each
 * file.
 */
import type { Batch, BatchAcknowledgement, DeadLetter } from '../../batch/batch.js'
import { createSubBatchId } from '../../batch/sub-batch.js'
import type { RereadableSource } from '../../spool/entry-log.js'
import type { Counts, Position } from './checkpoint.js'

/** A file, or stdin. */
export interface TextSource {
  /** UUID, the namespace of its batch ids. */
  readonly namespace: string
  /** Time for lines without a time, in milliseconds since the epoch. */
  recordTimeMs(): number
  /** @param position up to which everything is acknowledged; undefined if it has not changed. Never throws */
  acknowledge(counts: Counts, position: Position | undefined): void
}

interface TrackedBatch {
  readonly source: TextSource
  readonly batchId: string
  readonly count: number
  readonly bytes: number
  pending: number
  rejected: number
  filtered: number
  /** Whether its bad entries are being searched, which needs other batches to be sent. */
  isIsolated: boolean
  /** End of the text that the batch completes; undefined if the batch was cut within a piece of text. */
  position: Position | undefined
}

/** Approximate number of unacknowledged bytes at which reading pauses. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024
/** Batches that may be sent while an earlier one is isolated. After a kill they are sent again, under the same ids. */
const MAX_BATCHES_AHEAD = 64

export class FilePositionLog implements RereadableSource {
  readonly #maxBatches: number
  readonly #writeDeadLetters: (letters: readonly DeadLetter[]) => void
  #source: TextSource | undefined
  /** Start of the open batch's text. */
  #start = 0
  /** End of the text that was passed to the pipeline. */
  #end = 0
  /** Batches that were cut since `#start`. */
  #cuts = 0
  #sealedEntries = 0
  #filtered = 0
  readonly #batches: TrackedBatch[] = []
  #bytes = 0
  #notify: () => void = () => {}

  /**
   * @param maxBatches limit, counted from the first unacknowledged batch: up to this number may be sent again after a crash
   * @param writeDeadLetters throws the system's errors
   */
  constructor(maxBatches: number, writeDeadLetters: (letters: readonly DeadLetter[]) => void) {
    this.#maxBatches = maxBatches
    this.#writeDeadLetters = writeDeadLetters
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0
  }

  /** Whether another batch may be read. */
  get hasRoom(): boolean {
    if (this.#bytes >= MAX_PENDING_BYTES) return false
    if (this.#batches[0]?.isIsolated !== true) return this.#batches.length < this.#maxBatches
    const inFlight = this.#batches.filter(({ pending, isIsolated }) => pending > 0 && !isIsolated)
    return inFlight.length < this.#maxBatches && this.#batches.length < MAX_BATCHES_AHEAD
  }

  /** Whether a batch was cut within the latest piece of text, because it had enough bytes. */
  get isCut(): boolean {
    return this.#cuts > 0
  }

  /** Resolves after the next acknowledgement or `wake`, when the next request was started. One caller at a time. */
  untilChange(): Promise<void> {
    return new Promise((resolve) => (this.#notify = () => setImmediate(resolve)))
  }

  wake(): void {
    this.#notify()
  }

  /** Entries of the open batch. @param entries number of entries that the pipeline has created so far */
  countOpen(entries: number): number {
    return entries - this.#sealedEntries
  }

  /** The following text is from this source. */
  beginSource(source: TextSource, offset: number): void {
    this.#source = source
    this.#start = this.#end = offset
    this.#cuts = 0
  }

  /** The pipeline receives text that ends at `end`. */
  beginPiece(end: number): void {
    this.#end = end
  }

  /** The pipeline has read all text up to `position`, and no batch is open. @param filtered number of filtered records so far */
  endPiece(position: Position, filtered: number): void {
    const counts = { accepted: 0, rejected: 0, filtered: filtered - this.#filtered }
    this.#filtered = filtered
    this.#start = position.offset
    this.#cuts = 0
    const last = this.#batches.at(-1)
    if (last === undefined || last.source !== this.#source) return this.#source?.acknowledge(counts, position)
    last.position = position
    last.filtered += counts.filtered
  }

  recordTimeMs(): number {
    return this.#source?.recordTimeMs() ?? Date.now()
  }

  /** Derived from the position in the file, so a batch that is sent again after a crash has the same id. */
  newBatchId(): string {
    return createSubBatchId(this.#source?.namespace ?? '', [this.#start, this.#end, this.#cuts])
  }

  append(): void {
    // Nothing to write: the entries are in the file.
  }

  flush(): boolean {
    return true
  }

  /** @returns undefined if the batch needs another id, because its text does not end where it was expected to */
  seal(batch: Batch): Batch | undefined {
    const { batchId, count, body } = batch
    if (this.#source === undefined || batchId !== this.newBatchId()) return undefined
    const bytes = body.length
    const tracked = {
      source: this.#source,
      batchId,
      count,
      bytes,
      pending: count,
      rejected: 0,
      filtered: 0,
      isIsolated: false,
      position: undefined,
    }
    this.#batches.push(tracked)
    this.#bytes += bytes
    this.#cuts += 1
    this.#sealedEntries += count
    return { ...batch, acknowledgement: this.#createAcknowledgement(tracked, count) }
  }

  writeDeadLetters(letters: readonly DeadLetter[]): void {
    this.#writeDeadLetters(letters)
    const batch = this.#batches.find(({ batchId }) => batchId === letters[0]?.batchId)
    if (batch !== undefined) batch.rejected += letters.length
  }

  #createAcknowledgement(batch: TrackedBatch, count: number): BatchAcknowledgement {
    return {
      isDurable: true,
      createPart: (positions) => {
        batch.isIsolated = true
        return this.#createAcknowledgement(batch, positions.length)
      },
      acknowledge: (positions) => this.#acknowledge(batch, positions?.length ?? count),
    }
  }

  #acknowledge(batch: TrackedBatch, entries: number): void {
    batch.pending -= entries
    while (this.#batches[0]?.pending === 0) {
      const { source, count, rejected, filtered, position, bytes } = this.#batches.shift() as TrackedBatch
      this.#bytes -= bytes
      source.acknowledge({ accepted: count - rejected, rejected, filtered }, position)
    }
    this.#notify()
  }
}
