/** One writer's folder: its place, its lease, its segments. */
import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../shared/safe-files.js'
import { CLAIMED, LEFT, LIVE, OWNER, isJournal } from './format.js'
import { LEASE_MS, writeOwner } from './owner.js'
import type { Machine } from './owner.js'
import { Segment, SegmentWriter } from './segment.js'
import type { SegmentEvents, WriterOptions } from './segment.js'
import type { Clock } from '../clock.js'

export interface InstanceOptions {
  readonly clock: Clock
  readonly machine: Machine
  readonly isPowerSafe: boolean
}

const NAME_BYTES = 6
const FOLDER_MODE = 0o700
/** Between the two clocks; they drift by far less between two renewals. */
const MAX_JUMP_MS = 5_000

export class Instance {
  /** Of the folder, without what says whether it lives. */
  readonly name: string
  readonly path: string
  readonly #destination: string
  readonly #options: InstanceOptions
  readonly #inode: number
  readonly #segments = new Map<number, Segment>()
  #nextNumber = 1
  /** When the folder was last seen in its place, on the clock that never jumps. */
  #seenAt: number
  #wallSeenAt: number
  #renewals = 0
  #isReleased = false

  /** @param destination the folder of all instances that write for the same service @throws the system's errors, UnsafeError */
  constructor(destination: string, options: InstanceOptions) {
    const { clock, machine, isPowerSafe } = this.#options = options
    this.name = `${Math.trunc(clock.wallNow()).toString(36).padStart(8, '0')}-${randomBytes(NAME_BYTES).toString('hex')}`
    this.#destination = destination
    this.path = join(destination, this.name + LIVE)
    mkdirSync(this.path, { mode: FOLDER_MODE })
    try {
      writeOwner(this.path, machine.self)
      this.#inode = lstatSync(this.path).ino
      if (isPowerSafe) syncFolder(destination)
    } catch (error) {
      // On a full disk each attempt would leave one.
      rmSync(this.path, { recursive: true, force: true })
      throw error
    }
    this.#seenAt = clock.now()
    this.#wallSeenAt = clock.wallNow()
  }

  /** Own segments whose entries are not all settled, and the one that is written to; the oldest first. */
  get segments(): ReadonlyMap<number, Segment> {
    return this.#segments
  }

  get claimedPath(): string {
    return join(this.path, CLAIMED)
  }

  /** @throws the system's errors */
  newSegment(events: SegmentEvents & Pick<WriterOptions, 'onUnsynced'>): SegmentWriter {
    const { clock, isPowerSafe } = this.#options
    const segment = new Segment(this.path, this.#nextNumber, {
      onError: events.onError,
      onRemoved: (removed) => {
        this.#segments.delete(removed.number)
        events.onRemoved?.(removed)
      },
    })
    const writer = new SegmentWriter(segment, { createdAtMs: clock.wallNow(), isPowerSafe, onUnsynced: events.onUnsynced })
    this.#nextNumber += 1
    this.#segments.set(segment.number, segment)
    if (isPowerSafe) syncFolder(this.path)
    return writer
  }

  /** @returns the time of the renewal by the file system's clock @throws the system's errors */
  renew(): number {
    this.#renewals += 1
    return writeOwner(this.path, this.#options.machine.self, this.#renewals)
  }

  /** Whether so much time has passed that the folder may have been claimed meanwhile. */
  get isUncertain(): boolean {
    const { clock } = this.#options
    const passedMs = clock.now() - this.#seenAt
    // A clock that never jumps may also not tell of a machine that slept; the wall clock, set anew, tells others that we are late.
    const jumpedMs = Math.abs(clock.wallNow() - this.#wallSeenAt - passedMs)
    return passedMs > LEASE_MS / 2 || jumpedMs > MAX_JUMP_MS
  }

  /** Looks. False for ever once another instance has claimed the folder. */
  isInPlace(): boolean {
    const { clock } = this.#options
    const now = clock.now()
    const stats = lstatSync(this.path, { throwIfNoEntry: false })
    if (stats?.ino !== this.#inode) return false
    this.#seenAt = now
    this.#wallSeenAt = clock.wallNow()
    return true
  }

  /**
   * Those whose files somebody deleted, though the folder is in its place. By name, since NFS keeps an open file under another one;
   * one by one, since a folder cannot be listed without a file descriptor. @throws the system's errors
   */
  deletedSegments(): Segment[] {
    const deleted = [...this.#segments.values()].filter(({ path }) => lstatSync(path, { throwIfNoEntry: false }) === undefined)
    // After the look: where the whole folder was claimed meanwhile, they are all elsewhere.
    return deleted.length > 0 && this.isInPlace() ? deleted : []
  }

  /** It was claimed: what it had on disk is another's. */
  giveUp(): void {
    this.#isReleased = true
    for (const segment of this.#segments.values()) segment.giveUp()
  }

  /** Ends the writing: an empty folder goes, one with entries is free for whoever comes. @throws the system's errors */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    for (const segment of this.#segments.values()) segment.close()
    if (!this.isInPlace()) return
    if (this.#isEmpty()) rmSync(this.path, { recursive: true, force: true })
    else renameSync(this.path, join(this.#destination, this.name + LEFT))
  }

  #isEmpty(): boolean {
    removeIfEmpty(this.claimedPath)
    return this.#names()?.every((name) => name === OWNER || isJournal(name)) ?? false
  }

  /** In the folder; undefined where it cannot be listed, for now or because it was claimed. */
  #names(): string[] | undefined {
    try {
      return readdirSync(this.path)
    } catch {
      return undefined
    }
  }
}

/** @throws the system's errors, but for a folder that is not there or not empty */
export function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
}
