/** One of two owners of a root: a process with its own clock and PID namespace, and a simulated delivery. */
import type { EntryLog } from '../../src/spool/entry-log.js'
import type { Clock } from '../../src/shared/clock.js'
import { parseBatchEntries, createSubBatch } from '../../src/batch/sub-batch.js'
import type { Batch, SegmentPosition } from '../../src/batch/batch.js'
import { ProcessRun } from './process-run.js'
import type { ProcessRunOptions } from './process-run.js'
import { numbersIn } from './shared-service.js'
import type { SharedService } from './shared-service.js'

/** Milliseconds between two renewals of a lease. */
export const RENEW_MS = 5_000

type Stored = Batch & { readonly place: SegmentPosition }

/** Clock of one owner. Timers of a suspended process fire when it resumes; its wall clock may be wrong. */
export class OwnerClock implements Clock {
  skewMs: number
  isStopped = false
  readonly namespace: string
  /** Name of the owner's folder. */
  instance = ''
  readonly #clock: Clock
  readonly #act: (act: () => void) => void
  readonly #due = new Set<() => void>()

  /** @param act runs the callback of a timer */
  constructor(clock: Clock, namespace: string, skewMs: number, act: (act: () => void) => void) {
    this.#clock = clock
    this.namespace = namespace
    this.skewMs = skewMs
    this.#act = act
  }

  now(): number {
    return this.#clock.now()
  }

  wallNow(): number {
    return this.#clock.wallNow() + this.skewMs
  }

  timer(delayMs: number, fire: () => void): () => void {
    const cancel = this.#clock.timer(delayMs, () => {
      if (this.isStopped) this.#due.add(fire)
      else this.#act(fire)
    })
    return () => {
      cancel()
      this.#due.delete(fire)
    }
  }

  fireDue(): void {
    for (const fire of this.#due) {
      this.#due.delete(fire)
      this.#act(fire)
    }
  }
}

export interface OwnerOptions extends Pick<ProcessRunOptions, 'root' | 'machine' | 'batchSize' | 'newId' | 'spool'> {
  readonly clock: OwnerClock
  readonly service: SharedService
}

export class ModelOwner {
  readonly run: ProcessRun
  readonly clock: OwnerClock
  readonly #service: SharedService
  readonly #stored: Stored[] = []
  #isMemoryShort = false
  readonly #flying: Batch[] = []
  /** Entries that were added and not yet written. */
  #unwritten: number[] = []
  /** The last folder of it that was claimed. */
  #claimedInstance: string | undefined
  /** All entries of this process, with any outcome. */
  readonly #own: number[] = []
  /** Entries accepted while acknowledgements could not be written. */
  readonly #uncertain = new Set<number>()
  isEnded = false
  /** Time of the model's clock since which it cannot renew its lease; undefined while it can. */
  silentSince: number | undefined
  #continuedAt = -Infinity
  /** Milliseconds in which it was not suspended. */
  awakeMs = 0
  /** Value of `awakeMs` until which it may write to a deleted file. */
  unlinkedUntil = -Infinity
  #uncertainUntil = -Infinity

  constructor({ service, ...options }: OwnerOptions) {
    this.#service = service
    this.clock = options.clock
    this.run = new ProcessRun({
      ...options,
      onBatch: (batch) => this.#enqueue(batch),
      watch: (log) => this.#watch(log),
    })
  }

  get isStopped(): boolean {
    return this.clock.isStopped
  }

  stop(): void {
    this.clock.isStopped = true
    this.silentSince ??= this.clock.now()
  }

  continue(): void {
    this.clock.isStopped = false
    this.#continuedAt = this.awakeMs
  }

  append(count: number, padding: number, isCommitted: boolean): void {
    for (let each = 0; each < count; each += 1) {
      const n = this.#service.begin()
      // Unaware of the claim, it fills its open batch, which the claimer sends under the same id.
      if (this.clock.instance === this.#claimedInstance) this.#service.entry(n).mayComeAgain = true
      if (this.awakeMs <= this.unlinkedUntil) this.#service.entry(n).mayBeLost = true
      this.#own.push(n)
      this.#unwritten.push(n)
      this.run.add(JSON.stringify({ n, pad: 'x'.repeat(padding) }), n % 5)
    }
    if (isCommitted) this.run.batcher.commit()
  }

  /** The next new batch is not kept in memory. */
  spill(): void {
    this.#isMemoryShort = true
  }

  async readBack(): Promise<void> {
    await this.run.spool.spilled.next((batch) => {
      this.run.held += batch.count
      if (batch.place !== undefined) this.#stored.push({ ...batch, place: batch.place })
    })
  }

  async recover(most: number): Promise<void> {
    for (let n = 0; n < most; n += 1) {
      const isTaken = await this.run.spool.recovery.next((batch) => {
        this.run.held += batch.count
        this.#flying.push(batch)
      })
      if (!isTaken) return
    }
  }

  /** The service accepts a batch. @param isAnswered whether the reply arrives @param isDiskBad whether acknowledgements cannot be written */
  send(choice: number, isAnswered: boolean, isDiskBad: boolean): void {
    const batch = this.#pick(choice)
    if (batch === undefined) return
    this.#service.take(batch)
    if (!isAnswered) {
      for (const n of numbersIn(batch)) this.#service.entry(n).mayComeAgain = true
      this.#flying.push(batch)
      return
    }
    this.#acknowledged(numbersIn(batch), isDiskBad)
    batch.acknowledgement?.acknowledge()
    this.run.held -= batch.count
    this.run.account.accepted += batch.count
  }

  /** The service accepts some entries, and rejects or ignores the others. */
  sendSome(
    choice: number,
    seed: number,
    { isRejected, isDiskBad }: { readonly isRejected: boolean; readonly isDiskBad: boolean },
  ): void {
    const batch = this.#pick(choice)
    if (batch === undefined) return
    const positions = Array.from({ length: batch.count }, (_, at) => at)
    const taken = positions.filter((at) => ((seed >> (at % 20)) & 1) === 1)
    const others = positions.filter((at) => !taken.includes(at))
    const numbers = numbersIn(batch)
    const entries = parseBatchEntries(batch.body)
    this.#service.take(batch, taken)
    this.#acknowledged(numbers, isDiskBad)
    if (isRejected) {
      const problems = this.run.problems.length
      this.run.spool.writeDeadLetters(
        others.map((index) => ({
          batchId: batch.batchId,
          index,
          status: 422,
          code: 'invalid',
          field: 'level',
          reason: 'no such level',
          entry: entries[index] as string,
        })),
      )
      // An entry that is reported as not stored is not lost silently.
      for (const at of others) {
        const n = numbers[at] as number
        if (this.run.problems.length === problems) this.#service.setAside.add(n)
        this.#service.entry(n).copies += 1
      }
    }
    batch.acknowledgement?.acknowledge(isRejected ? positions : taken)
    this.run.held -= batch.count
    this.run.account.accepted += taken.length
    this.run.account.rejected += isRejected ? others.length : 0
    if (isRejected || others.length === 0) return
    const part = createSubBatch(batch, others, entries)
    this.run.held += part.count
    this.#flying.push(part)
  }

  get hasBatches(): boolean {
    return this.#stored.length > 0 || this.#flying.length > 0
  }

  /** Time has passed. */
  passed(ms: number, isDiskBad: boolean): void {
    if (this.isStopped) return
    this.awakeMs += ms
    // Without a file descriptor it cannot renew the lease either.
    if (isDiskBad) {
      this.silentSince ??= this.clock.now() - ms
      this.#continuedAt = this.awakeMs
    } else if (this.awakeMs - this.#continuedAt >= RENEW_MS) this.silentSince = undefined
    // Unwritten acknowledgements are written one renewal after the fault ends.
    if (isDiskBad) this.#uncertainUntil = this.awakeMs + RENEW_MS
    else if (this.awakeMs > this.#uncertainUntil) this.#uncertain.clear()
  }

  /** Its folder was claimed: its batches in memory may arrive twice. */
  wasClaimed(): void {
    this.#claimedInstance = this.clock.instance
    for (const batch of [...this.#stored, ...this.#flying]) this.#again(numbersIn(batch))
    this.#again(this.#own.filter((n) => this.#service.entry(n).copies === 0))
    this.#again(this.#uncertain)
  }

  /** A segment's file was deleted, possibly the one that it writes to. It detects this at the next renewal of the lease. */
  lostSegment(leaseMs: number): void {
    this.unlinkedUntil = this.awakeMs + leaseMs
    for (const n of this.#own) {
      const entry = this.#service.entry(n)
      if (!entry.isOnDisk) entry.mayBeLost = true
    }
  }

  /** It was killed: entries on disk must arrive, others may be lost. */
  died(): void {
    for (const n of this.#own) {
      const entry = this.#service.entry(n)
      if (!entry.isOnDisk) entry.mayBeLost = true
    }
    this.#again(this.#uncertain)
  }

  close(): void {
    this.run.batcher.seal()
    for (const { acknowledgement: custody, count, ...batch } of [...this.#stored, ...this.#flying]) {
      if (custody?.isDurable === true) continue
      this.run.held -= count
      this.run.account.dropped.shutdown += count
      for (const n of numbersIn({ count, ...batch })) this.#service.entry(n).mayBeLost = true
    }
    this.run.spool.close()
    this.checkAccount()
  }

  checkAccount(): void {
    const snapshot = this.run.account.snapshot()
    if (!snapshot.balances) this.#service.violated(`the account does not balance: ${JSON.stringify(snapshot)}`)
  }

  #again(numbers: Iterable<number>): void {
    for (const n of numbers) this.#service.entry(n).mayComeAgain = true
  }

  #acknowledged(numbers: readonly number[], isDiskBad: boolean): void {
    if (!isDiskBad) return
    this.#uncertainUntil = this.awakeMs + RENEW_MS
    for (const n of numbers) this.#uncertain.add(n)
  }

  #pick(choice: number): Batch | undefined {
    if (this.#flying.length === 0) return this.#stored.shift()
    return this.#flying.splice(choice % this.#flying.length, 1)[0]
  }

  #enqueue(batch: Batch): void {
    const { place } = batch
    if (place === undefined) this.#flying.push(batch)
    else if (this.#isMemoryShort || this.run.spool.spilled.batches > 0) {
      this.#isMemoryShort = false
      return void this.run.spill(batch)
    } else this.#stored.push({ ...batch, place })
    this.run.held += batch.count
  }

  #watch(log: EntryLog): EntryLog {
    const written = (): void => {
      if (this.run.spool.log.current !== undefined)
        for (const n of this.#unwritten) this.#service.entry(n).isOnDisk = true
      this.#unwritten = []
    }
    return {
      append: (...given) => log.append(...given),
      flush: () => {
        const result = log.flush()
        written()
        return result
      },
      seal: (batch) => {
        const sealed: ReturnType<EntryLog['seal']> | undefined = log.seal(batch)
        if (sealed?.acknowledgement?.isDurable === true)
          for (const n of numbersIn(sealed).slice(0, sealed.count)) this.#service.entry(n).isOnDisk = true
        written()
        return sealed
      },
    }
  }
}
