/** Enforces the size and age limits of the root. */
import { closeSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { DropReason } from '../diagnostics/account.js'
import { DROP_MESSAGES, SPOOL_MESSAGES } from '../diagnostics/messages.js'
import type { Clock } from '../shared/clock.js'
import { createFile } from '../shared/safe-files.js'
import { DEAD_LETTERS, REPORTED, toAcknowledgementLogPath } from './disk-format.js'
import type { SpilledBatchStore } from './spilled-batch-store.js'
import type { CurrentInstance } from './instance/current-instance.js'
import { LeaseWatch } from './instance/ownership.js'
import type { Recovery } from './recovery.js'
import type { Segment } from './segment/segment.js'
import { readSizeOnDisk, walkFiles, walkSpoolFiles } from './spool-files.js'
import { TimeSlicedTask } from './time-sliced-task.js'
import { SpoolFullError } from './retention/eviction.js'
import type { EvictionCandidate } from './retention/eviction.js'
import { deleteExpired } from './retention/expiry.js'
import type { ExpiryOptions, StrandedEntries } from './retention/expiry.js'

export interface SpoolLimitsOptions extends Omit<ExpiryOptions, 'wallNowMs' | 'leases'> {
  readonly maxBytes: number
  readonly segmentBytes: number
  readonly clock: Clock
  readonly instance: CurrentInstance
  readonly spilled: SpilledBatchStore
  readonly recovery: Recovery
  readonly onError: (error: unknown) => void
  readonly onDropped: (entries: number, reason: DropReason, detail: string) => void
  /** Called with entries of other URLs or keys that were not reported yet. */
  readonly onStranded: (folders: readonly StrandedEntries[]) => void
  /** Called when entries and dead letters of another URL or key were deleted because of their age. */
  readonly onForeignExpired: (folder: string, bytes: number) => void
}

/** Minimum number of files summed per time slice, more than a spool of the default size has. */
const FILES_PER_SLICE = 200
/** Minimum time between two sums of the file sizes near the limit. */
const MEASURE_MS = 1_000
/**
 * Share of `maxBytes` from which sizes are summed regularly. It is lower, by more than one segment, than the lowest
 * share at which entries are refused.
 */
const MEASURE_FROM = 0.5

export class SpoolLimits {
  readonly #options: SpoolLimitsOptions
  readonly #leases: LeaseWatch
  readonly #reported = new Set<string>()
  readonly #summing: TimeSlicedTask
  readonly #expiring: TimeSlicedTask
  #rootBytes = 0
  #measuredAt = -Infinity
  /**
   * Whether a segment was started before the sum was known. If there is no space, no further segment is started until
   * there is.
   */
  #isSpaceOwed = false
  #fullError: SpoolFullError | undefined

  constructor(options: SpoolLimitsOptions) {
    this.#options = options
    this.#leases = new LeaseWatch(options.clock)
    this.#summing = new TimeSlicedTask(options.clock, FILES_PER_SLICE)
    this.#expiring = new TimeSlicedTask(options.clock)
  }

  /**
   * Bytes in the root as of the last sum, without the segment being written. Cheap: sizes are summed at most once per
   * second, and only near the limit. While entries are refused, no segment is started, so nothing else would update the
   * sum.
   */
  get rootBytes(): number {
    const { maxBytes, clock } = this.#options
    if (this.#rootBytes > maxBytes * MEASURE_FROM && clock.now() - this.#measuredAt >= MEASURE_MS) this.#measure()
    return this.#rootBytes
  }

  /**
   * Makes space for a new segment. If summing takes several time slices, the segment may be started before space is
   * made. @throws SpoolFullError
   */
  ensureSpace(): void {
    const { scanning } = this.#options.recovery
    scanning.advance()
    if (this.#summing.isBusy) this.#summing.advance()
    else this.#measure()
    if (!this.#summing.isBusy && !scanning.isBusy) return this.#evict()
    this.#isSpaceOwed = true
    if (this.#fullError !== undefined) throw this.#fullError
  }

  /** Drops segments and dead letters older than `maxAgeMs`, in several time slices if there are many. */
  deleteExpired(): void {
    const { clock, maxAgeMs, instance, onError } = this.#options
    for (const segment of instance.segments.values()) {
      // Uses the monotonic clock, because a large correction of the wall clock would expire entries that are minutes
      // old.
      const isOld = clock.now() - segment.writtenAtMs > maxAgeMs
      if (segment.isComplete && isOld) this.#drop(segment, 'age', DROP_MESSAGES.tooOld.text(maxAgeMs))
    }
    if (!this.#expiring.isBusy) this.#expiring.run(this.#expireOthers()).catch(onError)
  }

  /** Stops all work: the instance was claimed, or the process ends. */
  stop(): void {
    this.#summing.cancel()
    this.#expiring.cancel()
    this.#isSpaceOwed = false
  }

  *#expireOthers(): Generator<unknown> {
    const { clock, instance, onStranded, onForeignExpired } = this.#options
    const stranded: StrandedEntries[] = []
    this.#leases.beginScan(() => instance.ensure().renew())
    for (const found of deleteExpired({ ...this.#options, wallNowMs: clock.wallNow(), leases: this.#leases })) {
      yield
      if (found === undefined) continue
      const { folder, bytes, expiredBytes } = found
      if (expiredBytes > 0) onForeignExpired(folder, expiredBytes)
      if (bytes > 0 && this.#markReported(folder)) stranded.push(found)
    }
    if (stranded.length > 0) onStranded(stranded)
  }

  /** @returns whether no process has reported the folder before @throws the system's errors */
  #markReported(folder: string): boolean {
    if (this.#reported.has(folder)) return false
    this.#reported.add(folder)
    try {
      closeSync(createFile(join(folder, REPORTED)))
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      return false
    }
  }

  #measure(): void {
    const { clock, recovery, onError } = this.#options
    if (this.#summing.isBusy) return
    this.#measuredAt = clock.now()
    this.#summing.run(this.#sum()).then(() => {
      // If the claimed segments are not all known yet, it is retried after the next sum.
      if (!this.#isSpaceOwed || recovery.scanning.isBusy) return
      try {
        this.#evict()
      } catch (error) {
        this.#fullError = error as SpoolFullError
      }
    }, onError)
  }

  *#sum(): Generator<void> {
    const { root, recovery, instance, segmentBytes } = this.#options
    const ours = [...recovery.segments, ...instance.segments.values()]
    let bytes = 0
    for (const file of walkSpoolFiles(root)) {
      bytes += file.bytes
      yield
    }
    // Files deleted during the sum may have been counted. Subtracting them drops too few entries rather than too many.
    const goneBytes = ours.filter(({ isGone }) => isGone).length * segmentBytes
    this.#rootBytes = Math.max(bytes - goneBytes - recovery.droppingBytes - instance.openBytes, 0)
  }

  /** Makes space for a new segment. Deletes nothing if deleting all candidates would not be enough. @throws SpoolFullError */
  #evict(): void {
    const { root, segmentBytes, maxBytes } = this.#options
    this.#fullError = undefined
    const excess = this.#rootBytes + segmentBytes - maxBytes
    const left = excess > 0 ? this.#candidates() : []
    let freed = 0
    while (freed < excess) {
      // Checked again after a failed deletion.
      if (left.reduce((sum, { bytes }) => sum + bytes, freed) < excess)
        throw new SpoolFullError(SPOOL_MESSAGES.limitReachedByOthers.text(maxBytes, root, this.#rootBytes))
      freed += left.shift()?.evict() ?? 0
    }
    this.#rootBytes -= freed
    this.#isSpaceOwed = false
  }

  /**
   * Order of deletion: dead letters, which were reported and are not sent; then claimed segments; then this instance's
   * own.
   */
  #candidates(): EvictionCandidate[] {
    const { destinations, recovery, instance } = this.#options
    const letters = [...walkFiles(join(destinations[0] as string, DEAD_LETTERS))].toSorted(
      (a, b) => a.modifiedAtMs - b.modifiedAtMs,
    )
    const own = [...instance.segments.values()].filter(({ isComplete }) => isComplete)
    return [
      ...letters.map(({ path, bytes }): EvictionCandidate => ({ bytes, evict: () => (tryUnlink(path) ? bytes : 0) })),
      ...recovery.evictable,
      ...own.map((segment): EvictionCandidate => {
        const size = (): number =>
          [segment.path, toAcknowledgementLogPath(segment.path)].reduce((sum, path) => sum + readSizeOnDisk(path), 0)
        const bytes = size()
        const evict = (): number => {
          this.#drop(segment, 'spool', DROP_MESSAGES.spoolFull.text())
          return bytes - size()
        }
        return { bytes, evict }
      }),
    ]
  }

  /** Entries of the segment that are also in memory are still sent. */
  #drop(segment: Segment, reason: 'spool' | 'age', detail: string): void {
    const entries = this.#options.spilled.forget(segment.number)
    segment.drop()
    if (entries > 0) this.#options.onDropped(entries, reason, detail)
  }
}

/** @returns whether the file was deleted; otherwise the oldest segment is deleted instead */
function tryUnlink(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch {
    return false
  }
}
