/** The folder of one writer: its path, its lease, its segments. */
import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../../shared/safe-files.js'
import { LEFT, LIVE, OWNER, isAcknowledgementLog, isSegment } from '../disk-format.js'
import { LEASE_MS, hasWriterEnded, writeOwner } from './ownership.js'
import type { Machine } from './ownership.js'
import { Segment } from '../segment/segment.js'
import type { SegmentEvents } from '../segment/segment.js'
import { SegmentWriter } from '../segment/segment-writer.js'
import type { SegmentWriterOptions } from '../segment/segment-writer.js'
import { listNames } from '../spool-files.js'
import type { Clock } from '../../shared/clock.js'

export interface InstanceFolderOptions {
  readonly clock: Clock
  readonly machine: Machine
  readonly isPowerSafe: boolean
}

/** Content of an ended instance's folder that became this instance's folder. */
export interface ClaimedInPlace {
  /** The folder's former path. */
  readonly from: string
  readonly segments: readonly string[]
  /** Whether the former owner can no longer write to them. */
  readonly isFinal: boolean
}

/** No blocks, inodes or quota are left. */
const DISK_FULL: readonly unknown[] = ['ENOSPC', 'EDQUOT']
const NAME_BYTES = 6
const FOLDER_MODE = 0o700
/**
 * Difference between the wall clock and the monotonic clock that counts as a jump. Drift between two renewals is far
 * smaller.
 */
const MAX_JUMP_MS = 5_000

export class InstanceFolder {
  /** Name of the folder without its suffix `.live` or `.left`. */
  readonly name: string
  readonly path: string
  readonly #destination: string
  /** Undefined if the folder was created. */
  readonly claimedInPlace: ClaimedInPlace | undefined
  readonly #options: InstanceFolderOptions
  readonly #inode: number
  readonly #segments = new Map<number, Segment>()
  #nextNumber = 1
  /** When the folder was last found at its path, on the monotonic clock. */
  #seenAt: number
  #wallSeenAt: number
  #renewals = 0
  #isReleased = false

  /**
   * @param destination the folder that is shared by all instances with the same service
   * @param findFreeInstance called if the disk is full; finds a folder of an ended instance, which is renamed instead
   * @throws UnsafeError, and errors of the file system
   */
  constructor(destination: string, options: InstanceFolderOptions, findFreeInstance?: () => string | undefined) {
    const { clock, machine, isPowerSafe } = (this.#options = options)
    this.name = `${Math.trunc(clock.wallNow()).toString(36).padStart(8, '0')}-${randomBytes(NAME_BYTES).toString('hex')}`
    this.#destination = destination
    this.path = join(destination, this.name + LIVE)
    try {
      mkdirSync(this.path, { mode: FOLDER_MODE })
      writeOwner(this.path, machine.self)
      if (isPowerSafe) syncFolder(destination)
    } catch (error) {
      // Otherwise each attempt on a full disk would leave an empty folder.
      rmSync(this.path, { recursive: true, force: true })
      const free = DISK_FULL.includes((error as NodeJS.ErrnoException).code) ? findFreeInstance?.() : undefined
      if (free === undefined) throw error
      this.claimedInPlace = this.#claimInPlace(free)
    }
    // Throws if another process has claimed the renamed folder before the new owner was written.
    this.#inode = lstatSync(this.path).ino
    this.#seenAt = clock.now()
    this.#wallSeenAt = clock.wallNow()
  }

  /** @throws the system's errors */
  #claimInPlace(from: string): ClaimedInPlace {
    const { machine } = this.#options
    const isFinal = hasWriterEnded(from, machine)
    renameSync(from, this.path)
    writeOwner(this.path, machine.self)
    const segments = listNames(this.path).filter(isSegment)
    this.#nextNumber = 1 + Number.parseInt(segments.at(-1) ?? '0', 10)
    return { from, segments, isFinal }
  }

  /** Own segments with unsettled entries and the segment being written, oldest first. */
  get segments(): ReadonlyMap<number, Segment> {
    return this.#segments
  }

  /** @throws the system's errors */
  newSegment({
    onError,
    onUnsynced,
  }: Pick<SegmentEvents, 'onError'> & Pick<SegmentWriterOptions, 'onUnsynced'>): SegmentWriter {
    const { clock, isPowerSafe } = this.#options
    const segment = new Segment(this.path, this.#nextNumber, {
      onError,
      onRemoved: ({ number }) => this.#segments.delete(number),
    })
    const writer = new SegmentWriter(segment, { createdAtMs: clock.wallNow(), isPowerSafe, onUnsynced })
    this.#nextNumber += 1
    this.#segments.set(segment.number, segment)
    try {
      if (isPowerSafe) syncFolder(this.path)
    } catch (error) {
      writer.close()
      segment.drop()
      throw error
    }
    return writer
  }

  /** @returns the time of the renewal by the file system's clock @throws the system's errors */
  renew(): number {
    this.#renewals += 1
    return writeOwner(this.path, this.#options.machine.self, this.#renewals)
  }

  /** Whether so much time has passed that the folder may have been claimed. */
  get isUncertain(): boolean {
    const { clock } = this.#options
    const passedMs = clock.now() - this.#seenAt
    // The monotonic clock may stop while the machine sleeps. After a jump of the wall clock, other processes may
    // consider the lease expired.
    const jumpedMs = Math.abs(clock.wallNow() - this.#wallSeenAt - passedMs)
    return passedMs > LEASE_MS / 2 || jumpedMs > MAX_JUMP_MS
  }

  /** Whether the folder still exists at its path. Always false after another instance has claimed it. */
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
   * Segments whose files another process deleted from the existing folder. Checked by name, since NFS renames an open
   * file instead of deleting it; and individually, since listing a folder needs a file descriptor.
   * @throws the system's errors
   */
  deletedSegments(): Segment[] {
    const deleted = [...this.#segments.values()].filter(
      ({ path }) => lstatSync(path, { throwIfNoEntry: false }) === undefined,
    )
    // Checked afterwards, because a claim of the folder moves all its files.
    return deleted.length > 0 && this.isInPlace() ? deleted : []
  }

  /** Called when the folder was claimed. Its segments then belong to another instance. */
  abandon(): void {
    this.#isReleased = true
    for (const segment of this.#segments.values()) segment.abandon()
  }

  /** Closes the instance: deletes an empty folder, or renames one with entries so another process can claim it. @throws the system's errors */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    for (const segment of this.#segments.values()) segment.close()
    if (!this.isInPlace()) return
    try {
      if (removeSettledFolder(this.path)) return
    } catch {
      // The next process claims it.
    }
    renameSync(this.path, join(this.#destination, this.name + LEFT))
  }
}

/** Deletes a folder that contains no segments. @returns whether it was deleted @throws the system's errors */
export function removeSettledFolder(folder: string): boolean {
  if (!readdirSync(folder).every((name) => name === OWNER || isAcknowledgementLog(name))) return false
  rmSync(folder, { recursive: true, force: true })
  return true
}
