/**
 * Claims instances and dead letters of one destination, and reads their batches. They stay in its folder until they are acknowledged: a wrong key causes no loss.
 */
import { join } from 'node:path'
import type { Batch, DeadLetter } from '../../batch/batch.js'
import type { Clock } from '../../shared/clock.js'
import { ensureFolder } from '../../shared/safe-folders.js'
import { DeadLetterFile } from '../../spool/dead-letter-file.js'
import { LEFT } from '../../spool/disk-format.js'
import { inspectRoot, summarizeUnsettled } from '../../spool/inspect.js'
import type { FoundInstance } from '../../spool/inspect.js'
import { CLAIM_GRACE_MS } from '../../spool/instance/claimed-segment.js'
import { InstanceFolder } from '../../spool/instance/instance-folder.js'
import { hasWriterEnded, RENEW_MS } from '../../spool/instance/ownership.js'
import type { Machine } from '../../spool/instance/ownership.js'
import { Recovery } from '../../spool/recovery.js'
import type { FoundFile } from '../../spool/spool-files.js'
import { claimInstance } from './claim-instance.js'
import { DeadLetterBatches } from './dead-letter-batches.js'
import type { DeadLetterBatchesOptions } from './dead-letter-batches.js'
import type { ReplayJob, StoredBatch } from './replay-delivery.js'

export interface DestinationBatchesOptions extends DeadLetterBatchesOptions {
  readonly root: string
  /** Name of the destination's folder. */
  readonly destination: string
  readonly machine: Machine
  readonly clock: Clock
  readonly onSkipped: (name: string, reason: string) => void
  readonly onProblem: (problem: string) => void
  /** Called if another process has claimed this replay's folder while this process was suspended. */
  readonly onLost: () => void
}

export class DestinationBatches {
  readonly #options: DestinationBatchesOptions
  readonly #instance: InstanceFolder
  readonly #recovery: Recovery
  readonly #deadLetterFile: DeadLetterFile
  readonly #deadLetters: DeadLetterBatches[] = []
  #cancelRenewal: () => void = () => {}
  #isLost = false
  /** Whether a writer whose state is unknown may still append, since it has not noticed the claim. */
  #mayGrow = false

  /** @throws the system's errors, UnsafeError */
  constructor(options: DestinationBatchesOptions) {
    this.#options = options
    const { root, destination, machine, clock, onProblem, onSkipped } = options
    const folder = join(root, destination)
    ensureFolder(folder)
    this.#instance = new InstanceFolder(folder, { clock, machine, isPowerSafe: false })
    this.#deadLetterFile = new DeadLetterFile(folder, this.#instance.name, {
      wallNow: () => clock.wallNow(),
      isPowerSafe: true,
    })
    this.#recovery = new Recovery({
      destinations: [this.#instance.claimedPath],
      machine,
      clock,
      maxAgeMs: Infinity, // The user requested the replay, so entries of any age are sent.
      onRecovered: () => {},
      onDropped: (_entries, _reason, detail) => onProblem(detail),
      onError: (error) => onProblem(toMessage(error)),
      onForeign: (path) => onSkipped(path, 'it was written by another version of pino-ingest'),
    })
    this.#scheduleRenewal()
  }

  addInstance(found: FoundInstance): void {
    const { root, machine, onSkipped } = this.#options
    const hasEnded = hasWriterEnded(found.path, machine)
    const claim = claimInstance(this.#instance, root, machine, found, hasEnded ? LEFT : '')
    if ('reason' in claim) onSkipped(found.name, claim.reason)
    else this.#mayGrow ||= !hasEnded
  }

  /** @throws the system's errors */
  addDeadLetters(file: FoundFile): void {
    this.#deadLetters.push(new DeadLetterBatches(file, this.#options))
  }

  /**
   * @returns one generator for the instances and one per dead-letter file. An error ends only one of them. They reject with the system's
   * errors and UnsafeError
   */
  jobs(): AsyncGenerator<ReplayJob>[] {
    const deadLetter = (letters: readonly DeadLetter[]): void => this.#deadLetterFile.write(letters)
    async function* withDeadLetter(
      jobs: Iterable<StoredBatch> | AsyncIterable<StoredBatch>,
    ): AsyncGenerator<ReplayJob> {
      for await (const job of jobs) yield { ...job, deadLetter }
    }
    return [this.#recoveredJobs(), ...this.#deadLetters.map((file) => file.jobs())].map(withDeadLetter)
  }

  async *#recoveredJobs(): AsyncGenerator<StoredBatch> {
    await this.#recovery.scan(this.#instance)
    for (;;) {
      let next: Batch | undefined
      await this.#recovery.next((batch) => (next = batch))
      if (next !== undefined) yield { batch: next }
      else if (!this.#mayGrow) break
      else await this.#rescanLater()
    }
  }

  /**
   * Ends the claim: the next process can claim the remaining entries. Rejects with the system's errors.
   * @returns number of entries still on disk
   */
  async finish(): Promise<number> {
    this.#cancelRenewal()
    this.#recovery.close()
    let left = 0
    for (const file of this.#deadLetters) {
      try {
        left += file.finish()
      } catch (error) {
        this.#options.onProblem(toMessage(error))
      }
    }
    try {
      // Counted before the release, after which another process may claim the folder.
      if (!this.#isLost) left += await this.#countEntries()
    } finally {
      if (!this.#isLost) this.#instance.release()
    }
    return left
  }

  async #rescanLater(): Promise<void> {
    this.#mayGrow = false
    await new Promise<void>((resolve) => this.#options.clock.timer(CLAIM_GRACE_MS, resolve))
    await this.#recovery.scan(this.#instance)
  }

  #scheduleRenewal(): void {
    this.#cancelRenewal = this.#options.clock.timer(RENEW_MS, () => {
      this.#scheduleRenewal()
      this.#renewLease()
    })
  }

  #renewLease(): void {
    try {
      if (this.#instance.isInPlace()) return void this.#instance.renew()
    } catch {
      return // Retried in 5 s. The lease lasts 30 s.
    }
    this.#isLost = true
    this.#cancelRenewal()
    this.#instance.abandon()
    this.#recovery.abandon()
    this.#options.onProblem('another process has claimed the entries while this process was suspended')
    this.#options.onLost()
  }

  async #countEntries(): Promise<number> {
    const { root, machine, clock } = this.#options
    let entries = 0
    for (const one of inspectRoot(root, { machine, wallNowMs: clock.wallNow() }).flatMap(
      ({ instances }) => instances,
    )) {
      if (one.path.startsWith(this.#instance.path)) entries += (await summarizeUnsettled(one)).entries
    }
    return entries
  }
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
