/** Runs a spool on a real file system step by step, and compares it with the expected state. */
import type { Batch } from '../../src/batch/batch.js'
import { FakeClock } from '../fake-clock.js'
import { damage } from './file-damage.js'
import type { Damage } from './file-damage.js'
import { filesBelow, keyOf, segmentsBelow } from './disk-image.js'
import type { ExpectedBatch } from './expected-recovery.js'
import { DeliveryActions, findRootId } from './delivery-actions.js'
import { Input } from './model-input.js'
import { Ledger } from './model-ledger.js'
import { ProcessRun, Processes } from './process-run.js'
import { damageOf } from './model-steps.js'
import type { Sequence, Step } from './model-steps.js'
import { allIsSynced, syncedBytes } from './watch-syncs.js'
import { SPOOL_MESSAGES } from '../../src/diagnostics/messages.js'

/** Length of a lease, plus the time in which its owner may still write, plus the time between two scans. */
const CLAIM_MS = 91_000
const SYNC_MS = 1_000
const MIB = 1024 * 1024
const PAUSES_MS = [1, 6, 200, 1_000, 2_500, 1, 6, 200, 1_000, 2_500, 31_000] as const

export class Model {
  readonly #root: string
  readonly #sequence: Sequence
  readonly #clock = new FakeClock(Date.now())
  readonly #processes = new Processes()
  readonly #ledger = new Ledger()
  readonly #input: Input
  #run: ProcessRun
  #actions: DeliveryActions
  #bornAt = 0
  /** The entries that the recovery must find. */
  #expected: ExpectedBatch[] = []
  #expectedMissing = 0
  /** The batch of the last recovered entries. */
  #recoveredRoot = ''
  #hasDropped = false
  #hasUnknownOwner = false

  constructor(root: string, sequence: Sequence) {
    this.#root = root
    this.#sequence = sequence
    const { profile } = sequence
    this.#input = new Input({
      ledger: this.#ledger,
      clock: this.#clock,
      profile,
      run: () => this.#run,
      isBounded: this.#isBounded,
    })
    this.#run = this.#begin()
    this.#actions = new DeliveryActions(this.#run, this.#ledger)
  }

  get #isBounded(): boolean {
    return this.#sequence.profile.maxBytes < MIB
  }

  async step(step: Step): Promise<void> {
    await this.#do(step)
    this.#checkBound()
    this.#checkAccount()
  }

  async #do(step: Step): Promise<void> {
    const { kind, a, b } = step
    const actions = this.#actions
    switch (kind) {
      case 'nothing':
        return
      case 'append':
        return this.#input.append(1 + (a % 7), b, a % 3 > 0)
      case 'direct':
        return this.#actions.enqueue(this.#input.direct(1 + (a % 6), b))
      case 'seal':
        return this.#run.batcher.seal()
      case 'spill':
        return actions.spill(a % 2 === 1)
      case 'readBack':
        return actions.readBack()
      case 'readBackMeanwhile':
        return actions.readBack(() => this.#input.append(1 + (a % 7), b, true))
      case 'settle':
        return actions.settle(actions.pick(a))
      case 'settleSome':
        return actions.settleSome(actions.pick(a), b, false)
      case 'reject':
        return actions.settleSome(actions.pick(a), b, true)
      case 'part':
        return actions.part(actions.pick(a), b)
      case 'advance':
        return this.#clock.advance(PAUSES_MS[a % PAUSES_MS.length] as number)
      case 'recover':
        return this.#recover(1 + (a % 4))
      case 'recoverMeanwhile': {
        const recovering = this.#recover(1 + (a % 2))
        this.#input.append(1 + (a % 7), b, true)
        return recovering
      }
      case 'crash':
        this.#checkBound()
        return this.#crash(damageOf(step, this.#sequence.durability))
      case 'nestedCrash':
        for (let deaths = 1 + (a % 3); deaths > 0; deaths -= 1) {
          // Dropped entries are counted first: their segment may have been deleted since the last scan.
          this.#checkBound()
          this.#crash({ kind: 'none', pick: [0, 0] })
          await this.#recover(b % 3)
        }
        return
      case 'close':
        return this.#close(step)
    }
  }

  /** Sends everything; then no file must be left. */
  async finish(): Promise<void> {
    this.#run.batcher.seal()
    await this.#recover(Infinity)
    // If the owner file was damaged, only the lease decides.
    if (this.#hasUnknownOwner) await this.#clock.advance(CLAIM_MS)
    await this.#recover(Infinity)
    while (this.#run.spool.recovery.droppingBytes > 0) await new Promise((resolve) => setImmediate(resolve))
    this.#checkBound()
    const [lost] = this.#expected
    if (lost !== undefined)
      throw new Error(`${lost.key}: ${lost.batchId}, a batch of ${lost.positions.length}, was not recovered`)
    const { damaged } = this.#run.account.dropped
    if (this.#hasDropped ? damaged > this.#expectedMissing : damaged !== this.#expectedMissing) {
      throw new Error(`${damaged} entries are counted as damaged, ${this.#expectedMissing} are`)
    }
    while (this.#actions.spilledCount > 0) await this.#actions.readBack()
    this.#actions.settleAll()
    this.#checkAccount()
    this.#ledger.audit(segmentsBelow(this.#root))
    const { pending } = this.#run.account.snapshot()
    if (pending > 0) throw new Error(`${pending} entries are pending, and all were settled`)
    this.#run.spool.close()
    const [segment] = segmentsBelow(this.#root)
    if (segment !== undefined) throw new Error(`${segment.path} is still there: ${segment.bytes.length} bytes`)
    if (this.#run.problems.some((problem) => problem.startsWith(SPOOL_MESSAGES.failed.text(''))))
      throw new Error(this.#run.problems.join('\n'))
  }

  /** The next sequence has the clock and the files for itself. */
  abandon(): void {
    this.#run.die(this.#processes, this.#root)
  }

  #begin(): ProcessRun {
    const {
      profile: { batchSize, maxBytes },
      durability,
    } = this.#sequence
    this.#bornAt = this.#clock.now()
    return new ProcessRun({
      root: this.#root,
      clock: this.#clock,
      machine: this.#processes.born(),
      spool: { maxBytes, durability },
      batchSize,
      newId: () => this.#input.nextId(),
      onBatch: (batch) => this.#actions.enqueue(batch),
      watch: (log) => this.#input.watch(log),
    })
  }

  async #recover(most: number): Promise<void> {
    for (let n = 0; n < most; n += 1) {
      let taken: Batch | undefined
      await this.#run.spool.recovery.next((batch) => {
        taken = batch
        this.#actions.fly(batch)
      })
      if (taken === undefined) return
      this.#checkRecovered(taken)
    }
  }

  #checkRecovered(batch: Batch): void {
    const { batchId, origin } = batch
    const index = this.#expected.findIndex((expected) => expected.batchId === batchId)
    const expected = this.#expected[index]
    if (expected === undefined)
      throw new Error(`${batchId}, of ${findRootId(batch)}, was recovered, and should not have been`)
    this.#expected.splice(index, 1)
    this.#recoveredRoot = expected.rootId
    this.#actions.checkBody(batch, expected.rootId, expected.positions)
    if (batchId === expected.rootId) return
    if (origin?.batchId !== expected.rootId || origin.positions.join() !== expected.positions.join())
      throw new Error(`${batchId} does not tell where it is from`)
  }

  /** @param isClosed closed, not killed */
  #crash({ kind, pick }: { readonly kind: Damage; readonly pick: readonly [number, number] }): void {
    this.#run.die(this.#processes, this.#root)
    const before = segmentsBelow(this.#root)
    this.#ledger.audit(before)
    const isPower = this.#sequence.durability === 'power'
    if (kind.startsWith('owner')) this.#hasUnknownOwner = true
    damage(kind, this.#root, pick, (path) => (isPower ? syncedBytes(path) : 0))
    const lastSyncAt = this.#bornAt + Math.floor((this.#clock.now() - this.#bornAt) / SYNC_MS) * SYNC_MS
    const synced = [...this.#ledger.batches.values()].filter(
      ({ writtenAt, isGone }) => writtenAt < lastSyncAt && !isGone,
    )
    const { batches, missing } = this.#ledger.afterDeath(before, kind === 'none' ? before : segmentsBelow(this.#root))
    if (isPower && kind === 'pages') for (const was of synced) this.#checkOutlasted(was.id, was.onDisk)
    this.#expected = batches
    this.#expectedMissing = missing
    this.#hasDropped = false
    this.#recoveredRoot = ''
    this.#input.forget()
    if (isPower) allIsSynced(this.#root)
    this.#run = this.#begin()
    this.#actions = new DeliveryActions(this.#run, this.#ledger)
  }

  #checkOutlasted(id: string, onDisk: ReadonlySet<number>): void {
    const now = this.#ledger.batches.get(id)?.onDisk
    for (const at of onDisk)
      if (!now?.has(at))
        throw new Error(
          `entry ${at} of ${id} was written before the last synchronization, and did not outlast a power failure`,
        )
  }

  #close(step: Step): void {
    this.#run.batcher.seal()
    this.#checkBound()
    this.#actions.giveUp()
    const kept = this.#run.held + this.#actions.spilledEntries + this.#readyOnDisk()
    this.#run.spool.close()
    this.#checkAccount()
    const { pending } = this.#run.account.snapshot()
    if (pending !== kept)
      throw new Error(`${pending} entries are pending at the end, and ${kept} are on disk for the next start`)
    this.#crash(damageOf(step, this.#sequence.durability))
  }

  /** Sub-batches of the batch recovered last were read with it. */
  #readyOnDisk(): number {
    const there = this.#segmentKeys()
    const ready = this.#expected.filter(({ key, rootId }) => rootId === this.#recoveredRoot && there.has(key))
    return ready.reduce((sum, { positions }) => sum + positions.length, 0)
  }

  #segmentKeys(): Set<string> {
    return new Set(
      filesBelow(this.#root)
        .filter((path) => path.endsWith('.seg'))
        .map(keyOf),
    )
  }

  /** A segment may have been dropped at the limit: its batches that were only on disk are dropped. */
  #checkBound(): void {
    const reported = this.#run.drops
      .filter(({ reason }) => reason === 'spool')
      .reduce((sum, { count }) => sum + count, 0)
    this.#run.drops.length = 0
    const gone = this.#actions.inMemory.filter(({ acknowledgement: custody }) => custody?.isDurable !== true)
    // A segment with only damaged entries is deleted with it, and reported without a number.
    if (this.#run.problems.some((problem) => problem.includes('the oldest entries were deleted')))
      this.#hasDropped = true
    let lost = this.#actions.loseSpilled()
    if (reported > 0 || lost > 0) {
      this.#hasDropped = true
      const there = this.#segmentKeys()
      // Batches read together with the last one wait in memory.
      const isLost = ({ key, rootId }: ExpectedBatch): boolean => !there.has(key) && rootId !== this.#recoveredRoot
      lost += this.#expected.filter(isLost).reduce((sum, { positions }) => sum + positions.length, 0)
      this.#expected = this.#expected.filter((batch) => !isLost(batch))
    }
    if (lost !== reported) throw new Error(`${reported} entries are reported as dropped at the limit, ${lost} were`)
    if (gone.length > 0 || this.#hasDropped) this.#forgetGone(gone.map(findRootId))
  }

  #forgetGone(roots: readonly string[]): void {
    if (!this.#isBounded) throw new Error(`${roots.join()} are not on disk any more, far from the bound`)
    const there = new Set(segmentsBelow(this.#root).flatMap(({ frames }) => frames.map(({ batchId }) => batchId)))
    for (const batch of this.#ledger.batches.values())
      if (!there.has(batch.id) && batch.onDisk.size > 0) batch.isGone = true
  }

  #checkAccount(): void {
    const snapshot = this.#run.account.snapshot()
    if (!snapshot.balances) throw new Error(`the account does not balance: ${JSON.stringify(snapshot)}`)
  }
}
