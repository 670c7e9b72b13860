/** Brings slices to the service, as many at once as it takes, and reads no more of the files than that needs. */
import type { Clock } from '../../shared/clock.js'
import type { DeadLetter, Outcome } from '../../batch/sender.js'
import type { Slice } from './cutter.js'
import type { Way } from './way.js'

/** Whom a slice is of. */
export interface Owner {
  /** Known for good when it returns. @throws the system's errors, where that cannot be written: then nothing more is sent */
  settle(slice: Slice, outcome: Outcome | undefined): void
  /** @throws the system's errors: then the batch is given up */
  setAside(letters: readonly DeadLetter[]): void
}

export interface Job {
  readonly slice: Slice
  readonly owner: Owner
}

export interface PumpOptions {
  readonly way: Pick<Way, 'limit' | 'trouble' | 'send' | 'onRoom' | 'hurry' | 'abort'>
  readonly clock: Clock
}

/** For the reply to what is under way when the user ends it: without it the batch would be sent twice. */
const LAST_REPLY_MS = 1_000

export class Pump {
  readonly #options: PumpOptions
  readonly #underWay = new Map<string, Job>()
  #next: () => Promise<Job | undefined> = () => Promise.resolve(undefined)
  /** One is made while the service is at work on those before it. */
  #ready: Job | undefined
  #isAsking = false
  #isExhausted = false
  #isStopped = false
  #failure: unknown
  #changes = 0
  #wake: () => void = () => {}
  #cancelTimer: () => void = () => {}

  constructor(options: PumpOptions) {
    this.#options = options
    options.way.onRoom(() => this.#changed())
  }

  /** Batches that are sent and have no final answer. */
  get underWay(): number {
    return this.#underWay.size
  }

  /** Whether all there is to be sent is under way. */
  get isExhausted(): boolean {
    return this.#isExhausted
  }

  /** Whether nothing more is sent. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  /**
   * Resolves when all is settled, or was stopped: then perhaps before `next` has answered. Rejects with what `settle` or
   * `next` throws, once nothing is under way.
   * @param next is called again when it has answered
   */
  async run(next: () => Promise<Job | undefined>): Promise<void> {
    this.#next = next
    this.#ask()
    for (;;) {
      const changes = this.#changes
      this.#fill()
      if (this.#underWay.size === 0 && (this.#isExhausted || this.#isStopped)) break
      if (this.#changes === changes) await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    this.#cancelTimer()
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Sends nothing more. @param isAtOnce does not wait for the replies to what is under way */
  stop(isAtOnce: boolean): void {
    const { way, clock } = this.#options
    this.#isStopped = true
    this.#cancelTimer()
    if (isAtOnce || way.trouble !== undefined) way.abort()
    else this.#cancelTimer = clock.timer(LAST_REPLY_MS, () => way.abort())
    this.#changed()
  }

  /** Keeps what was refused with the file that it is of. @throws as `Owner.setAside` */
  setAside(letters: readonly DeadLetter[]): void {
    const [first] = letters
    const job = first === undefined ? undefined : this.#underWay.get(first.batchId)
    if (job === undefined) throw new Error('rejected entries of a batch that nobody sent')
    job.owner.setAside(letters)
  }

  /** There may be room, or nothing left to wait for. */
  #changed(): void {
    this.#changes += 1
    this.#wake()
  }

  #fill(): void {
    while (this.#ready !== undefined && !this.#isStopped && this.#underWay.size < this.#options.way.limit) {
      const job = this.#ready
      this.#ready = undefined
      this.#launch(job)
      // After this turn, in which the request goes out: making the next batch takes as long as it does.
      setImmediate(() => this.#ask())
    }
  }

  #ask(): void {
    if (this.#isAsking || this.#isStopped) return
    this.#isAsking = true
    this.#next().then(
      (job) => {
        this.#isAsking = false
        this.#ready = job
        if (job === undefined) this.#exhaust()
        this.#changed()
      },
      (error: unknown) => this.#fail(error),
    )
  }

  #exhaust(): void {
    this.#isExhausted = true
    if (this.#underWay.size > 0) this.#options.way.hurry()
  }

  #launch(job: Job): void {
    const { batch } = job.slice
    if (batch === undefined) return this.#settle(job, undefined)
    this.#underWay.set(batch.batchId, job)
    void this.#options.way.send(batch).then((outcome) => {
      this.#settle(job, outcome)
      this.#underWay.delete(batch.batchId)
      this.#changed()
    })
  }

  #settle(job: Job, outcome: Outcome | undefined): void {
    try {
      job.owner.settle(job.slice, outcome)
    } catch (error) {
      // What cannot be recorded would be sent again.
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= error
    this.stop(true)
  }
}
