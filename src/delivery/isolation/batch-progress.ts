/** The entries of a batch that is being isolated: sub-batches to send, and the outcome of each entry. */
import type { Batch, DeadLetter } from '../../batch/batch.js'
import type { Delivered, Outcome, Refused } from '../../batch/outcome.js'
import { createBatchBody, createSubBatch, createSubBatchId, parseBatchEntries } from '../../batch/sub-batch.js'
import type { IngestResultError } from '../../protocol/ingest-result.js'
import { shortenToFit } from '../../record/shorten-entry.js'

/** Entries of the batch that are sent together. */
export interface SubBatch {
  readonly batch: Batch
  /** Positions in the whole batch. */
  readonly positions: readonly number[]
  /** The size to which its only entry was shortened. */
  readonly maxBytes?: number
}

export interface DeadLetterOptions {
  /**
   * Stores rejected entries of batches whose acknowledgement does not. If it throws, the batch is abandoned. Default:
   * not stored.
   */
  readonly deadLetter?: ((letters: readonly DeadLetter[]) => void) | undefined
  /** Removes secrets from the text of a reply. Default: unchanged. */
  readonly mask?: ((text: string) => string) | undefined
}

/** Fewer bytes may not be enough for the required fields. */
const MIN_ENTRY_BYTES = 1024
/** A prime above the size of a batch, so the probes of single entries cover all of it. */
const PROBE_STRIDE = 137

export class BatchProgress {
  readonly #batch: Batch
  readonly #deadLetter: (letters: readonly DeadLetter[]) => void
  readonly #mask: (text: string) => string
  readonly #settled = new Set<number>()
  readonly #reserved = new Set<number>()
  readonly #rejectedAlone = new Set<number>()
  readonly #rejected: IngestResultError[] = []
  #accepted = 0
  #isUnreadable = false
  #entries: readonly string[] | undefined
  #abandonedFor: string | undefined

  constructor(batch: Batch, { deadLetter = () => {}, mask = (text) => text }: DeadLetterOptions) {
    this.#batch = batch
    this.#deadLetter = deadLetter
    this.#mask = mask
  }

  get whole(): SubBatch {
    return { batch: this.#batch, positions: range(0, this.#batch.count) }
  }

  /** Number of entries that are neither settled nor reserved. */
  get openEntries(): number {
    return this.#batch.count - this.#settled.size - this.#reserved.size
  }

  /** Whether every entry is settled, or the batch was abandoned. */
  get isFinished(): boolean {
    return this.#abandonedFor !== undefined || this.#settled.size === this.#batch.count
  }

  /** The final outcome; valid if `isFinished`. */
  get outcome(): Outcome {
    const accepted = this.#accepted
    const rejected = this.#rejected
    if (this.#abandonedFor !== undefined) return { kind: 'abandoned', reason: this.#abandonedFor, accepted, rejected }
    return { kind: 'delivered', accepted, rejected, ...(this.#isUnreadable && { unreadable: true as const }) }
  }

  abandon(reason: string): void {
    this.#abandonedFor = reason
  }

  /** Excludes entries from `remaining` while they are sent separately. @returns a function that ends this */
  reserve({ positions }: SubBatch): () => void {
    for (const position of positions) this.#reserved.add(position)
    return () => positions.forEach((position) => this.#reserved.delete(position))
  }

  /** The unsettled entries of the sub-batch; undefined if there are none. */
  unsettled(subBatch: SubBatch): SubBatch | undefined {
    const open = subBatch.positions.flatMap((position, index) => (this.#settled.has(position) ? [] : [index]))
    return open.length === 0 ? undefined : this.#part(subBatch, open)
  }

  /** The entries that are neither settled nor reserved. */
  get remaining(): SubBatch {
    const open = this.whole.positions.filter((at) => !this.#settled.has(at) && !this.#reserved.has(at))
    return this.#part(this.whole, open)
  }

  /** Some of the entries as a batch. The caller must send it, because the cut is recorded. */
  slice(subBatch: SubBatch, from: number, to = subBatch.batch.count): SubBatch {
    return this.#part(subBatch, range(from, to))
  }

  /**
   * A single one of the remaining entries, if possible one that was not rejected alone.
   * @param number selects it; consecutive numbers cover all of them
   */
  probe(number: number): SubBatch {
    const rest = this.remaining
    const unknown = rest.positions.flatMap((position, index) => (this.#rejectedAlone.has(position) ? [] : [index]))
    const indexes = unknown.length > 0 ? unknown : range(0, rest.batch.count)
    return this.#part(rest, [indexes[(number * PROBE_STRIDE) % indexes.length] as number])
  }

  /** Call if the only entry of a sub-batch was rejected. */
  recordRejectedAlone({ positions }: SubBatch): void {
    this.#rejectedAlone.add(positions[0] as number)
  }

  /** Whether each entry was rejected alone before, so another rejection says nothing about the endpoint. */
  wereRejectedAlone({ positions }: SubBatch): boolean {
    return positions.every((position) => this.#rejectedAlone.has(position))
  }

  /** The single entry, shortened to half of its bytes, but not below `MIN_ENTRY_BYTES`; undefined if it has that size already. */
  shortened({ batch, positions, maxBytes }: SubBatch): SubBatch | undefined {
    const whole = this.#entryAt(positions[0] as number)
    const bytes = maxBytes ?? Buffer.byteLength(whole)
    if (bytes <= MIN_ENTRY_BYTES) return undefined
    const target = Math.max(Math.floor(bytes / 2), MIN_ENTRY_BYTES)
    const json = shortenToFit(whole, target)
    // Different content needs a different batch id.
    const batchId = createSubBatchId(batch.batchId, [0])
    const origin = batch.origin ?? { batchId: batch.batchId, positions: [0] }
    return { batch: { ...batch, batchId, origin, body: createBatchBody(batchId, [json]) }, positions, maxBytes: target }
  }

  /** Settles the sub-batch: all entries are accepted except those that the reply names or counts as rejected. */
  recordDelivered({ batch, positions }: SubBatch, outcome: Delivered): void {
    if (outcome.unreadable) this.#isUnreadable = true
    const { accepted, rejected, status = 200 } = outcome
    const errors = [...rejected]
    // If none was accepted, all were rejected, also those that the reply does not name.
    if (accepted === 0)
      errors.push(...range(0, batch.count).map((index) => nameless(index, 'the service did not say why')))
    const named = this.#writeLetters(positions, errors, status)
    this.#accepted += accepted
    // Rejected entries that the reply counts but does not name. Any of them may be accepted, so none is a dead letter.
    const unnamed = positions
      .filter((position) => !named.has(position))
      .slice(0, batch.count - accepted - named.size)
      .map((index) => nameless(index, 'the service did not say which, so they are not stored as dead letters'))
    this.#rejected.push(...unnamed)
    for (const position of positions) this.#settled.add(position)
    batch.acknowledgement?.acknowledge()
  }

  /**
   * Moves the named entries to the dead letters.
   * @param errors with positions in the sub-batch
   * @returns their number
   */
  recordRejected({ batch, positions }: SubBatch, errors: readonly IngestResultError[], status: number): number {
    const named = this.#writeLetters(positions, errors, status)
    for (const position of named) this.#settled.add(position)
    if (named.size === batch.count) batch.acknowledgement?.acknowledge()
    else if (named.size > 0) {
      batch.acknowledgement?.acknowledge(positions.flatMap((position, index) => (named.has(position) ? [index] : [])))
    }
    return named.size
  }

  /** Moves the only entry to the dead letters. */
  moveToDeadLetters(subBatch: SubBatch, { status, reason }: Refused): void {
    this.recordRejected(subBatch, [nameless(0, reason)], status)
  }

  /** Written before anything is acknowledged, so after a crash an entry may be stored twice but is not lost. */
  #writeLetters(positions: readonly number[], errors: readonly IngestResultError[], status: number): Set<number> {
    const named = new Set<number>()
    const reported: IngestResultError[] = []
    const letters: DeadLetter[] = []
    for (const error of errors) {
      const position = positions[error.index]
      // An entry may have several errors; the first one is reported.
      if (position === undefined || named.has(position) || this.#settled.has(position)) continue
      named.add(position)
      reported.push({ ...error, index: position })
      const { origin, batchId } = this.#batch
      const { code, field, message } = error
      const source =
        origin === undefined
          ? { batchId, index: position }
          : { batchId: origin.batchId, index: origin.positions[position] as number }
      // A reply may repeat the key. The entry itself is not masked.
      const [masked, place, reason] = [code, field, message].map(this.#mask) as [string, string, string]
      letters.push({ ...source, status, code: masked, field: place, reason, entry: this.#entryAt(position) })
    }
    const { acknowledgement } = this.#batch
    if (letters.length > 0 && acknowledgement?.storeDeadLetters !== undefined) acknowledgement.storeDeadLetters(letters)
    else if (letters.length > 0) this.#deadLetter(letters)
    this.#rejected.push(...reported)
    return named
  }

  #part(subBatch: SubBatch, indexes: readonly number[]): SubBatch {
    if (indexes.length === subBatch.batch.count) return subBatch
    const entries = subBatch.positions.map((position) => this.#entryAt(position))
    const positions = indexes.map((index) => subBatch.positions[index] as number)
    return { batch: createSubBatch(subBatch.batch, indexes, entries), positions }
  }

  /** Parses the body on demand, only if an entry is rejected. */
  #entryAt(position: number): string {
    this.#entries ??= parseBatchEntries(this.#batch.body)
    return this.#entries[position] ?? ''
  }
}

function nameless(index: number, message: string): IngestResultError {
  return { index, code: '', field: '', message }
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}
