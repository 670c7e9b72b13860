/** How much, and for how long: the bounds of the root, and what goes when one is reached. */
import { closeSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { DropReason } from '../account.js'
import type { Clock } from '../clock.js'
import { age } from './aging.js'
import type { Stranded } from './aging.js'
import type { Evicted } from './evicted.js'
import { createFile } from '../shared/safe-files.js'
import { DEAD_LETTERS, REPORTED, journalOf } from './format.js'
import type { Instance } from './instance.js'
import { LeaseWatch } from './owner.js'
import type { Machine } from './owner.js'
import type { Recovery } from './recovery.js'
import { makeRoom } from './room.js'
import type { NoRoomError, Removable } from './room.js'
import type { Segment } from './segment.js'
import { Turns } from './turns.js'
import { bytesOf, filesBelow, spoolFiles } from './usage.js'
import type { FoundFile } from './usage.js'

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
  /** The segment that is written to, and its bytes. */
  readonly current: () => { readonly segment: Segment, readonly size: number } | undefined
  readonly ownSegments: () => Iterable<Segment>
  readonly evicted: Evicted
  readonly recovery: Recovery
  readonly onError: (error: unknown) => void
  readonly onDropped: (entries: number, reason: DropReason, detail: string) => void
  /** Entries of other URLs or keys, which no process has reported yet. */
  readonly onStranded: (folders: readonly Stranded[]) => void
  /** Entries and dead letters of another URL or key were too old, and are deleted. */
  readonly onForeignAged?: (folder: string, bytes: number) => void
}

/** At least so many files are summed in a turn: more than a spool of the default size has. */
const FILES_AT_ONCE = 200
/** The files are summed again after this time, where it may matter. */
const MEASURE_MS = 1_000
/** Of `maxBytes`: below the least share at which entries are refused, by more than a segment. */
const MEASURE_FROM = 0.5

export class Bounds {
  readonly #options: BoundsOptions
  readonly #leases: LeaseWatch
  readonly #reported = new Set<string>()
  readonly #summing: Turns
  readonly #ageing: Turns
  #rootBytes = 0
  #measuredAt = -Infinity
  /** While many files were summed a segment was begun: where there is no room, none is begun until there is. */
  #wantedBy: Instance | undefined
  #noRoom: NoRoomError | undefined

  constructor(options: BoundsOptions) {
    this.#options = options
    this.#leases = new LeaseWatch(options.clock)
    this.#summing = new Turns(options.clock, FILES_AT_ONCE)
    this.#ageing = new Turns(options.clock)
  }

  /**
   * Bytes in the root but for the segment that is written to, when it was last summed. Cheap: it is summed again at most
   * once a second, and only while it is near its bound: who is refused for it begins no segment, and would never sum it.
   */
  get rootBytes(): number {
    const { maxBytes, clock } = this.#options
    if (this.#rootBytes > maxBytes * MEASURE_FROM && clock.now() - this.#measuredAt >= MEASURE_MS) this.#measure()
    return this.#rootBytes
  }

  /** For a new segment of the instance. Where many files are to be summed it may begin before, and room is made then. @throws NoRoomError */
  makeRoom(instance: Instance): void {
    this.#measure()
    if (!this.#summing.isBusy && !this.#options.recovery.scanning.isBusy) return this.#makeRoom(instance)
    this.#wantedBy = instance
    if (this.#noRoom !== undefined) throw this.#noRoom
  }

  /** Drops what is too old, in turns where there is much. */
  age(instance: Instance): void {
    const { clock, maxAgeMs, current, onError } = this.#options
    for (const segment of instance.segments.values()) {
      // By this clock: the wall clock may be corrected by more than the bound, and what is minutes old would go.
      const isOld = clock.now() - segment.writtenAtMs > maxAgeMs
      if (segment !== current()?.segment && isOld) this.#drop(segment, 'age', `older than spool.maxAgeMs ${maxAgeMs}`)
    }
    if (!this.#ageing.isBusy) this.#ageing.run(this.#ageOthers(instance)).catch(onError)
  }

  /** The instance is another's, or the process ends. */
  stop(): void {
    this.#summing.cancel()
    this.#ageing.cancel()
    this.#wantedBy = undefined
  }

  *#ageOthers(instance: Instance): Generator<unknown> {
    const { root, destinations, siblings, looksAtOthers, machine, clock, maxAgeMs, uptimeMs = () => Infinity, onStranded, onForeignAged } = this.#options
    const limits = { machine, wallNowMs: clock.wallNow(), maxAgeMs, uptimeMs }
    const stranded: Stranded[] = []
    this.#leases.begin(() => instance.renew())
    for (const found of age({ root, destinations, siblings, looksAtOthers, leases: this.#leases, ...limits })) {
      yield
      if (found === undefined) continue
      const { folder, bytes, agedBytes } = found
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
      if (this.#wantedBy !== undefined) this.#makeWanted(this.#wantedBy)
    }, this.#options.onError)
  }

  *#sum(): Generator<void> {
    const { root, recovery, current, segmentBytes } = this.#options
    const ours = [...recovery.segments, ...this.#options.ownSegments()]
    let bytes = 0
    for (const file of spoolFiles(root)) {
      bytes += file.bytes
      yield
    }
    // What was deleted meanwhile may have been summed before: rather too little is dropped than too much.
    const goneBytes = ours.filter(({ isGone }) => isGone).length * segmentBytes
    this.#rootBytes = Math.max(bytes - goneBytes - recovery.droppingBytes - (current()?.size ?? 0), 0)
  }

  #makeWanted(instance: Instance): void {
    // What is ours is not known yet: tried again after the next sum.
    if (this.#options.recovery.scanning.isBusy) return
    try {
      this.#makeRoom(instance)
    } catch (error) {
      this.#noRoom = error as NoRoomError
    }
  }

  #makeRoom(instance: Instance): void {
    const { root, segmentBytes, maxBytes } = this.#options
    this.#noRoom = undefined
    const removable = (): Removable[] => this.#removable(instance)
    this.#rootBytes -= makeRoom({ root, bytes: this.#rootBytes, needBytes: segmentBytes, maxBytes, removable })
    this.#wantedBy = undefined
  }

  /** What the service refused goes first: nobody waits for it, and it was reported. Then what the dead left, and one's own. */
  #removable(instance: Instance): Removable[] {
    const { destinations, recovery, current } = this.#options
    const letters = [...filesBelow(join(destinations[0] as string, DEAD_LETTERS))].toSorted((a, b) => a.modifiedAtMs - b.modifiedAtMs)
    const own = [...instance.segments.values()].filter((segment) => segment !== current()?.segment)
    return [
      ...letters.map((file): Removable => ({ bytes: file.bytes, remove: () => removeFile(file) })),
      ...recovery.removable,
      ...own.map((segment) => this.#own(segment)),
    ]
  }

  #own(segment: Segment): Removable {
    const bytes = (): number => bytesOf(segment.path) + bytesOf(journalOf(segment.path))
    return { get bytes() { return bytes() }, remove: () => {
      const before = bytes()
      this.#drop(segment, 'spool', `spool.maxBytes ${this.#options.maxBytes} is full, the oldest segment went`)
      return before - bytes()
    } }
  }

  /** What of it is in memory is still sent. */
  #drop(segment: Segment, reason: 'spool' | 'age', detail: string): void {
    const entries = this.#options.evicted.forget(segment.number)
    segment.drop()
    if (entries > 0) this.#options.onDropped(entries, reason, detail)
  }
}

/** @returns the bytes that went */
function removeFile({ path, bytes }: FoundFile): number {
  try {
    unlinkSync(path)
    return bytes
  } catch {
    return 0 // then the oldest segment goes
  }
}
