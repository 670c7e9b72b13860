/**
 * Stands in for the spool where entries come from a file: the file is their copy on disk. Tells each file up to where it is
 * acknowledged.
 */
import type { Batch, BatchAcknowledgement, DeadLetter } from '../../batch/sender.js'
import { createSubBatchId } from '../../batch/sub-batch.js'
import type { RereadableSource } from '../../spool/entry-log.js'
import type { Counts, Position } from './checkpoint.js'

/** A file, or stdin. */
export interface TextSource {
  /** UUID, the namespace of its batch ids. */
  readonly namespace: string
  /** Time of lines that have none; milliseconds since the epoch. */
  recordTimeMs(): number
  /** @param position up to which everything is acknowledged; undefined if that has not changed. Never throws */
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
  /** Whether its bad entries are searched, for which other batches must be sent. */
  isIsolated: boolean
  /** End of the text that it completes; undefined if it was cut within a piece of text. */
  position: Position | undefined
}

/** Bytes of the batches that are not acknowledged, about, at which reading pauses. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024
/** Batches that may be sent while an earlier one is isolated. A kill then sends them again, under the same ids. */
const MAX_BATCHES_AHEAD = 64

export class FilePositionLog implements RereadableSource {
  readonly #maxBatches: number
  readonly #writeDeadLetters: (letters: readonly DeadLetter[]) => void
  #source: TextSource | undefined
  /** The text of the open batch begins there. */
  #start = 0
  /** The text that the pipeline has ends there. */
  #end = 0
  /** Batches that were cut since `#start`. */
  #cuts = 0
  #sealedEntries = 0
  #filtered = 0
  readonly #batches: TrackedBatch[] = []
  #bytes = 0
  #notify: () => void = () => {}

  /**
   * @param maxBatches from the first that is not acknowledged on: after a crash so many may be sent again
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

  /** Whether a batch was cut in the middle of the text that the pipeline got last, since it has enough bytes. */
  get isCut(): boolean {
    return this.#cuts > 0
  }

  /** Resolves after the next acknowledgement, or `wake`, when the next request is on its way. One caller at a time. */
  untilChange(): Promise<void> {
    return new Promise((resolve) => (this.#notify = () => setImmediate(resolve)))
  }

  wake(): void {
    this.#notify()
  }

  /** Entries of the open batch. @param entries that the pipeline has made so far */
  countOpen(entries: number): number {
    return entries - this.#sealedEntries
  }

  /** The text that follows is of this source. */
  beginSource(source: TextSource, offset: number): void {
    this.#source = source
    this.#start = this.#end = offset
    this.#cuts = 0
  }

  /** The pipeline gets text that ends there. */
  beginPiece(end: number): void {
    this.#end = end
  }

  /** The pipeline has read everything up to there, and no batch is open. @param filtered records that it has left out so far */
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

  /** Follows from the place in the file: a batch that is sent again after a crash has the same id. */
  newBatchId(): string {
    return createSubBatchId(this.#source?.namespace ?? '', [this.#start, this.#end, this.#cuts])
  }

  append(): void {
    // The file has the entries.
  }

  flush(): boolean {
    return true
  }

  /** @returns undefined if the batch needs another id, since its text ends elsewhere than was known when it was begun */
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
