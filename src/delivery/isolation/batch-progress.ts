/** A batch on its way through the quarantine, its pieces, and what has become of its entries. */
import { createBatchBody, parseBatchEntries, createSubBatchId, createSubBatch } from '../../batch/sub-batch.js'
import type { IngestResultError } from '../../protocol/ingest-result.js'
import { shortenToFit } from '../../record/shorten-entry.js'
import type { Batch, DeadLetter, Delivered, Outcome, Refused } from '../../batch/sender.js'

/** Entries of a parcel that are sent together. */
export interface SubBatch {
  readonly batch: Batch
  /** Positions in the parcel. */
  readonly positions: readonly number[]
  /** Set where its entry was shortened: the bytes that it was to have. */
  readonly maxBytes?: number
}

/** Below that the required fields alone may not fit. */
const LEAST_ENTRY_BYTES = 1024
/** Prime: single entries are probed all over the batch. */
const PROBE_STRIDE = 61

export class BatchProgress {
  readonly #batch: Batch
  readonly #setAside: (letters: readonly DeadLetter[]) => void
  readonly #settled = new Set<number>()
  readonly #rejected: IngestResultError[] = []
  #accepted = 0
  #isUnreadable = false
  #entries: readonly string[] | undefined
  #givenUp: string | undefined

  constructor(batch: Batch, setAside: (letters: readonly DeadLetter[]) => void) {
    this.#batch = batch
    this.#setAside = setAside
  }

  get whole(): SubBatch {
    return { batch: this.#batch, positions: range(0, this.#batch.count) }
  }

  /** What has become of it, once all is settled or it was given up. */
  get outcome(): Outcome {
    const accepted = this.#accepted
    const rejected = this.#rejected
    if (this.#givenUp !== undefined) return { kind: 'given-up', reason: this.#givenUp, accepted, rejected }
    return { kind: 'delivered', accepted, rejected, ...(this.#isUnreadable && { unreadable: true as const }) }
  }

  abandon(reason: string): void {
    this.#givenUp = reason
  }

  /** What of the piece is not settled; the piece itself where nothing is. */
  remaining(piece: SubBatch): SubBatch | undefined {
    const open = piece.positions.flatMap((at, index) => (this.#settled.has(at) ? [] : [index]))
    return open.length === 0 ? undefined : this.#part(piece, open)
  }

  /** The first half, or the second, as a batch of its own that is to be sent. */
  half(piece: SubBatch, which: 0 | 1): SubBatch {
    const { count } = piece.batch
    const middle = Math.ceil(count / 2)
    return this.#part(piece, range(which * middle, which === 0 ? middle : count))
  }

  /** The whole and a single entry by turns, each time another. */
  probe(piece: SubBatch, turn: number): SubBatch {
    return turn % 2 === 0 ? piece : this.#part(piece, [((turn >> 1) * PROBE_STRIDE) % piece.batch.count])
  }

  /** The piece of one entry, with half of its bytes; undefined where that would be too few. */
  shortened({ batch, positions: at, maxBytes }: SubBatch): SubBatch | undefined {
    const whole = this.#entryAt(at[0] as number)
    const bytes = maxBytes ?? Buffer.byteLength(whole)
    if (bytes <= LEAST_ENTRY_BYTES) return undefined
    const target = Math.max(Math.floor(bytes / 2), LEAST_ENTRY_BYTES)
    const json = shortenToFit(whole, target)
    // Other bytes are another batch.
    const batchId = createSubBatchId(batch.batchId, [0])
    const origin = batch.origin ?? { batchId: batch.batchId, positions: [0] }
    return {
      batch: { ...batch, batchId, origin, body: createBatchBody(batchId, [json]) },
      positions: at,
      maxBytes: target,
    }
  }

  /** All of the piece is settled: taken, but for what the reply names or counts. */
  recordDelivered(piece: SubBatch, outcome: Delivered): void {
    const { batch, positions: at } = piece
    if (outcome.unreadable) this.#isUnreadable = true
    const named = this.#letters(piece, outcome.rejected, outcome.status ?? 200)
    this.#accepted += outcome.accepted
    // Refused by number: they are counted, and nobody knows which.
    const unnamed = at.filter((position) => !named.has(position)).slice(0, batch.count - outcome.accepted - named.size)
    this.#rejected.push(
      ...unnamed.map((index) => ({ index, code: '', field: '', message: 'the service did not say which, nor why' })),
    )
    for (const position of at) this.#settled.add(position)
    batch.acknowledgement?.acknowledge()
  }

  /**
   * These were refused, and go to the dead letters.
   * @param errors with positions in the piece
   * @returns how many they are
   */
  recordRejected(piece: SubBatch, errors: readonly IngestResultError[], status: number): number {
    const named = this.#letters(piece, errors, status)
    const { batch, positions: at } = piece
    for (const position of named) this.#settled.add(position)
    if (named.size === batch.count) batch.acknowledgement?.acknowledge()
    else if (named.size > 0)
      batch.acknowledgement?.acknowledge(at.flatMap((position, index) => (named.has(position) ? [index] : [])))
    return named.size
  }

  /** The piece of one entry was refused without a name: it alone can be meant. */
  recordRejectedAlone(piece: SubBatch, { status, reason }: Refused): void {
    this.recordRejected(piece, [{ index: 0, code: '', field: '', message: reason }], status)
  }

  /** Written before anything is settled: an entry may lie twice, never nowhere. @returns positions in the parcel */
  #letters(piece: SubBatch, errors: readonly IngestResultError[], status: number): Set<number> {
    const named = new Set<number>()
    const told: IngestResultError[] = []
    const letters: DeadLetter[] = []
    for (const error of errors) {
      const position = piece.positions[error.index]
      // An entry may have several faults; the first is told.
      if (position === undefined || named.has(position) || this.#settled.has(position)) continue
      named.add(position)
      told.push({ ...error, index: position })
      const { origin, batchId } = this.#batch
      const { code, field, message } = error
      const place =
        origin === undefined
          ? { batchId, index: position }
          : { batchId: origin.batchId, index: origin.positions[position] as number }
      letters.push({ ...place, status, code, field, reason: message, entry: this.#entryAt(position) })
    }
    if (letters.length > 0) this.#setAside(letters)
    this.#rejected.push(...told)
    return named
  }

  #part(piece: SubBatch, positions: readonly number[]): SubBatch {
    if (positions.length === piece.batch.count) return piece
    const entries = piece.positions.map((at) => this.#entryAt(at))
    return {
      batch: createSubBatch(piece.batch, positions, entries),
      positions: positions.map((index) => piece.positions[index] as number),
    }
  }

  /** Read from the body only where something is refused. */
  #entryAt(position: number): string {
    this.#entries ??= parseBatchEntries(this.#batch.body)
    return this.#entries[position] ?? ''
  }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}
