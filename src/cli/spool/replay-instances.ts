/** What the dead left for one destination, claimed and sent. It never leaves its destination's folder: a wrong key costs nothing. */
import { join } from 'node:path'
import type { Clock } from '../../shared/clock.js'
import type { Batch, DeadLetter, Outcome } from '../../batch/sender.js'
import { CLAIM_GRACE_MS } from '../../spool/instance/claimed-segment.js'
import { DeadLetterFile } from '../../spool/dead-letter-file.js'
import { LEFT } from '../../spool/disk-format.js'
import { summarizeUnsettled, inspectRoot } from '../../spool/inspect.js'
import type { FoundInstance } from '../../spool/inspect.js'
import { hasWriterEnded } from '../../spool/instance/ownership.js'
import type { Machine } from '../../spool/instance/ownership.js'
import { Recovery } from '../../spool/instance/recovery.js'
import { InstanceClaimer } from './instance-claimer.js'
import type { Job, Source } from './sending.js'

export interface InstanceReplayOptions {
  readonly root: string
  /** Name of the destination's folder. */
  readonly destination: string
  readonly machine: Machine
  readonly clock: Clock
  readonly onSkipped: (name: string, why: string) => void
  /** Entries that cannot be read, or files. */
  readonly onProblem: (problem: string) => void
  /** What was claimed is in other hands: the sending is to end. */
  readonly onLost: () => void
}

export class InstanceReplay implements Source {
  sent = 0
  accepted = 0
  rejected = 0
  readonly #options: InstanceReplayOptions
  readonly #claimer: InstanceClaimer
  readonly #recovery: Recovery
  #scanned = Promise.resolve()
  #mayGrow = false
  readonly #deadLetters: DeadLetterFile
  /** As they were cut, of those under way. */
  readonly #batches = new Map<string, number>()

  /** @throws the system's errors, UnsafeError */
  constructor(options: InstanceReplayOptions) {
    const { root, destination, machine, clock, onProblem, onSkipped, onLost } = (this.#options = options)
    const claimer = (this.#claimer = new InstanceClaimer({
      root,
      destination,
      machine,
      clock,
      onLost: () => {
        this.#recovery.abandon()
        onProblem('this process stood still for so long that another one took over what it had claimed')
        onLost()
      },
    }))
    this.#deadLetters = new DeadLetterFile(join(root, destination), claimer.instance.name, {
      wallNow: () => clock.wallNow(),
      isPowerSafe: true,
    })
    // It finds what was chosen within the claimer's own folder, as it would find what others left.
    this.#recovery = new Recovery({
      destinations: [claimer.instance.claimedPath],
      machine,
      clock,
      maxAgeMs: Infinity, // asked for: nothing is too old
      onRecovered: () => {},
      onDropped: (_entries, _reason, detail) => onProblem(detail),
      onError: (error) => onProblem(error instanceof Error ? error.message : String(error)),
      onForeign: (path) => onSkipped(path, 'another version of pino-ingest wrote it'),
    })
  }

  /** Those that are free, and those alone. */
  claim(wanted: readonly FoundInstance[]): void {
    for (const one of wanted) {
      // An owner in another process namespace may still write there, since it does not know of the claim yet.
      const isEnded = hasWriterEnded(one.path, this.#options.machine)
      const claim = this.#claimer.claim(one, isEnded ? LEFT : '')
      if (!isEnded && !('why' in claim)) this.#mayGrow = true
      if ('why' in claim) this.#options.onSkipped(one.name, claim.why)
    }
    this.#scanned = this.#recovery.scan(this.#claimer.instance)
  }

  async *jobs(): AsyncGenerator<Job> {
    await this.#scanned
    for (;;) {
      let batch: Batch | undefined
      await this.#recovery.next((next) => {
        batch = next
      })
      if (batch !== undefined) yield this.#job(batch)
      else if (this.#mayGrow) await this.#untilFinal()
      else return
    }
  }

  async #untilFinal(): Promise<void> {
    this.#mayGrow = false
    await new Promise<void>((resolve) => this.#options.clock.timer(CLAIM_GRACE_MS, resolve))
    await this.#recovery.scan(this.#claimer.instance)
  }

  /** @throws the system's errors: then the batch is given up, and stays */
  setAside(letters: readonly DeadLetter[]): boolean {
    if (!this.#batches.has(letters[0]?.batchId ?? '')) return false
    this.#deadLetters.write(letters)
    return true
  }

  async finish(): Promise<number> {
    this.#recovery.close()
    // Before the release: then another may have it at once.
    const kept = this.#claimer.isLost ? 0 : await this.#countKept()
    this.#claimer.release()
    return kept
  }

  #job(batch: Batch): Job {
    const { batchId } = batch.origin ?? batch
    this.sent += batch.count
    this.#batches.set(batchId, (this.#batches.get(batchId) ?? 0) + 1)
    return {
      batch,
      done: (outcome) => {
        const others = (this.#batches.get(batchId) ?? 1) - 1
        if (others > 0) this.#batches.set(batchId, others)
        else this.#batches.delete(batchId)
        this.#count(outcome)
      },
    }
  }

  #count(outcome: Outcome): void {
    if (outcome.kind !== 'delivered' && outcome.kind !== 'given-up') return
    this.accepted += outcome.accepted ?? 0
    this.rejected += outcome.rejected?.length ?? 0
  }

  async #countKept(): Promise<number> {
    const { root, machine, clock } = this.#options
    const { path } = this.#claimer.instance
    let entries = 0
    for (const one of inspectRoot(root, { machine, wallNowMs: clock.wallNow() }).flatMap(
      ({ instances }) => instances,
    )) {
      if (one.path.startsWith(path)) entries += (await summarizeUnsettled(one)).entries
    }
    return entries
  }
}
