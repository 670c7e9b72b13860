/** The test in place of the delivery: batches that wait in memory or on disk, and their outcomes. */
import { parseBatchEntries, createSubBatch } from '../../src/batch/sub-batch.js'
import type { Batch, DeadLetter, SegmentPosition } from '../../src/batch/batch.js'
import type { Ledger } from './model-ledger.js'
import type { ProcessRun } from './process-run.js'

type Stored = Batch & { readonly place: SegmentPosition }

export class DeliveryActions {
  readonly #run: ProcessRun
  readonly #ledger: Ledger
  /** In memory and on disk. */
  #stored: Stored[] = []
  /** Only on disk, in order. */
  #spilled: (Stored & { readonly sequence: number })[] = []
  /** In flight, in any order. */
  #flying: Batch[] = []
  /** Whether the next new batch waits only on disk. Undefined: it does if earlier ones do. */
  #isNextSpilled: boolean | undefined
  #isReading = false
  /** Lost with their segment during a disk read. */
  #lostEntries = 0

  constructor(run: ProcessRun, ledger: Ledger) {
    this.#run = run
    this.#ledger = ledger
  }

  get spilledCount(): number {
    return this.#spilled.length
  }

  get spilledEntries(): number {
    return this.#spilled.reduce((sum, { count }) => sum + count, 0)
  }

  get inMemory(): readonly Batch[] {
    return [...this.#stored, ...this.#flying]
  }

  /** A new batch from the batcher. */
  enqueue(batch: Batch): void {
    const { place } = batch
    if (place === undefined) return this.fly(batch)
    const isBehind = this.#spilled.length > 0 || this.#isReading
    const isSpilled = this.#isNextSpilled ?? isBehind
    this.#isNextSpilled = undefined
    if (isSpilled) return void this.#spilled.push({ ...batch, place, sequence: this.#run.spill(batch) })
    if (isBehind) this.#run.spool.spilled.pass({ place })
    this.#stored.push({ ...batch, place })
    this.#run.held += batch.count
  }

  fly(batch: Batch): void {
    this.#flying.push(batch)
    this.#run.held += batch.count
  }

  /** @param isShort whether the next new batch is not kept in memory; otherwise it is, although earlier ones are not */
  spill(isShort: boolean): void {
    this.#isNextSpilled = isShort
  }

  /** @param meanwhile runs during the disk read */
  async readBack(meanwhile: () => void = () => {}): Promise<void> {
    let taken: (Batch & { readonly sequence: number }) | undefined
    // Nothing is read if nothing waits.
    if (this.#spilled.length === 0) return meanwhile()
    this.#isReading = true
    const reading = this.#run.spool.spilled.next((batch, sequence) => {
      taken = { ...batch, sequence }
      if (batch.place !== undefined) this.#stored.push({ ...batch, place: batch.place })
      this.#run.held += batch.count
    })
    meanwhile()
    const isTaken = await reading
    this.#isReading = false
    this.#lostEntries = this.loseSpilled()
    const wanted = this.#spilled.shift()
    const [read, due] = [taken, wanted].map((batch) => batch && `${batch.batchId}, number ${batch.sequence},`)
    if (isTaken !== (wanted !== undefined) || read !== due) throw new Error(`${read} was read back instead of ${due}`)
    if (taken !== undefined) this.checkBody(taken, taken.batchId, [...this.#ledger.get(taken.batchId).texts.keys()])
  }

  checkBody({ batchId, body, count }: Batch, rootId: string, positions: readonly number[]): void {
    const { texts } = this.#ledger.get(rootId)
    const wanted = `{"batch_id":"${batchId}","logs":[${positions.map((at) => texts[at]).join()}]}`
    if (Buffer.from(body).toString() !== wanted) throw new Error(`${batchId} has other bytes than were written`)
    if (count !== positions.length) throw new Error(`${batchId} has ${positions.length} entries, not ${count}`)
  }

  /** A batch in flight, otherwise a waiting one. */
  pick(choice: number): Batch | undefined {
    if (this.#flying.length === 0) return this.#stored.shift()
    return this.#flying.splice(choice % this.#flying.length, 1)[0]
  }

  settle(batch: Batch | undefined): void {
    if (batch === undefined) return
    this.#note(batch, indices(batch.count))
    batch.acknowledgement?.acknowledge()
    this.#run.held -= batch.count
    this.#run.account.accepted += batch.count
  }

  settleAll(): void {
    for (const batch of [...this.#stored.splice(0), ...this.#flying.splice(0)]) this.settle(batch)
  }

  settleSome(batch: Batch | undefined, seed: number, isRejected: boolean): void {
    if (batch === undefined) return
    const positions = indices(batch.count).filter((at) => ((seed >> (at % 20)) & 1) === 1)
    if (positions.length === batch.count) return this.settle(batch)
    const entries = parseBatchEntries(batch.body)
    if (isRejected && positions.length > 0)
      this.#run.spool.writeDeadLetters(positions.map((index) => letterOf(batch, index, entries[index] as string)))
    this.#note(batch, positions)
    batch.acknowledgement?.acknowledge(positions)
    this.#run.held -= batch.count
    this.#run.account[isRejected ? 'rejected' : 'accepted'] += positions.length
    this.#flyPart(
      batch,
      indices(batch.count).filter((at) => !positions.includes(at)),
      entries,
    )
  }

  part(batch: Batch | undefined, seed: number): void {
    if (batch === undefined) return
    const middle = 1 + (seed % Math.max(batch.count - 1, 1))
    const entries = parseBatchEntries(batch.body)
    this.#run.held -= batch.count
    for (const positions of [indices(middle), indices(batch.count).slice(middle)]) {
      if (positions.length > 0) this.#flyPart(batch, positions, entries)
    }
  }

  /** Batches only on disk whose segment was deleted. @returns their entries */
  loseSpilled(): number {
    const lost = this.#spilled.filter(({ acknowledgement: custody }) => custody?.isDurable === false)
    this.#spilled = this.#spilled.filter((batch) => !lost.includes(batch))
    const before = this.#lostEntries
    this.#lostEntries = 0
    return lost.reduce((sum, { count }) => sum + count, before)
  }

  /** The end of the process: entries that are not on disk are lost. */
  giveUp(): void {
    for (const { acknowledgement: custody, count } of this.inMemory) {
      if (custody?.isDurable === true) continue
      this.#run.held -= count
      this.#run.account.dropped.shutdown += count
    }
  }

  #flyPart(batch: Batch, positions: readonly number[], entries: readonly string[]): void {
    const part = createSubBatch(batch, positions, entries)
    if (part !== batch && batch.acknowledgement?.isDurable === true)
      this.#ledger.get(findRootId(part)).parts.push((part.origin?.positions ?? []).join())
    this.fly(part)
  }

  /** The records that the acknowledgement log must contain, if there is one. */
  #note(batch: Batch, positions: readonly number[]): void {
    if (batch.acknowledgement?.isDurable !== true) return
    const known = this.#ledger.get(findRootId(batch))
    for (const at of positions) known.settled.add(batch.origin?.positions[at] ?? at)
  }
}

export function findRootId({ batchId, origin }: Batch): string {
  return origin?.batchId ?? batchId
}

function indices(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

function letterOf({ batchId }: Batch, index: number, entry: string): DeadLetter {
  return { batchId, index, status: 422, code: 'invalid', field: 'level', reason: 'no such level', entry }
}
