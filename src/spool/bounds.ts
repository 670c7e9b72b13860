/** How much, and for how long: the bounds of the root, and what goes when one is reached. */
import { lstatSync } from 'node:fs'
import type { DropReason } from '../account.js'
import type { Clock } from '../clock.js'
import { age, isOld } from './aging.js'
import type { Evicted } from './evicted.js'
import type { Instance } from './instance.js'
import type { Machine } from './owner.js'
import type { Recovery } from './recovery.js'
import { makeRoom } from './room.js'
import type { Segment } from './segment.js'

export interface BoundsOptions {
  readonly root: string
  /** The folders of the destinations whose batches are sent, the own first. */
  readonly destinations: readonly string[]
  readonly maxBytes: number
  readonly maxAgeMs: number
  readonly segmentBytes: number
  readonly machine: Machine
  readonly clock: Clock
  readonly evicted: Evicted
  readonly recovery: Recovery
  readonly onDropped: (entries: number, reason: DropReason, detail: string) => void
  /** Entries of another URL or key, for the first time. */
  readonly onStranded: (folder: string, bytes: number) => void
}

export class Bounds {
  readonly #options: BoundsOptions
  readonly #stranded = new Set<string>()
  #rootBytes = 0

  constructor(options: BoundsOptions) {
    this.#options = options
  }

  /** Bytes in the root when it was last summed; what was written since is at most a segment. */
  get rootBytes(): number {
    return this.#rootBytes
  }

  /** For a new segment of the instance. @throws NoRoomError */
  makeRoom(instance: Instance): void {
    const { root, destinations, segmentBytes, maxBytes, recovery } = this.#options
    this.#rootBytes = makeRoom({
      root, destination: destinations[0] as string, needBytes: segmentBytes, maxBytes,
      dropOldest: () => recovery.dropOldest() || this.#dropOldest(instance),
    })
  }

  /** Drops what is too old. @param current is written to, and never too old @throws the system's errors */
  age(instance: Instance, current: Segment | undefined): void {
    const { root, destinations, machine, clock, maxAgeMs, onStranded } = this.#options
    const wallNowMs = clock.wallNow()
    for (const segment of instance.segments.values()) {
      const modifiedAtMs = lstatSync(segment.path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
      if (segment !== current && isOld({ modifiedAtMs }, { wallNowMs, maxAgeMs })) this.#drop(segment, 'age', `older than spool.maxAgeMs ${maxAgeMs}`)
    }
    for (const { folder, bytes } of age({ root, destinations, machine, wallNowMs, maxAgeMs })) {
      if (this.#stranded.has(folder)) continue
      this.#stranded.add(folder)
      onStranded(folder, bytes)
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
