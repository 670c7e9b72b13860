/** One replay: claims what was chosen, sends each kind to its endpoint, and puts back what is left. */
import type { Clock } from '../../shared/clock.js'
import type { Settings } from '../../options/resolve-options.js'
import type { DeadLetter } from '../../batch/sender.js'
import type { FoundInstance } from '../../spool/inspect.js'
import type { Machine } from '../../spool/instance/ownership.js'
import { describeHolder } from './instance-claimer.js'
import type { ItemKind } from './item-kind.js'
import { findOutermost } from './select.js'
import type { Selection } from './select.js'
import { InstanceReplay } from './replay-instances.js'
import { LetterReplay } from './replay-letters.js'
import { Sending } from './sending.js'
import type { Job, Source } from './sending.js'

export interface ReplayRunOptions {
  readonly settings: Settings
  readonly picked: Selection
  /** Of the destinations in it, by name. Default: log entries. */
  readonly kinds: ReadonlyMap<string, ItemKind>
  readonly root: string
  readonly machine: Machine
  readonly clock: Clock
  /** Milliseconds for the sending. */
  readonly timeoutMs: number
  /** Takes secrets out. */
  readonly mask: (text: string) => string
}

export interface Tally {
  /** Handed to the way to the service. */
  readonly sent: number
  readonly accepted: number
  /** Now dead letters, or dead letters still. */
  readonly rejected: number
  /** Still on disk, without an answer. */
  readonly kept: number
}

export interface Replayed {
  readonly tallies: Readonly<Record<ItemKind, Tally>>
  readonly skipped: readonly Skipped[]
  /** What could not be read, claimed or written. */
  readonly problems: readonly string[]
  /** Why the service does not take more, as far as is known. */
  readonly trouble: string | undefined
}

export interface Skipped {
  readonly name: string
  readonly why: string
  /** By a living process, which sends it. */
  readonly isHeld: boolean
}

const KINDS: readonly ItemKind[] = ['entries', 'requests']

export class ReplayRun {
  readonly #options: ReplayRunOptions
  readonly #sendings: Readonly<Record<ItemKind, Sending>>
  readonly #sources: Readonly<Record<ItemKind, Source[]>> = { entries: [], requests: [] }
  readonly #skipped: Skipped[] = []
  readonly #problems: string[] = []

  constructor(options: ReplayRunOptions) {
    this.#options = options
    const { settings, clock, timeoutMs, mask } = options
    const sendingOf = (kind: ItemKind, other: ItemKind): Sending =>
      new Sending({
        kind,
        settings,
        clock,
        timeoutMs,
        mask,
        setAside: (letters) => this.#setAside(kind, letters),
        onRetryAfter: (delayMs) => this.#sendings[other].holdFor(delayMs),
      })
    this.#sendings = { entries: sendingOf('entries', 'requests'), requests: sendingOf('requests', 'entries') }
  }

  /** Of both kinds, so far. */
  get accepted(): number {
    return KINDS.reduce((sum, kind) => sum + this.#sumOf(kind, ({ accepted }) => accepted), 0)
  }

  /** Why the service does not take more at the moment. */
  get trouble(): string | undefined {
    return this.#sendings.entries.trouble ?? this.#sendings.requests.trouble
  }

  /** Ends it early; `run` resolves soon. */
  stop(): void {
    for (const kind of KINDS) this.#sendings[kind].stop()
  }

  /** Never rejects; called once. */
  async run(): Promise<Replayed> {
    this.#takeInstances()
    this.#takeLetters()
    await Promise.all(
      KINDS.map(async (kind) => {
        const jobs = this.#jobs(kind)
        await this.#sendings[kind].sendAll(async () => (await jobs.next()).value)
      }),
    )
    const tallies = { entries: await this.#tally('entries'), requests: await this.#tally('requests') }
    return { tallies, skipped: this.#skipped, problems: this.#problems, trouble: this.trouble }
  }

  async #tally(kind: ItemKind): Promise<Tally> {
    const kept = await this.#finish(kind)
    return {
      sent: this.#sumOf(kind, ({ sent }) => sent),
      accepted: this.#sumOf(kind, ({ accepted }) => accepted),
      rejected: this.#sumOf(kind, ({ rejected }) => rejected),
      kept,
    }
  }

  #sourcesOf(destination: string): Source[] {
    return this.#sources[this.#options.kinds.get(destination) ?? 'entries']
  }

  #takeInstances(): void {
    const {
      picked: { instances },
      root,
      machine,
      clock,
    } = this.#options
    const wanted = findOutermost(instances).filter((one) => this.#isFit(one))
    for (const destination of new Set(wanted.map((one) => one.destination))) {
      const ours = wanted.filter((one) => one.destination === destination)
      this.#attempt(() => {
        const source = new InstanceReplay({
          root,
          destination,
          machine,
          clock,
          onSkipped: (name, why) => this.#skipped.push({ name, why, isHeld: false }),
          onProblem: (problem) => this.#problems.push(problem),
          onLost: () => this.stop(),
        })
        this.#sourcesOf(destination).push(source)
        source.claim(ours)
      }, `what lies in ${destination} cannot be claimed`)
    }
  }

  #isFit(one: FoundInstance): boolean {
    if (one.isFree && !one.isForeign) return true
    const why = one.isForeign ? 'another version of pino-ingest wrote it' : describeHolder(one)
    this.#skipped.push({ name: one.name, why, isHeld: !one.isFree })
    return false
  }

  #takeLetters(): void {
    const {
      picked: { letters },
      settings,
      clock,
    } = this.#options
    for (const { destination, file } of letters) {
      this.#attempt(
        () =>
          this.#sourcesOf(destination).push(new LetterReplay(file, { ...settings, wallNow: () => clock.wallNow() })),
        `${file.name} cannot be taken`,
      )
    }
  }

  async *#jobs(kind: ItemKind): AsyncGenerator<Job, undefined> {
    for (const source of this.#sources[kind]) {
      try {
        yield* source.jobs()
      } catch (error) {
        // What was not read stays as it is.
        this.#problems.push(wordsOf(error))
      }
    }
    return undefined
  }

  /** @throws the system's errors: then the batch is given up, and stays */
  #setAside(kind: ItemKind, letters: readonly DeadLetter[]): void {
    if (!this.#sources[kind].some((source) => source.setAside(letters)))
      throw new Error('rejected entries of a batch that nobody sent')
  }

  async #finish(kind: ItemKind): Promise<number> {
    let kept = 0
    for (const source of this.#sources[kind]) {
      try {
        kept += await source.finish()
      } catch (error) {
        this.#problems.push(wordsOf(error))
      }
    }
    return kept
  }

  #attempt(act: () => void, otherwise: string): void {
    try {
      act()
    } catch (error) {
      this.#problems.push(`${otherwise}: ${wordsOf(error)}`)
    }
  }

  #sumOf(kind: ItemKind, count: (source: Source) => number): number {
    return this.#sources[kind].reduce((sum, source) => sum + count(source), 0)
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
