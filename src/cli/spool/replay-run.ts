/** One replay: claims, sends, and puts back what is left. */
import { join } from 'node:path'
import type { Clock } from '../../clock.js'
import type { Settings } from '../../options.js'
import type { Batch, DeadLetter, Outcome } from '../../sender.js'
import { DeadLetters } from '../../spool/dead-letters.js'
import { LEFT } from '../../spool/format.js'
import { holdingOf, inspectRoot } from '../../spool/inspect.js'
import type { Machine } from '../../spool/owner.js'
import { Recovery } from '../../spool/recovery.js'
import { Claimer, heldBy } from './claimer.js'
import { outermost } from './pick.js'
import type { Picked } from './pick.js'
import { LetterReplay } from './replay-letters.js'
import { Sending } from './sending.js'
import type { Job } from './sending.js'

export interface ReplayRunOptions {
  readonly settings: Settings
  readonly picked: Picked
  readonly root: string
  /** Name of the present destination. */
  readonly destination: string
  readonly machine: Machine
  readonly clock: Clock
  readonly timeoutMs: number
  readonly say: (text: string) => void
}

export interface Replayed {
  /** Entries that were handed to the way to the service. */
  readonly sent: number
  readonly accepted: number
  /** Now dead letters, or dead letters still. */
  readonly rejected: number
  /** Still on disk, without an answer. */
  readonly kept: number
  readonly skipped: readonly Skipped[]
  /** Why not all was sent, as far as is known. */
  readonly trouble: string | undefined
}

interface Skipped {
  readonly name: string
  readonly why: string
  /** By a living process, which sends it. */
  readonly isHeld: boolean
}

export class ReplayRun {
  readonly #options: ReplayRunOptions
  readonly #sending: Sending
  readonly #files: LetterReplay[] = []
  readonly #skipped: Skipped[] = []
  #claimer: Claimer | undefined
  #recovery: Recovery | undefined
  #deadLetters: DeadLetters | undefined
  #sent = 0
  #accepted = 0
  #rejected = 0
  #kept = 0
  #problem: string | undefined

  constructor(options: ReplayRunOptions) {
    this.#options = options
    const { settings, clock, timeoutMs } = options
    this.#sending = new Sending({ settings, clock, timeoutMs, setAside: (letters) => this.#setAside(letters) })
  }

  /** Entries accepted so far. */
  get accepted(): number {
    return this.#accepted + this.#files.reduce((sum, file) => sum + file.accepted, 0)
  }

  /** Ends it early; `run` resolves soon. */
  stop(): void {
    this.#sending.stop()
  }

  /** Never rejects; called once. */
  async run(): Promise<Replayed> {
    try {
      this.#claimInstances()
    } catch (error) {
      this.#problem = `nothing can be claimed: ${wordsOf(error)}`
    }
    this.#takeLetters()
    const jobs = this.#jobs()
    await this.#sending.sendAll(async () => {
      try {
        return (await jobs.next()).value
      } catch (error) {
        // The rest of that file stays as it is.
        this.#problem = wordsOf(error)
        return undefined
      }
    })
    await this.#finishLetters()
    await this.#finishInstances()
    return {
      sent: this.#sent + this.#files.reduce((sum, file) => sum + file.sent, 0), accepted: this.accepted,
      rejected: this.#rejected + this.#files.reduce((sum, file) => sum + file.rejected, 0),
      kept: this.#kept, skipped: this.#skipped, trouble: this.#problem ?? this.#sending.trouble,
    }
  }

  #claimInstances(): void {
    const { picked: { instances }, root, destination, machine, clock, say } = this.#options
    const wanted = outermost(instances).filter((one) => this.#isFit(one))
    if (wanted.length === 0) return
    const claimer = this.#claimer = new Claimer({ root, destination, machine, clock, onLost: () => this.#lose() })
    for (const one of wanted) {
      const claim = claimer.claim(one, LEFT)
      if ('why' in claim) this.#skipped.push({ name: one.name, why: claim.why, isHeld: false })
    }
    // It finds what was chosen within the claimer's own folder, as it would find what others left.
    this.#recovery = new Recovery({
      destinations: [claimer.instance.claimedPath], machine, clock,
      maxAgeMs: Infinity, // asked for: nothing is too old
      onRecovered: () => {},
      onDropped: (_entries, _reason, detail) => say(detail),
      onError: (error) => {
        this.#problem = wordsOf(error)
      },
      onForeign: (path) => this.#skipped.push({ name: path, why: 'another version of pino-ingest wrote it', isHeld: false }),
    })
    this.#recovery.scan(claimer.instance)
  }

  #isFit(one: Picked['instances'][number]): boolean {
    if (one.isFree && !one.isForeign) return true
    const why = one.isForeign ? 'another version of pino-ingest wrote it' : heldBy(one)
    this.#skipped.push({ name: one.name, why, isHeld: !one.isFree })
    return false
  }

  #takeLetters(): void {
    const { picked: { letters }, settings, clock } = this.#options
    for (const { file } of letters) {
      try {
        this.#files.push(new LetterReplay(file, { ...settings, wallNow: () => clock.wallNow() }))
      } catch (error) {
        this.#skipped.push({ name: file.name, why: wordsOf(error), isHeld: false })
      }
    }
  }

  async *#jobs(): AsyncGenerator<Job, undefined> {
    const recovery = this.#recovery
    for (;;) {
      let batch: Batch | undefined
      await recovery?.next((next) => {
        batch = next
      })
      if (batch === undefined) break
      yield this.#jobOf(batch)
    }
    for (const file of this.#files) yield* file.jobs()
    return undefined
  }

  #jobOf(batch: Batch): Job {
    this.#sent += batch.count
    return { batch, done: (outcome) => this.#count(outcome) }
  }

  #count(outcome: Outcome): void {
    if (outcome.kind !== 'delivered' && outcome.kind !== 'given-up') return
    this.#accepted += outcome.accepted ?? 0
    this.#rejected += outcome.rejected?.length ?? 0
  }

  /** @throws the system's errors: then the batch is given up, and stays */
  #setAside(letters: readonly DeadLetter[]): void {
    if (this.#files.some((file) => file.setAside(letters))) return
    const { root, destination, clock } = this.#options
    this.#deadLetters ??= new DeadLetters(join(root, destination), this.#claimer?.instance.name ?? '', () => clock.wallNow())
    this.#deadLetters.write(letters)
  }

  async #finishLetters(): Promise<void> {
    for (const file of this.#files) {
      try {
        this.#kept += await file.finish() - file.rejected
      } catch (error) {
        this.#problem = wordsOf(error)
        this.#kept += file.sent
      }
    }
  }

  async #finishInstances(): Promise<void> {
    const claimer = this.#claimer
    if (claimer === undefined) return
    this.#recovery?.close()
    try {
      // Before the release: then another may have it at once.
      if (!claimer.isLost) this.#kept += await this.#leftIn(claimer)
      claimer.release()
    } catch (error) {
      this.#problem = wordsOf(error)
    }
  }

  async #leftIn({ instance: { path } }: Claimer): Promise<number> {
    const { root, machine, clock } = this.#options
    let entries = 0
    for (const one of inspectRoot(root, { machine, wallNowMs: clock.wallNow() }).flatMap(({ instances }) => instances)) {
      if (one.path.startsWith(path)) entries += (await holdingOf(one)).entries
    }
    return entries
  }

  #lose(): void {
    this.#problem = 'this process stood still for so long that another one took over what it had claimed'
    this.#recovery?.giveUp()
    this.stop()
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
