/** The disk store of one pipeline: its folders, its limits, and the fallback to memory. */
import { closeSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DeadLetter } from '../batch/batch.js'
import type { Account, DropReason } from '../diagnostics/account.js'
import { DROP_MESSAGES } from '../diagnostics/messages.js'
import { findStartFolder } from '../options/app-package.js'
import type { Clock } from '../shared/clock.js'
import { createFile } from '../shared/safe-files.js'
import { isOwnFolder } from '../shared/safe-folders.js'
import { DeadLetterFile } from './dead-letter-file.js'
import { describeDestination } from './destination-file.js'
import { REPORTED } from './disk-format.js'
import { SpilledBatchStore } from './spilled-batch-store.js'
import { CurrentInstance } from './instance/current-instance.js'
import { RENEW_MS, readMachine } from './instance/ownership.js'
import type { Machine } from './instance/ownership.js'
import { Recovery } from './recovery.js'
import { PeriodicTasks } from './periodic-tasks.js'
import { SpoolLimits } from './spool-limits.js'
import { FULL_SEGMENT_BYTES } from './segment/segment.js'
import { SpoolReporter } from './spool-reporter.js'
import type { SpoolReports } from './spool-reporter.js'
import {
  addReplacedDestinations,
  findDefaultRoot,
  nameDestination,
  nameKeyRejected,
  nameKeyReplaced,
} from './spool-root.js'
import { WriteAheadLog } from './write-ahead-log.js'

const SCAN_MS = 15_000
/** Interval of synchronizing with `durability: 'power'`: a power failure loses at most the entries of this time. */
const SYNC_MS = 1_000
const MIN_SEGMENT_BYTES = 64 * 1024
/** Minimum number of segments in the root, so dropping one segment does not drop most entries. */
const SEGMENTS_IN_ROOT = 16

export interface SpoolOptions {
  /** Default: a folder per user in the system's folder for temporary files. */
  readonly dir?: string | undefined
  /** Size limit of the whole root. */
  readonly maxBytes: number
  readonly maxAgeMs: number
  readonly durability: 'process' | 'power'
  readonly url: string
  /** Shown with the destination by the command line. */
  readonly service?: string | undefined
  readonly apiKey: string
  /** Batches written under these keys are also sent. */
  readonly previousApiKeys?: readonly string[]
  /** URLs of other spools of this process, which send their own entries. */
  readonly siblingUrls?: readonly string[] | undefined
  /** Whether entries of other URLs and keys are expired and reported. Default true. */
  readonly shouldScanOthers?: boolean | undefined
  readonly clock: Clock
  readonly account: Account
  readonly report: SpoolReports
  /** Called when there may be new entries to send. */
  readonly onFound: () => void
  readonly machine?: Machine
}

export class Spool {
  readonly log: WriteAheadLog
  readonly spilled: SpilledBatchStore
  readonly recovery: Recovery
  readonly #options: SpoolOptions
  readonly #reporter: SpoolReporter
  readonly #root: string
  readonly #destination: string
  /** Folders whose batches this spool, and the other spools of this process, send. Both grow. */
  readonly #destinations: string[]
  readonly #siblings: string[]
  /** Folder of the key that replaced `apiKey`. */
  #replacement: string | undefined
  readonly #instance: CurrentInstance
  readonly #limits: SpoolLimits
  readonly #tasks: PeriodicTasks
  #deadLetters: DeadLetterFile | undefined
  #retainedEntries = 0
  #mayClaim = (): boolean => true

  constructor(options: SpoolOptions) {
    const { dir, url, apiKey, previousApiKeys = [], siblingUrls = [], shouldScanOthers = true, ...given } = options
    const { account, clock, machine = readMachine(), maxAgeMs, maxBytes } = given
    this.#options = options
    const root = dir === undefined ? findDefaultRoot() : resolve(findStartFolder(), dir)
    const reporter = new SpoolReporter(options.report, root)
    const foldersFor = (to: string): string[] =>
      [apiKey, ...previousApiKeys].map((key) => join(root, nameDestination(to, key)))
    const destinations = foldersFor(url)
    const siblings = siblingUrls.flatMap(foldersFor)
    const destination = destinations[0] as string
    const segmentBytes = Math.min(
      FULL_SEGMENT_BYTES,
      Math.max(MIN_SEGMENT_BYTES, Math.floor(maxBytes / SEGMENTS_IN_ROOT)),
    )
    const instance = new CurrentInstance({
      root,
      isNamed: dir !== undefined,
      destination,
      description: describeDestination(options, [apiKey, ...previousApiKeys]),
      markers: [REPORTED, nameKeyRejected(url)],
      clock,
      machine,
      isPowerSafe: this.#isPowerSafe,
    })
    const onError = (error: unknown): void => reporter.error(error)
    const onDropped = (entries: number, reason: DropReason, detail: string): void =>
      drop(options, entries, reason, detail)
    this.#reporter = reporter
    this.#root = root
    this.#destination = destination
    this.#destinations = destinations
    this.#siblings = siblings
    this.#instance = instance
    this.#tasks = new PeriodicTasks(clock)
    this.spilled = new SpilledBatchStore({
      instance,
      onDropped,
      onError: (error) => reporter.error(error, 'notReadable'),
    })
    this.recovery = new Recovery({
      destinations,
      machine,
      clock,
      maxAgeMs,
      onError,
      onDropped,
      onRecovered: (entries) => {
        account.recovered += entries
      },
      onForeign: (path) => reporter.foreignVersion(path),
    })
    this.#limits = new SpoolLimits({
      root,
      destinations,
      siblings,
      rejectedMarkers: [url, ...siblingUrls].map(nameKeyRejected),
      shouldScanOthers,
      maxBytes,
      maxAgeMs,
      segmentBytes,
      machine,
      clock,
      instance,
      spilled: this.spilled,
      recovery: this.recovery,
      onDropped,
      onError: (error) => reporter.writeFailed(error),
      onForeignExpired: (folder, bytes) => reporter.foreignExpired(folder, bytes),
      onStranded: (folders) => reporter.stranded(folders),
    })
    this.log = new WriteAheadLog({
      clock,
      instance,
      segmentBytes,
      segmentAgeMs: maxAgeMs / SEGMENTS_IN_ROOT,
      newSegment: () => {
        this.#limits.ensureSpace()
        return instance
          .ensure()
          .newSegment({ onError, onUnsynced: (error) => reporter.error(error, 'notSynchronized') })
      },
      onClaimed: () => this.#onClaimed(),
      onFailure: (error) => reporter.writeFailed(error),
      onSuccess: () => reporter.writeResumed(),
    })
  }

  /**
   * Starts, and claims entries of exited processes. Never throws.
   * @param mayClaim false while this process would not send them, so that they are left to others
   */
  start(mayClaim: () => boolean = () => true): void {
    this.#mayClaim = mayClaim
    this.#scan()
    this.#tasks.every(RENEW_MS, () => this.#renew())
    this.#tasks.every(SCAN_MS, () => this.#scan())
    if (this.#isPowerSafe) this.#tasks.every(SYNC_MS, () => this.log.sync())
  }

  get #isPowerSafe(): boolean {
    return this.#options.durability === 'power'
  }

  /** Entries on disk that are neither queued nor in flight. */
  get pendingEntries(): number {
    return this.spilled.entries + this.recovery.readyEntries + this.#retainedEntries
  }

  /** Entries on disk that this process will no longer send; another process records their outcome. */
  get retainedEntries(): number {
    return this.#retainedEntries
  }

  /** Share of `maxBytes` in use. 0 while no own entries wait on disk, because other processes then fill the spool. */
  get usedShare(): number {
    if (this.spilled.entries === 0) return 0
    return (this.#limits.rootBytes + (this.log.current?.segment.writtenBytes ?? 0)) / this.#options.maxBytes
  }

  /** Writes rejected entries to the dead letters. Never throws. */
  writeDeadLetters(letters: readonly DeadLetter[]): void {
    const { clock, maxAgeMs } = this.#options
    try {
      const { name } = this.#instance.ensure()
      this.#deadLetters ??= new DeadLetterFile(this.#destination, name, {
        clock,
        maxFileAgeMs: maxAgeMs / SEGMENTS_IN_ROOT,
        isPowerSafe: this.#isPowerSafe,
      })
      this.#deadLetters.write(letters)
    } catch (error) {
      this.#reporter.deadLettersFailed(letters.length, error)
    }
  }

  /** Lets processes with another key report what this one leaves on disk without waiting. Never throws. */
  markKeyRejected(): void {
    this.#createMarker(nameKeyRejected(this.#options.url))
  }

  /** Never throws. */
  unmarkKeyRejected(): void {
    if (this.#instance.folder === undefined) return
    try {
      rmSync(join(this.#destination, nameKeyRejected(this.#options.url)), { force: true })
    } catch (error) {
      this.#reporter.error(error)
    }
  }

  /**
   * Called when this process sends with another key than `apiKey`. It continues to write to its folder. It also sends
   * what is stored under the new key, and processes with the new key send what it leaves, as with `previousApiKeys`.
   * Never throws.
   */
  replaceKey(apiKey: string): void {
    const { url, siblingUrls = [] } = this.#options
    const folderFor = (to: string): string => join(this.#root, nameDestination(to, apiKey))
    this.#replacement = folderFor(url)
    this.#destinations.push(this.#replacement)
    this.#siblings.push(...siblingUrls.map(folderFor))
    this.#markReplaced()
  }

  #markReplaced(): void {
    if (this.#replacement !== undefined) this.#createMarker(nameKeyReplaced(this.#replacement))
  }

  #createMarker(name: string): void {
    if (this.#instance.folder === undefined) return // no entries are left on disk
    try {
      closeSync(createFile(join(this.#destination, name)))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') this.#reporter.error(error)
    }
  }

  /** Closes the spool. Unsettled entries stay for the next start. Never throws. */
  close(): void {
    this.#tasks.stop()
    try {
      this.#dropDeletedSegments()
      this.#retainRest('shutdown')
      this.recovery.close()
      this.#limits.stop()
      this.log.close()
      this.#instance.folder?.release()
    } catch (error) {
      this.#reporter.error(error)
    }
    this.#instance.clear()
  }

  #renew(): void {
    if (this.spilled.retry()) this.#options.onFound()
    const { folder } = this.#instance
    try {
      if (folder === undefined) return
      if (!folder.isInPlace()) return this.log.relocate()
      this.#dropDeletedSegments()
      for (const { acknowledgements } of [...folder.segments.values(), ...this.recovery.segments])
        acknowledgements.flush()
      // Last, because it needs a file descriptor.
      folder.renew()
    } catch (error) {
      this.#reporter.error(error)
    }
  }

  /** Drops segments whose files another process deleted. Entries in memory are still sent; entries that were only on disk are lost. */
  #dropDeletedSegments(): void {
    try {
      for (const segment of this.#instance.folder?.deletedSegments() ?? []) {
        const entries = this.spilled.forget(segment.number)
        segment.drop()
        this.log.abandonSegment(segment)
        drop(this.#options, entries, 'damaged', DROP_MESSAGES.filesDeleted.text(segment.path))
      }
    } catch (error) {
      this.#reporter.error(error)
    }
  }

  #scan(): void {
    this.#renew()
    try {
      const { onFound } = this.#options
      for (const folders of [this.#destinations, this.#siblings]) addReplacedDestinations(this.#root, folders)
      // Before the claim, because on a full disk it may free the space for this process's folder.
      this.#limits.deleteExpired()
      if (this.#mayClaim()) {
        const instance = this.#instance.ensure(() => this.recovery.claims.findFreeInstance())
        void this.recovery.scan(instance, () => this.recovery.hasMore && onFound()).then(onFound)
      }
      this.#markReplaced() // the destination's folder may be a new one
    } catch (error) {
      this.#reporter.writeFailed(error)
    }
  }

  #onClaimed(): void {
    // A claim keeps the destination's folder; a cleanup deletes it.
    const isClaimed = isOwnFolder(this.#destination)
    this.#instance.folder?.abandon()
    this.#instance.clear()
    this.#deadLetters = undefined
    if (isClaimed) this.#reporter.claimed(this.#retainRest('spool'))
    else this.#loseRest()
    this.recovery.abandon()
    this.#limits.stop()
  }

  /** Called when another process deleted the folder. Entries that were only on disk are lost. */
  #loseRest(): void {
    const entries = this.spilled.forgetAll() + this.recovery.readyEntries
    this.recovery.forgetReady()
    drop(this.#options, entries, 'damaged', DROP_MESSAGES.filesDeleted.text(this.#destination))
  }

  /** Leaves the entries that are only on disk. @returns their number */
  #retainRest(reason: DropReason): number {
    const lost = this.recovery.memoryOnlyEntries
    const retained = this.spilled.forgetAll() + this.recovery.readyEntries - lost
    this.recovery.forgetReady()
    this.#retainedEntries += retained
    if (lost > 0) drop(this.#options, lost, reason, DROP_MESSAGES.deletedWhileWaiting.text())
    return retained
  }
}

function drop({ account, report }: SpoolOptions, entries: number, reason: DropReason, detail: string): void {
  if (entries === 0) return report.problem(detail)
  account.dropped[reason] += entries
  report.dropped(entries, reason, detail)
}
