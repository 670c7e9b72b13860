/**
 * The jobs that wait: in memory, and on disk as batches that are read back when there is memory for them. `pick` chooses
 * the next one; nothing else does.
 */
import type { Batch, SegmentPosition } from '../batch/batch.js'
import type { Refused } from '../batch/outcome.js'
import type { Health } from './health.js'
import { cutOne, halve, isRefusedDue } from './isolation.js'
import { compareJobs, countBytes, createJob, isExplained, isMemoryOnly, isSingle, JOB_OVERHEAD_BYTES } from './job.js'
import type { Job, Lane } from './job.js'

/** Batches on disk only. */
interface DiskBacklog {
  /** Whether `next` may return a batch. False if the remaining batches cannot be read at present. */
  readonly hasMore: boolean
}

/** Batches of this process on disk. */
export interface SpilledBatches extends DiskBacklog {
  readonly batches: number
  /** Sequence of the oldest batch; Infinity if there is none. */
  readonly oldest: number
  push(batch: Batch & { readonly place: SegmentPosition }, sequence: number): void
  /** Marks a batch, stored between or after the waiting ones, that must not be read back. */
  pass(batch: { readonly place: SegmentPosition }): void
  /** Passes the next batch to `take` in the same turn in which this backlog stops counting it. Never rejects. */
  next(take: (batch: Batch, sequence: number) => void): Promise<boolean>
}

/** Batches of earlier processes on disk. */
export interface AdoptedBatches extends DiskBacklog {
  /** Whether the scan for them is in progress. */
  readonly isScanning?: boolean
  /** As `SpilledBatches.next`. */
  next(take: (batch: Batch) => void): Promise<boolean>
}

export interface DeliveryDisk {
  readonly spilled: SpilledBatches
  readonly recovery: AdoptedBatches
}

export interface LanesOptions {
  readonly maxBufferBytes: number
  /** With 1, the order is kept strictly. */
  readonly maxConcurrency: number
  readonly disk?: DeliveryDisk | undefined
  /** Called when a batch was read from disk. */
  readonly onRead: () => void
}

/** What `pick` needs to know besides the jobs. */
export interface PickContext {
  readonly health: Health
  readonly now: number
  readonly begun: number
  readonly latestAccepted: number
  /** In [0, 1). */
  readonly random: () => number
  /** Whether the process ends: the order of the failures counts. */
  readonly isEnding: boolean
  /** Whether batches of earlier processes may be sent. */
  readonly mayAdopt: boolean
}

/**
 * Memory for durable batches while the service fails, and for batches read back: more are read while these are sent. In
 * a limited recovery, more would wait so long that they would reach the old generation before their memory is freed.
 */
const READY_BYTES = 256 * 1024
const READY_SHARE = 1 / 8
/** Durable batches leave the rest for batches that are only in memory, if the disk fails. */
const DURABLE_SHARE = 1 / 2
const ADOPTED_BYTES = 512 * 1024
/** Two batches keep the connection busy, whatever their size. */
const LEAST_ADOPTED = 2
/** New batches for each one of a backlog. */
const LIVE_PER_BACKLOG = 3
/** A job that failed so often in an outage lets others go first: it may be the cause. Shorter outages keep the order. */
const ATTEMPTS_BEFORE_OTHERS = 3
/** The same with a strict order, where another job must not be sent before it. */
const STRICT_ORDER_MAX_MS = 300_000
const FIRST_ADOPTED = -(2 ** 52)

export class Lanes {
  readonly #options: LanesOptions
  readonly #readyBytes: number
  readonly #isStrict: boolean
  /** Jobs that were never sent, in order. */
  readonly #fresh: Record<Lane, Job[]> = { live: [], backlog: [], adopted: [] }
  /** Jobs that failed, and parts. */
  readonly #failed: Job[] = []
  #nextSequence = 0
  #nextAdopted = FIRST_ADOPTED
  #bytes = 0
  #entries = 0
  /** New batches since the latest one of a backlog. */
  #liveInARow = 0
  /** The kind of longer waiting jobs that is next, see `#pickOlder`. */
  #turn = 0
  /** Whether the batches on disk are those of an outage, so that new ones are sent first. */
  #hasOutageBacklog = false
  readonly #reading = { spilled: false, recovery: false }
  #isClosed = false

  constructor(options: LanesOptions) {
    this.#options = options
    this.#readyBytes = Math.min(READY_BYTES, options.maxBufferBytes * READY_SHARE)
    this.#isStrict = options.maxConcurrency === 1
  }

  /** Memory of the jobs. */
  get bytes(): number {
    return this.#bytes
  }

  /** Entries in memory. */
  get entries(): number {
    return this.#entries
  }

  /** The sequence of the next batch. */
  get nextSequence(): number {
    return this.#nextSequence
  }

  get jobs(): Job[] {
    return [...this.#failed, ...this.#fresh.live, ...this.#fresh.backlog, ...this.#fresh.adopted]
  }

  /** Whether no batch waits, of those in memory and those of this process on disk. */
  get isEmpty(): boolean {
    return this.#entries === 0 && !this.isReadable
  }

  /** Whether a batch of this process can be read from disk. */
  get isReadable(): boolean {
    return this.#reading.spilled || this.#options.disk?.spilled.hasMore === true
  }

  /** Sequence of the oldest batch of this process on disk; Infinity if there is none. */
  get oldestSpilled(): number {
    return this.#options.disk?.spilled.oldest ?? Infinity
  }

  /** Whether batches of earlier processes wait in memory that were not sent yet. */
  get hasAdoptedInMemory(): boolean {
    return this.#fresh.adopted.length > 0
  }

  /** Whether batches of earlier processes wait that were not sent yet, or may be found. */
  get hasAdopted(): boolean {
    const { recovery } = this.#options.disk ?? {}
    const isFound = this.#fresh.adopted.length > 0 || recovery?.hasMore === true
    return isFound || this.#reading.recovery || recovery?.isScanning === true
  }

  /** Whether a durable batch waits on disk only, because there is no memory for it or earlier batches wait there. */
  waitsOnDisk(bodyBytes: number, inFlightBytes: number, isFailing: boolean): boolean {
    const { disk, maxBufferBytes } = this.#options
    const isBehind = disk !== undefined && !this.#isSpilledEmpty && (!this.#isLiveFirst || isFailing)
    const most = isFailing ? this.#readyBytes : maxBufferBytes * DURABLE_SHARE
    return isBehind || inFlightBytes + this.#bytes + bodyBytes + JOB_OVERHEAD_BYTES > most
  }

  /**
   * Always accepts the batch.
   * @param inFlightBytes memory of the jobs in flight
   * @returns the batches dropped for it: the oldest that are only in memory, or the batch itself
   */
  push(batch: Batch, inFlightBytes: number, isFailing: boolean): Batch[] {
    const { place } = batch
    const spilled = place && this.#options.disk?.spilled
    const sequence = this.#nextSequence
    this.#nextSequence += 1
    if (!spilled && inFlightBytes + countBytes({ batch }) > this.#options.maxBufferBytes) return [batch]
    // A batch without a body waits on disk, even if memory is free again.
    if (spilled && (batch.body.length === 0 || this.waitsOnDisk(batch.body.length, inFlightBytes, isFailing))) {
      this.#hasOutageBacklog = isFailing || (this.#hasOutageBacklog && !this.#isSpilledEmpty)
      spilled.push({ ...batch, place }, sequence)
      return []
    }
    if (spilled && !this.#isSpilledEmpty) spilled.pass({ place })
    this.#insert(this.#fresh.live, createJob(batch, 'live', sequence))
    return spilled ? [] : this.#dropOldest(inFlightBytes)
  }

  /** Adds a job that failed, or a part. */
  add(job: Job): void {
    this.#insert(this.#failed, job)
  }

  /** Called after an outage: new batches are then sent before those that wait in memory, too. */
  moveToBacklog(): void {
    if (this.#options.disk === undefined || this.#isStrict) return
    const { live } = this.#fresh
    if (live.length === 0) return
    this.#hasOutageBacklog = true
    for (const job of live.splice(0)) insertSorted(this.#fresh.backlog, { ...job, lane: 'backlog' })
  }

  /** Removes the waiting jobs whose batch `isGivenUp`. Those in flight stay. */
  withdraw(isGivenUp: (batch: Batch) => boolean): void {
    for (const list of [this.#failed, ...Object.values(this.#fresh)]) {
      const kept = list.filter((job) => !isGivenUp(job.batch) || this.#took(job) === undefined)
      list.splice(0, list.length, ...kept)
    }
  }

  /** Takes the single entries that were refused, if no other job waits. */
  takeRefused(): { readonly job: Job; readonly reply: Refused }[] {
    const refused = this.#failed.flatMap((job) =>
      job.standing.kind === 'refused' && job.standing.timesAlone > 0 ? [{ job, reply: job.standing.reply }] : [],
    )
    if (refused.length < this.jobs.length || this.isReadable) return []
    this.#failed.length = this.#bytes = this.#entries = 0
    return refused
  }

  /** Ends all delays. */
  endDelays(at: number): void {
    for (const [index, job] of this.#failed.entries())
      if (job.standing.kind !== 'refused' && job.notBefore > at) this.#failed[index] = { ...job, notBefore: at }
  }

  /** Reads more from disk if there is memory for it. */
  refill(isFailing: boolean): void {
    if (this.#isClosed) return
    this.#readSpilled(isFailing)
    this.#readAdopted()
  }

  /** Takes the next job that may be sent. */
  pick(context: PickContext): Job | undefined {
    if (this.#bytes === 0) {
      this.#liveInARow = 0
      return undefined
    }
    const { health } = context
    if (health.kind === 'denied') return this.#pickProbe(health.refusals, context)
    if (this.#isStrict) return this.#pickInOrder(context)
    if (health.kind === 'down' || context.isEnding) return this.#pickLeastFailed(context)
    return this.#takeRetry(context) ?? this.#pickFresh(context)
  }

  /** The earliest time at which `pick` may return a job that it does not return now; Infinity if only other events can. */
  dueAt(context: PickContext): number {
    const { live, backlog, adopted } = this.#fresh
    if (live.length + backlog.length + (context.mayAdopt ? adopted.length : 0) > 0) return -Infinity
    // Not spread: there may be more of them than arguments fit on the stack.
    return this.#failed.reduce((at, job) => Math.min(at, isDue(job, context) ? -Infinity : job.notBefore), Infinity)
  }

  /** Drops the jobs in memory. */
  close(): void {
    this.#isClosed = true
    for (const list of [this.#failed, ...Object.values(this.#fresh)]) list.length = 0
    this.#bytes = this.#entries = 0
  }

  /** Three new batches, then one of those that wait longer. */
  #pickFresh(context: PickContext): Job | undefined {
    const live = this.#liveInARow < LIVE_PER_BACKLOG ? this.#shift('live') : undefined
    this.#liveInARow = live === undefined ? 0 : this.#liveInARow + 1
    return live ?? this.#pickOlder(context) ?? this.#shift('live')
  }

  /** In turn: the backlog of this process, that of earlier ones, and jobs that fail while others are accepted. */
  #pickOlder(context: PickContext): Job | undefined {
    const kinds = [
      () => this.#shift('backlog'),
      () => (context.mayAdopt ? this.#shift('adopted') : undefined),
      () => this.#takeFailed(this.#findStraggler(context), context),
    ]
    for (let tries = 0; tries < kinds.length; tries += 1) {
      const job = kinds[this.#turn]?.()
      this.#turn = (this.#turn + 1) % kinds.length
      if (job !== undefined) return job
    }
    return undefined
  }

  /** In an outage or at exit: a job that was not tried often, so that the cause of the failures does not hold the others. */
  #pickLeastFailed(context: PickContext): Job | undefined {
    const { health } = context
    // Several jobs in a row may be the cause, so every second probe is one that was never sent.
    const isOthersTurn = health.kind === 'down' && health.failures >= ATTEMPTS_BEFORE_OTHERS && context.begun % 2 === 1
    const other = isOthersTurn ? this.#takeOther('live') : undefined
    if (other !== undefined) return other
    const next = this.#takeRetry(context) ?? this.#shift('live') ?? this.#pickOlderFresh(context)
    if (next !== undefined) return next
    const least = findLeast(this.#failed, (job) =>
      job.standing.kind !== 'refused' && isDue(job, context) ? job.attempts : undefined,
    )
    return this.#takeFailed(least === -1 ? this.#findRefused(context) : least, context)
  }

  #takeRetry(context: PickContext): Job | undefined {
    return this.#takeFailed(
      this.#failed.findIndex((job) => !isStraggler(job, context) && isDue(job, context)),
      context,
    )
  }

  #pickOlderFresh({ mayAdopt }: PickContext): Job | undefined {
    return this.#shift('backlog') ?? (mayAdopt ? this.#shift('adopted') : undefined)
  }

  /** The oldest job. What fails while others are accepted, or was refused, steps out of the order. */
  #pickInOrder(context: PickContext): Job | undefined {
    const { health } = context
    if (health.kind === 'down' && context.now - health.since > STRICT_ORDER_MAX_MS)
      return this.#pickLeastFailed(context)
    const straggler = this.#findStraggler(context)
    const { live, adopted } = this.#fresh
    const failed = this.#failed.findIndex(({ standing }) => standing.kind === 'fresh')
    // What is on disk goes first.
    const isLiveNext = !(context.mayAdopt && this.hasAdopted) && (live[0]?.sequence ?? Infinity) < this.oldestSpilled
    const isHeld = this.#liveInARow >= LIVE_PER_BACKLOG && straggler !== -1
    this.#liveInARow = isHeld ? 0 : this.#liveInARow + 1
    if (isHeld) return this.#takeFailed(straggler, context)
    if (failed !== -1) return this.#takeFailed(failed, context)
    const fresh =
      adopted.length > 0 && context.mayAdopt ? this.#shift('adopted') : isLiveNext ? this.#shift('live') : undefined
    return fresh ?? this.#takeFailed(straggler, context)
  }

  /**
   * While the service refuses: alternately a job that was never refused, and a single entry of one that was. Several
   * payloads in a row may be bad, and each batch may have a bad entry.
   */
  #pickProbe(refusals: number, context: PickContext): Job | undefined {
    const isOthersTurn = refusals === 1 || context.begun % 2 === 1
    const other = (): Job | undefined => this.#takeNeverRefused(context)
    const refused = (): Job | undefined => this.#takeFailed(this.#findRefused(context), context, true)
    return isOthersTurn ? (other() ?? refused()) : (refused() ?? other())
  }

  /** The newest, which a stale cause is least likely to concern; in a strict order, the oldest. */
  #takeOther(lane: Lane): Job | undefined {
    const jobs = this.#fresh[lane]
    return this.#took(this.#isStrict ? jobs.shift() : jobs.pop())
  }

  #takeNeverRefused(context: PickContext): Job | undefined {
    const lanes: Lane[] = context.mayAdopt ? ['live', 'backlog', 'adopted'] : ['live', 'backlog']
    const lane = (this.#isStrict ? lanes.toReversed() : lanes).find((one) => this.#fresh[one].length > 0)
    if (lane !== undefined) return this.#takeOther(lane)
    return this.#takeFailed(
      this.#failed.findLastIndex(({ standing }) => standing.kind !== 'refused'),
      context,
    )
  }

  /** The refused job that was tried least recently: each gets its turn, and a part that was cut before another is cut. */
  #findRefused(context: PickContext): number {
    return findLeast(this.#failed, (job) => {
      const { standing, begunAtFailure = 0 } = job
      if (standing.kind !== 'refused' || !isDue(job, context)) return undefined
      return begunAtFailure * 2 + Number(!isSingle(job))
    })
  }

  /** In a strict order, a job that only failed often keeps its place. */
  #findStraggler(context: PickContext): number {
    return findLeast(this.#failed, (job) => {
      if (this.#isStrict && job.standing.kind === 'fresh') return undefined
      return isStraggler(job, context) && isDue(job, context) ? (job.begunAtFailure ?? 0) : undefined
    })
  }

  /** A refused job is divided when it is sent again. @param index -1 for none */
  #takeFailed(index: number, { begun, latestAccepted, random }: PickContext, isProbe = false): Job | undefined {
    if (index === -1) return undefined
    const job = this.#took(this.#failed.splice(index, 1)[0]) as Job
    if (job.standing.kind !== 'refused' || isSingle(job)) return job
    // As a probe, a half of bad content is too often bad. One bad node refuses any part, and single entries most often.
    const isHalved = isExplained(job, latestAccepted) && !(isProbe && job.standing.isContent)
    const [next, rest] = isHalved ? halve(job) : cutOne(job, begun, random)
    if (rest !== undefined) this.add(rest)
    return next
  }

  #shift(lane: Lane): Job | undefined {
    return this.#took(this.#fresh[lane].shift())
  }

  #took(job: Job | undefined): Job | undefined {
    if (job === undefined) return undefined
    this.#bytes -= countBytes(job)
    this.#entries -= job.batch.count
    return job
  }

  #insert(list: Job[], job: Job): void {
    insertSorted(list, job)
    this.#bytes += countBytes(job)
    this.#entries += job.batch.count
  }

  #dropOldest(inFlightBytes: number): Batch[] {
    const dropped: Batch[] = []
    while (inFlightBytes + this.#bytes > this.#options.maxBufferBytes) {
      const lists = [this.#failed, this.#fresh.live]
      const list = lists.find((one) => one.some(isMemoryOnly))
      if (list === undefined) break
      const [job] = list.splice(list.findIndex(isMemoryOnly), 1)
      dropped.push((this.#took(job) as Job).batch)
    }
    return dropped
  }

  get #isSpilledEmpty(): boolean {
    return (this.#options.disk?.spilled.batches ?? 0) === 0 && !this.#reading.spilled
  }

  /** Whether new batches are sent before those on disk. If the service was only slow, the order is kept. */
  get #isLiveFirst(): boolean {
    return this.#hasOutageBacklog && !this.#isStrict
  }

  #readSpilled(isFailing: boolean): void {
    const { disk, onRead, maxBufferBytes } = this.#options
    if (disk?.spilled.hasMore !== true || this.#reading.spilled) return
    const { live, backlog } = this.#fresh
    // One is always in memory, even if new batches fill it.
    const isNext = backlog.length === 0 && (live[0]?.sequence ?? Infinity) > disk.spilled.oldest
    const hasFresh = live.length + backlog.length > 0
    const most = !isNext ? this.#readyBytes : hasFresh && !isFailing ? Infinity : maxBufferBytes * DURABLE_SHARE
    if (this.#bytes > most) return
    this.#reading.spilled = true
    const take = (batch: Batch, sequence: number): void => {
      const lane = this.#isLiveFirst ? 'backlog' : 'live'
      this.#insert(this.#fresh[lane], createJob(batch, lane, sequence))
    }
    void disk.spilled.next(take).then(() => {
      this.#reading.spilled = false
      onRead()
    })
  }

  #readAdopted(): void {
    const { disk, onRead, maxBufferBytes } = this.#options
    if (disk?.recovery.hasMore !== true || this.#reading.recovery) return
    const { adopted } = this.#fresh
    const bytes = adopted.reduce((sum, { batch }) => sum + batch.body.length, 0)
    if (adopted.length >= LEAST_ADOPTED && bytes >= ADOPTED_BYTES) return
    // Parts of a bad backlog need much more memory than its batches.
    const failedBytes = this.#failed.reduce((sum, job) => sum + countBytes(job), 0)
    if (failedBytes > Math.min(ADOPTED_BYTES, maxBufferBytes * DURABLE_SHARE)) return
    this.#reading.recovery = true
    const take = (batch: Batch): void => {
      this.#insert(adopted, createJob(batch, 'adopted', this.#nextAdopted))
      this.#nextAdopted += 1
    }
    void disk.recovery.next(take).then(() => {
      this.#reading.recovery = false
      onRead()
    })
  }
}

/** Whether a job that failed may be sent. Otherwise it may be from `notBefore`. */
function isDue(job: Job, { health, now, latestAccepted, isEnding }: PickContext): boolean {
  // At the end nothing else comes that would show more than a part of it.
  if (job.standing.kind === 'refused') return isRefusedDue(job, now, latestAccepted) || (isEnding && !isSingle(job))
  // In an outage, the pause between the probes replaces the delay.
  return health.kind === 'down' || job.notBefore <= now
}

/** Whether others go first. */
function isStraggler({ standing, attempts }: Job, { health, isEnding }: PickContext): boolean {
  // After an outage, those that failed in it are a backlog. At the end, the others have no other chance.
  const most = isEnding || health.kind === 'recovering' ? 1 : ATTEMPTS_BEFORE_OTHERS
  return standing.kind !== 'fresh' || attempts >= most
}

/** @returns the index of the job with the lowest rank, the first of equal ones; -1 if none has one */
function findLeast(jobs: readonly Job[], rankOf: (job: Job) => number | undefined): number {
  let [found, least] = [-1, Infinity]
  for (const [index, job] of jobs.entries()) {
    const rank = rankOf(job)
    if (rank !== undefined && rank < least) [found, least] = [index, rank]
  }
  return found
}

/** Usually the job is the last one. */
function insertSorted(list: Job[], job: Job): void {
  let at = list.push(job) - 1
  for (; at > 0 && compareJobs(list[at - 1] as Job, job) > 0; at -= 1) list[at] = list[at - 1] as Job
  list[at] = job
}
