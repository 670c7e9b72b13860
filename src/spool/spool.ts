/** The disk store of one pipeline: its folders, its limits, and the fallback to memory. */
import { rmSync } from 'node:fs'
import { DROP_MESSAGES } from '../diagnostics/messages.js'
import { join, resolve } from 'node:path'
import type { DropReason } from '../diagnostics/account.js'
import type { UnreportedDrops } from '../diagnostics/account.js'
import type { DeadLetter } from '../batch/sender.js'
import { readSystemUptimeMs } from './retention/expiry.js'
import { SpoolLimits } from './retention/spool-limits.js'
import { DeadLetterFile } from './dead-letter-file.js'
import { writeDropCounts } from './instance/drop-counts.js'
import { EvictedBatchStore } from './evicted-batch-store.js'
import { isOwnFolder } from '../shared/safe-folders.js'
import { REPORTED } from './disk-format.js'
import { InstanceFolder } from './instance/instance-folder.js'
import { RENEW_MS, readMachine } from './instance/ownership.js'
import type { Machine } from './instance/ownership.js'
import { Recovery } from './instance/recovery.js'
import { PeriodicTasks } from './periodic-tasks.js'
import { FULL_SEGMENT_BYTES } from './segment/segment.js'
import type { SegmentWriter } from './segment/segment.js'
import type { SpoolOptions } from './spool-options.js'
import { SpoolReporter } from './spool-reporter.js'
import { defaultRoot, destinationName, ensureDestination } from './spool-root.js'
import { WriteAheadLog } from './write-ahead-log.js'

export type { SpoolOptions } from './spool-options.js'

const MIN_SEGMENT_BYTES = 64 * 1024
/** Small enough that dropping one is not dropping all. */
const SEGMENTS_IN_ROOT = 16
export class Spool {
  readonly log: WriteAheadLog
  readonly evicted: EvictedBatchStore
  readonly recovery: Recovery
  readonly #options: SpoolOptions
  readonly #telling: SpoolReporter
  readonly #machine: Machine
  readonly #root: string
  readonly #isPowerSafe: boolean
  readonly #destination: string
  readonly #bounds: SpoolLimits
  readonly #rounds: PeriodicTasks
  #instance: InstanceFolder | undefined
  #deadLetters: DeadLetterFile | undefined
  /** Entries on disk that this process will not send any more. */
  #keptEntries = 0

  constructor(options: SpoolOptions) {
    this.#options = options
    const telling = (this.#telling = new SpoolReporter(options.report))
    this.#machine = options.machine ?? readMachine()
    this.#isPowerSafe = options.durability === 'power'
    this.#root = options.dir === undefined ? defaultRoot() : resolve(options.dir)
    const {
      url,
      apiKey,
      previousApiKeys = [],
      siblingUrls = [],
      shouldScanOthers: looksAtOthers,
      clock,
      maxBytes,
      maxAgeMs,
    } = options
    const foldersFor = (to: string): string[] =>
      [apiKey, ...previousApiKeys].map((key) => join(this.#root, destinationName(to, key)))
    const destinations = foldersFor(url)
    this.#destination = destinations[0] as string
    const segmentBytes = Math.min(
      FULL_SEGMENT_BYTES,
      Math.max(MIN_SEGMENT_BYTES, Math.floor(maxBytes / SEGMENTS_IN_ROOT)),
    )
    const onError = (error: unknown): void => telling.error(error)
    const onDropped = (entries: number, reason: DropReason, detail: string): void => this.#drop(entries, reason, detail)
    const limits = {
      machine: this.#machine,
      clock,
      maxAgeMs,
      uptimeMs: options.machine === undefined ? readSystemUptimeMs : () => Infinity,
    }
    this.evicted = new EvictedBatchStore({
      segments: () => this.#instance?.segments ?? new Map(),
      endOf: (number) => (this.log.current?.segment.number === number ? this.log.current.size : Infinity),
      onDropped,
      onError: (error) => telling.readFailed(error),
    })
    this.recovery = new Recovery({
      destinations,
      ...limits,
      onError,
      onRecovered: (entries) => {
        options.account.recovered += entries
      },
      onDropped,
      onForeign: (path) => telling.foreignVersion(path),
      onPreviousDrops: options.onPreviousDrops,
    })
    this.log = new WriteAheadLog({
      clock,
      segmentBytes,
      segmentAgeMs: maxAgeMs / SEGMENTS_IN_ROOT,
      instance: () => this.#ensureInstance(),
      newSegment: () => this.#newSegment(),
      onClaimed: () => this.#onClaimed(),
      onFailure: (error) => telling.writeFailed(error),
      onSuccess: () => telling.writeResumed(),
    })
    this.#bounds = new SpoolLimits({
      root: this.#root,
      destinations,
      siblings: siblingUrls.flatMap(foldersFor),
      shouldScanOthers: looksAtOthers,
      maxBytes,
      segmentBytes,
      ...limits,
      current: () => this.log.current,
      ownSegments: () => this.#instance?.segments.values() ?? [],
      evicted: this.evicted,
      recovery: this.recovery,
      onError: (error) => telling.writeFailed(error),
      onDropped,
      onForeignExpired: (folder, bytes) => telling.foreignExpired(folder, bytes),
      onStranded: (folders) => telling.stranded(folders),
    })
    this.#rounds = new PeriodicTasks({
      clock,
      renewMs: RENEW_MS,
      isPowerSafe: this.#isPowerSafe,
      renew: () => this.#renew(),
      scan: () => this.#scan(),
      sync: () => this.log.sync(),
    })
  }

  /** Starts, and claims what ended processes left. Never throws. */
  start(): void {
    this.#scan()
    this.#rounds.start()
  }

  /** Entries on disk that are neither in the queue nor with a sender. */
  get pendingEntries(): number {
    return this.evicted.entries + this.recovery.readyEntries + this.#keptEntries
  }

  /** Entries on disk whose outcome another process will record. */
  get retainedEntries(): number {
    return this.#keptEntries
  }

  /** Share of `maxBytes` in use. 0 while no own entries wait on disk: then it is others that fill the spool. */
  get usedShare(): number {
    if (this.evicted.entries === 0) return 0
    return (this.#bounds.rootBytes + (this.log.current?.size ?? 0)) / this.#options.maxBytes
  }

  /** Writes rejected entries to the dead letters. Never throws. */
  writeDeadLetters(letters: readonly DeadLetter[]): void {
    try {
      const { name } = this.#ensureInstance()
      this.#deadLetters ??= new DeadLetterFile(this.#destination, name, {
        wallNow: () => this.#options.clock.wallNow(),
        isPowerSafe: this.#isPowerSafe,
      })
      this.#deadLetters.write(letters)
    } catch (error) {
      this.#telling.deadLettersFailed(letters.length, error)
    }
  }

  /** Replaces the saved counts; undefined deletes them. Never throws. */
  saveDropCounts(drops: UnreportedDrops | undefined): void {
    try {
      if (this.#instance?.isInPlace() === false) this.log.relocate()
      writeDropCounts(this.#ensureInstance().path, drops)
    } catch (error) {
      this.#telling.dropCountsFailed(error)
    }
  }

  /** Closes the spool. Unsettled entries stay for the next start. Never throws. */
  close(): void {
    this.#rounds.stop()
    try {
      this.#dropDeletedSegments()
      this.#keepRest('shutdown')
      this.recovery.close()
      this.#bounds.stop()
      this.log.close()
      this.#instance?.release()
    } catch (error) {
      this.#telling.error(error)
    }
    this.#instance = undefined
  }

  #ensureInstance(): InstanceFolder {
    if (this.#instance !== undefined) return this.#instance
    const { dir, clock } = this.#options
    const isPowerSafe = this.#isPowerSafe
    ensureDestination(this.#root, this.#destination, { isNamed: dir !== undefined, isPowerSafe })
    // Entries of this destination are sent from now on; if some are stranded later, they are reported again.
    rmSync(join(this.#destination, REPORTED), { force: true })
    return (this.#instance = new InstanceFolder(this.#destination, { clock, machine: this.#machine, isPowerSafe }))
  }

  #newSegment(): SegmentWriter {
    const instance = this.#ensureInstance()
    this.#bounds.ensureSpace(instance)
    return instance.newSegment({
      onError: (error) => this.#telling.error(error),
      onUnsynced: (error) => this.#telling.syncFailed(error),
    })
  }

  #renew(): void {
    if (this.evicted.retry()) this.#options.onFound()
    try {
      if (this.#instance === undefined) return
      if (!this.#instance.isInPlace()) return this.log.relocate()
      this.#dropDeletedSegments()
      for (const { acknowledgements: journal } of [...this.#instance.segments.values(), ...this.recovery.segments])
        journal.flush()
      // Last: it needs a file descriptor.
      this.#instance.renew()
    } catch (error) {
      this.#telling.error(error)
    }
  }

  /** Drops segments whose files another process deleted. Entries in memory are still sent; entries that were only on disk are lost. */
  #dropDeletedSegments(): void {
    try {
      for (const segment of this.#instance?.deletedSegments() ?? []) {
        const entries = this.evicted.forget(segment.number)
        segment.drop()
        this.log.abandonSegment(segment)
        this.#drop(entries, 'damaged', DROP_MESSAGES.segmentDeleted.text(segment.path))
      }
    } catch (error) {
      this.#telling.error(error)
    }
  }

  #scan(): void {
    this.#renew()
    try {
      const instance = this.#ensureInstance()
      void this.recovery.scan(instance, () => this.recovery.hasMore && this.#options.onFound())
      this.#bounds.deleteExpired(instance)
    } catch (error) {
      this.#telling.writeFailed(error)
    }
  }

  #onClaimed(): void {
    // A claim keeps the destination's folder; a cleanup deletes it.
    const isElsewhere = isOwnFolder(this.#destination)
    this.#instance?.abandon()
    this.#instance = undefined
    this.#deadLetters = undefined
    const entries = isElsewhere ? this.#keepRest('spool') : this.#loseRest()
    this.recovery.abandon()
    this.#bounds.stop()
    if (isElsewhere) this.#telling.claimed(entries)
  }

  /** Another process deleted the folder. @returns the entries that were only on disk */
  #loseRest(): number {
    const entries = this.evicted.forgetAll() + this.recovery.readyEntries
    this.recovery.forgetReady()
    this.#drop(entries, 'damaged', DROP_MESSAGES.folderDeleted.text(this.#destination))
    return entries
  }

  /** Entries that are only on disk stay there. @returns their number */
  #keepRest(reason: DropReason): number {
    const loose = this.recovery.memoryOnlyEntries
    const kept = this.evicted.forgetAll() + this.recovery.readyEntries - loose
    this.recovery.forgetReady()
    this.#keptEntries += kept
    if (loose > 0) this.#drop(loose, reason, DROP_MESSAGES.evictedWhileWaiting.text())
    return kept
  }

  #drop(entries: number, reason: DropReason, detail: string): void {
    if (entries === 0) return this.#options.report.problem(detail)
    this.#options.account.dropped[reason] += entries
    this.#options.report.dropped(entries, reason, detail)
  }
}
