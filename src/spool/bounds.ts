/** How much, and for how long: the bounds of the root, and what goes when one is reached. */
import { closeSync } from 'node:fs'
import { join } from 'node:path'
import type { DropReason } from '../account.js'
import type { Clock } from '../clock.js'
import { age } from './aging.js'
import type { Stranded } from './aging.js'
import type { Evicted } from './evicted.js'
import { createFile } from '../shared/safe-files.js'
import { REPORTED } from './format.js'
import type { Instance } from './instance.js'
import { LeaseWatch } from './owner.js'
import type { Machine } from './owner.js'
import type { Recovery } from './recovery.js'
import { makeRoom } from './room.js'
import type { Segment } from './segment.js'
import { bytesBelow } from './usage.js'

export interface BoundsOptions {
  readonly root: string
  /** The folders of the destinations whose batches are sent, the own first. */
  readonly destinations: readonly string[]
  /** Of other spools of this process, which age what is theirs. */
  readonly siblings?: readonly string[]
  /** Default true. */
  readonly looksAtOthers?: boolean | undefined
  readonly maxBytes: number
  readonly maxAgeMs: number
  readonly segmentBytes: number
  readonly machine: Machine
  readonly clock: Clock
  /** Since the machine's boot. Default: not known. */
  readonly uptimeMs?: () => number
  /** Bytes of the segment that is written to. Default 0. */
  readonly currentBytes?: () => number
  readonly evicted: Evicted
  readonly recovery: Recovery
  readonly onDropped: (entries: number, reason: DropReason, detail: string) => void
  /** Entries of other URLs or keys, which no process has reported yet. */
  readonly onStranded: (folders: readonly Stranded[]) => void
  /** Entries and dead letters of another URL or key were too old, and are deleted. */
  readonly onForeignAged?: (folder: string, bytes: number) => void
}

/** The files are summed again after this time, where it may matter. */
const MEASURE_MS = 1_000
/** Of `maxBytes`: below the least share at which entries are refused, by more than a segment. */
const MEASURE_FROM = 0.5

export class Bounds {
  readonly #options: BoundsOptions
  readonly #leases: LeaseWatch
  readonly #reported = new Set<string>()
  /** When an own segment was seen to be written to, the latest, on the clock that never jumps. */
  readonly #writtenAt = new WeakMap<Segment, number>()
  /** The newest, when a new one was wanted: it is written to no more. */
  #ended: Segment | undefined
  #rootBytes = 0
  #measuredAt = -Infinity

  constructor(options: BoundsOptions) {
    this.#options = options
    this.#leases = new LeaseWatch(options.clock)
  }

  /**
   * Bytes in the root but for the segment that is written to, when it was last summed. Cheap: it is summed again at most
   * once a second, and only while it is near its bound: who is refused for it begins no segment, and would never sum it.
   */
  get rootBytes(): number {
    const { root, maxBytes, clock, currentBytes } = this.#options
    if (this.#rootBytes > maxBytes * MEASURE_FROM && clock.now() - this.#measuredAt >= MEASURE_MS) {
      try {
        this.#measured(Math.max(bytesBelow(root) - (currentBytes?.() ?? 0), 0))
      } catch {
        this.#measured(this.#rootBytes) // no folder can be listed for now
      }
    }
    return this.#rootBytes
  }

  /** For a new segment of the instance. @throws NoRoomError */
  makeRoom(instance: Instance): void {
    const { root, destinations, segmentBytes, maxBytes, recovery } = this.#options
    const newest = [...instance.segments.values()].at(-1)
    // Only once: where there is no room, this is tried again and again.
    this.#noteWritten(instance, newest === this.#ended ? undefined : newest)
    this.#ended = newest
    this.#measured(makeRoom({
      root, destination: destinations[0] as string, needBytes: segmentBytes, maxBytes,
      ours: () => [...recovery.segments, ...instance.segments.values()].map(({ path }) => path),
      dropOldest: () => recovery.dropOldest() || this.#dropOldest(instance),
    }))
  }

  /** Drops what is too old. @param current is written to, and never too old @throws the system's errors */
  age(instance: Instance, current: Segment | undefined): void {
    const { root, destinations, siblings, looksAtOthers, machine, clock, maxAgeMs, uptimeMs = () => Infinity, onStranded, onForeignAged } = this.#options
    this.#noteWritten(instance, current)
    for (const segment of instance.segments.values()) {
      // By this clock: the wall clock may be corrected by more than the bound, and what is minutes old would go.
      const isOld = clock.now() - (this.#writtenAt.get(segment) ?? Infinity) > maxAgeMs
      if (segment !== current && isOld) this.#drop(segment, 'age', `older than spool.maxAgeMs ${maxAgeMs}`)
    }
    const limits = { machine, wallNowMs: clock.wallNow(), maxAgeMs, uptimeMs }
    const stranded: Stranded[] = []
    this.#leases.begin(() => instance.renew())
    for (const { folder, bytes, agedBytes } of age({ root, destinations, siblings, looksAtOthers, leases: this.#leases, ...limits })) {
      if (agedBytes > 0) onForeignAged?.(folder, agedBytes)
      if (bytes > 0 && this.#markReported(folder)) stranded.push({ folder, bytes, agedBytes })
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

  #measured(bytes: number): void {
    this.#rootBytes = bytes
    this.#measuredAt = this.#options.clock.now()
  }

  /** @param newest was written to until now; others count from when they were first seen */
  #noteWritten(instance: Instance, newest: Segment | undefined): void {
    const now = this.#options.clock.now()
    for (const segment of instance.segments.values()) {
      if (segment === newest || !this.#writtenAt.has(segment)) this.#writtenAt.set(segment, now)
    }
  }

  #dropOldest(instance: Instance): boolean {
    const [oldest] = instance.segments.values()
    if (oldest === undefined) return false
    this.#drop(oldest, 'spool', `spool.maxBytes ${this.#options.maxBytes} is full, the oldest segment went`)
    return true
  }

  /** What of it is in memory is still sent. */
  #drop(segment: Segment, reason: 'spool' | 'age', detail: string): void {
    const entries = this.#options.evicted.forget(segment.number)
    segment.drop()
    if (entries > 0) this.#options.onDropped(entries, reason, detail)
  }
}
