/** Size and age limits of the root, and what is deleted when one is exceeded. */
import { closeSync, unlinkSync } from 'node:fs'
import { DROP_MESSAGES } from '../../diagnostics/messages.js'
import { join } from 'node:path'
import type { DropReason } from '../../diagnostics/account.js'
import type { Clock } from '../../shared/clock.js'
import { deleteExpired } from './expiry.js'
import type { StrandedEntries } from './expiry.js'
import type { EvictedBatchStore } from '../evicted-batch-store.js'
import { createFile } from '../../shared/safe-files.js'
import { DEAD_LETTERS, REPORTED, toAcknowledgementLogPath } from '../disk-format.js'
import type { InstanceFolder } from '../instance/instance-folder.js'
import { LeaseWatch } from '../instance/ownership.js'
import type { Machine } from '../instance/ownership.js'
import type { Recovery } from '../instance/recovery.js'
import { evict } from './eviction.js'
import type { SpoolFullError, EvictionCandidate } from './eviction.js'
import type { Segment } from '../segment/segment.js'
import { TimeSlicedTask } from '../time-sliced-task.js'
import { readSizeOnDisk, walkFiles, walkSpoolFiles } from '../spool-files.js'
import type { FoundFile } from '../spool-files.js'

export interface SpoolLimitsOptions {
  readonly root: string
  /** Destination folders whose batches are sent, this spool's own first. */
  readonly destinations: readonly string[]
  /** Destination folders of other spools of this process, which apply `maxAgeMs` themselves. */
  readonly siblings?: readonly string[]
  /** Whether other destinations are scanned. Default true. */
  readonly shouldScanOthers?: boolean | undefined
  readonly maxBytes: number
  readonly maxAgeMs: number
  readonly segmentBytes: number
  readonly machine: Machine
  readonly clock: Clock
  /** Milliseconds since the machine's boot. Default: not known. */
  readonly uptimeMs?: () => number
  /** The segment that is being written, and its size in bytes. */
  readonly current: () => { readonly segment: Segment; readonly size: number } | undefined
  readonly ownSegments: () => Iterable<Segment>
  readonly evicted: EvictedBatchStore
  readonly recovery: Recovery
  readonly onError: (error: unknown) => void
  readonly onDropped: (entries: number, reason: DropReason, detail: string) => void
  /** Called with entries of other URLs or keys that no process has reported yet. */
  readonly onStranded: (folders: readonly StrandedEntries[]) => void
  /** Called when entries and dead letters of another URL or key were deleted because of their age. */
  readonly onForeignExpired?: (folder: string, bytes: number) => void
}

/** Minimum number of files summed per turn, more than a spool of the default size has. */
const FILES_AT_ONCE = 200
/** Minimum time between two sums of the file sizes near the limit. */
const MEASURE_MS = 1_000
/** Share of `maxBytes` from which sizes are summed regularly. Lower, by more than one segment, than the lowest share at which entries are refused. */
const MEASURE_FROM = 0.5

export class SpoolLimits {
  readonly #options: SpoolLimitsOptions
  readonly #leases: LeaseWatch
  readonly #reported = new Set<string>()
  readonly #summing: TimeSlicedTask
  readonly #ageing: TimeSlicedTask
  #rootBytes = 0
  #measuredAt = -Infinity
  /** Instance that began a segment before the sum was known. If there is no room, no further segment is begun until there is. */
  #roomWantedFor: InstanceFolder | undefined
  #noRoom: SpoolFullError | undefined

  constructor(options: SpoolLimitsOptions) {
    this.#options = options
    this.#leases = new LeaseWatch(options.clock)
    this.#summing = new TimeSlicedTask(options.clock, FILES_AT_ONCE)
    this.#ageing = new TimeSlicedTask(options.clock)
  }

  /**
   * Bytes in the root as of the last sum, without the segment that is being written. Cheap: sizes are summed at most once a
   * second, and only near the limit. While entries are refused no segment is begun, so nothing else would update the sum.
   */
  get rootBytes(): number {
    const { maxBytes, clock } = this.#options
    if (this.#rootBytes > maxBytes * MEASURE_FROM && clock.now() - this.#measuredAt >= MEASURE_MS) this.#measure()
    return this.#rootBytes
  }

  /** Makes room for a new segment. If summing takes several turns, the segment may begin first and room is made afterwards. @throws NoRoomError */
  ensureSpace(instance: InstanceFolder): void {
    this.#options.recovery.scanning.advance()
    if (this.#summing.isBusy) this.#summing.advance()
    else this.#measure()
    if (!this.#summing.isBusy && !this.#options.recovery.scanning.isBusy) return this.#makeRoom(instance)
    this.#roomWantedFor = instance
    if (this.#noRoom !== undefined) throw this.#noRoom
  }

  /** Drops segments and dead letters older than `maxAgeMs`, in several turns if there are many. */
  deleteExpired(instance: InstanceFolder): void {
    const { clock, maxAgeMs, current, onError } = this.#options
    for (const segment of instance.segments.values()) {
      // Uses the monotonic clock: after a large wall clock correction entries that are minutes old would be dropped.
      const isOld = clock.now() - segment.writtenAtMs > maxAgeMs
      if (segment !== current()?.segment && isOld) this.#drop(segment, 'age', DROP_MESSAGES.tooOld.text(maxAgeMs))
    }
    if (!this.#ageing.isBusy) this.#ageing.run(this.#ageOthers(instance)).catch(onError)
  }

  /** Stops all work: the instance was claimed, or the process ends. */
  stop(): void {
    this.#summing.cancel()
    this.#ageing.cancel()
    this.#roomWantedFor = undefined
  }

  *#ageOthers(instance: InstanceFolder): Generator<unknown> {
    const {
      root,
      destinations,
      siblings,
      shouldScanOthers: looksAtOthers,
      machine,
      clock,
      maxAgeMs,
      uptimeMs = () => Infinity,
      onStranded,
      onForeignExpired: onForeignAged,
    } = this.#options
    const limits = { machine, wallNowMs: clock.wallNow(), maxAgeMs, uptimeMs }
    const stranded: StrandedEntries[] = []
    this.#leases.beginScan(() => instance.renew())
    for (const found of deleteExpired({
      root,
      destinations,
      siblings,
      shouldScanOthers: looksAtOthers,
      leases: this.#leases,
      ...limits,
    })) {
      yield
      if (found === undefined) continue
      const { folder, bytes, expiredBytes: agedBytes } = found
      if (agedBytes > 0) onForeignAged?.(folder, agedBytes)
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
    if (this.#summing.isBusy) return
    this.#measuredAt = this.#options.clock.now()
    this.#summing.run(this.#sum()).then(() => {
      if (this.#roomWantedFor !== undefined) this.#makeRoomAfterSum(this.#roomWantedFor)
    }, this.#options.onError)
  }

  *#sum(): Generator<void> {
    const { root, recovery, current, segmentBytes } = this.#options
    const ours = [...recovery.segments, ...this.#options.ownSegments()]
    let bytes = 0
    for (const file of walkSpoolFiles(root)) {
      bytes += file.bytes
      yield
    }
    // Files deleted during the sum may have been counted. Subtracting them drops too little rather than too much.
    const goneBytes = ours.filter(({ isGone }) => isGone).length * segmentBytes
    this.#rootBytes = Math.max(bytes - goneBytes - recovery.droppingBytes - (current()?.size ?? 0), 0)
  }

  #makeRoomAfterSum(instance: InstanceFolder): void {
    // The claimed segments are not all known yet: retried after the next sum.
    if (this.#options.recovery.scanning.isBusy) return
    try {
      this.#makeRoom(instance)
    } catch (error) {
      this.#noRoom = error as SpoolFullError
    }
  }

  #makeRoom(instance: InstanceFolder): void {
    const { root, segmentBytes, maxBytes } = this.#options
    this.#noRoom = undefined
    const removable = (): EvictionCandidate[] => this.#removable(instance)
    this.#rootBytes -= evict({ root, bytes: this.#rootBytes, needBytes: segmentBytes, maxBytes, removable })
    this.#roomWantedFor = undefined
  }

  /** Dead letters first: they were reported and will not be sent. Then claimed segments, then this instance's own. */
  #removable(instance: InstanceFolder): EvictionCandidate[] {
    const { destinations, recovery, current } = this.#options
    const letters = [...walkFiles(join(destinations[0] as string, DEAD_LETTERS))].toSorted(
      (a, b) => a.modifiedAtMs - b.modifiedAtMs,
    )
    const own = [...instance.segments.values()].filter((segment) => segment !== current()?.segment)
    return [
      ...letters.map((file): EvictionCandidate => ({ bytes: file.bytes, evict: () => removeFile(file) })),
      ...recovery.removable,
      ...own.map((segment) => this.#own(segment)),
    ]
  }

  #own(segment: Segment): EvictionCandidate {
    const bytes = (): number => readSizeOnDisk(segment.path) + readSizeOnDisk(toAcknowledgementLogPath(segment.path))
    return {
      get bytes() {
        return bytes()
      },
      evict: () => {
        const before = bytes()
        this.#drop(segment, 'spool', DROP_MESSAGES.spoolFull.text())
        return before - bytes()
      },
    }
  }

  /** Entries of the segment that are also in memory are still sent. */
  #drop(segment: Segment, reason: 'spool' | 'age', detail: string): void {
    const entries = this.#options.evicted.forget(segment.number)
    segment.drop()
    if (entries > 0) this.#options.onDropped(entries, reason, detail)
  }
}

/** @returns the bytes that were freed */
function removeFile({ path, bytes }: FoundFile): number {
  try {
    unlinkSync(path)
    return bytes
  } catch {
    return 0 // then the oldest segment is deleted
  }
}
