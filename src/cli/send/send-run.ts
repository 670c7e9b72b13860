/** One run of `send`: the files one after the other, each from where it was left, over one way to the service. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../shared/clock.js'
import type { HookFunction } from '../../filter/load-hook.js'
import type { Settings } from '../../options/resolve-options.js'
import type { Delivered, Retryable, EndpointRejected } from '../../batch/sender.js'
import { CommandError } from '../shared/command.js'
import { Cutter } from './cutter.js'
import { isGzip, openFile, refuseOther } from './file.js'
import type { InputFile } from './file.js'
import { FileRun, unbegun } from './file-run.js'
import type { FileResult } from './file-run.js'
import type { FileState, StateFolder } from './folder.js'
import { InOrder } from './in-order.js'
import { fileIntake } from './intake.js'
import { Pump } from './pump.js'
import type { Job } from './pump.js'
import { Ranges } from './ranges.js'
import { DamagedError, gzipBlocks, plainBlocks, streamBlocks } from './source.js'
import type { Block } from './source.js'
import { hopelessness } from './trouble.js'
import { Way } from './way.js'

export interface SendRunOptions {
  readonly settings: Settings
  /** Files; `-` is `stdin`. */
  readonly names: readonly string[]
  readonly stdin: AsyncIterable<Buffer>
  readonly states: StateFolder
  readonly clock: Clock
  /** What `beforeSend` names. */
  readonly hook: HookFunction | undefined
  /** Batches on their way at once. */
  readonly concurrency: number
  /** Takes secrets out. */
  readonly mask: (text: string) => string
  /** For the user, at once. */
  readonly tell: (text: string) => void
  /** For each file that was begun, in the order of their names. */
  readonly onEnd: (result: FileResult) => void
}

/** What is being read at the moment. */
interface Reading {
  readonly name: string
  /** From 1. */
  readonly number: number
  /** Bytes on disk; undefined for a stream. */
  readonly size?: number
  readonly isGzip: boolean
  /** Bytes of its text that were settled before this run, or passed over. */
  readonly from: number
  readTo: number
  readonly run: FileRun
}

export class SendRun {
  readonly #options: SendRunOptions
  readonly #way: Way
  readonly #pump: Pump
  readonly #open = new Set<FileRun>()
  readonly #seen = new Map<string, string>()
  readonly #told = new Set<string>()
  readonly #results: InOrder
  #reading: Reading | undefined
  #accepted = 0
  #isInterrupted = false
  #refusals = 0
  #hopeless: string | undefined

  constructor(options: SendRunOptions) {
    this.#options = options
    this.#results = new InOrder(options.onEnd)
    this.#way = new Way({
      ...options,
      setAside: (letters) => this.#pump.setAside(letters),
      onTrouble: (trouble) => this.#onTrouble(trouble),
    })
    this.#pump = new Pump({ way: this.#way, clock: options.clock })
  }

  /** What is being read at the moment, for whoever shows it. */
  get reading(): Reading | undefined {
    return this.#reading
  }

  /** Why the service does not take entries, while it does not. */
  get trouble(): string | undefined {
    return this.#way.trouble
  }

  /** The user has ended it; `run` resolves soon. @param isAtOnce does not wait for replies */
  interrupt(isAtOnce: boolean): void {
    this.#isInterrupted = true
    this.#pump.stop(isAtOnce)
  }

  get isInterrupted(): boolean {
    return this.#isInterrupted
  }

  /** Never rejects but for a bug; called once. */
  async run(): Promise<void> {
    const jobs = this.#jobs()
    let failure: string | undefined
    try {
      await this.#pump.run(async () => (await jobs.next()).value)
    } catch (error) {
      if (this.#open.size === 0) throw error
      failure = `what was sent cannot be recorded: ${wordsOf(error)}`
    }
    // Closes what is being read; a stream that gives nothing would be waited for without end.
    if (this.#reading?.name !== '-') await jobs.return(undefined)
    const reason = failure ?? this.#hopeless ?? (this.#isInterrupted ? this.trouble : undefined)
    for (const run of this.#open) run.stopped(this.#isInterrupted ? 'interrupted' : 'failed', reason)
    this.#results.flush()
    await this.#way.close()
  }

  async *#jobs(): AsyncGenerator<Job, undefined> {
    for (const [at, name] of this.#options.names.entries()) {
      const number = at + 1
      try {
        yield* name === '-' ? this.#stream(number) : this.#file(name, number)
      } catch (error) {
        // Nothing of it was begun.
        if (!(error instanceof CommandError)) throw error
        this.#results.end(number, unbegun(name, 'failed', error.message))
      }
    }
    return undefined
  }

  async *#file(name: string, number: number): AsyncGenerator<Job> {
    const file = await openFile(name)
    try {
      const first = this.#firstNameOf(file)
      if (first !== undefined)
        return this.#results.end(number, unbegun(name, 'same', `the same file as ${first}, which is sent once`))
      const state = await this.#options.states.open(file)
      if (state.note !== undefined) this.#options.tell(state.note)
      const { journal } = state
      const run = this.#begin(name, number, state)
      if (journal.done?.size === file.size) return run.wasDone(journal.done.at)
      const from = journal.resumeAt
      try {
        journal.opened(file.size)
      } catch (error) {
        return run.broke(`what is sent of it cannot be recorded: ${wordsOf(error)}`)
      }
      this.#reading = { name, number, size: file.size, isGzip: file.isGzip, from, readTo: 0, run }
      const cutter = this.#cutter(journal.origin.namespace, from, journal.settled, file.mtimeMs)
      yield* this.#slices(
        this.#reading,
        cutter,
        file.isGzip ? gzipBlocks(file.handle, from) : plainBlocks(file.handle, from),
      )
    } finally {
      await file.handle.close()
    }
  }

  async *#stream(number: number): AsyncGenerator<Job> {
    const id = randomUUID()
    const run = this.#begin('-', number, this.#options.states.forStream(id))
    this.#reading = { name: '-', number, isGzip: false, from: 0, readTo: 0, run }
    yield* this.#slices(this.#reading, this.#cutter(id, 0, new Ranges()), streamBlocks(this.#options.stdin, isGzip))
  }

  async *#slices(reading: Reading, cutter: Cutter, blocks: AsyncGenerator<Block>): AsyncGenerator<Job> {
    const { run: owner, from } = reading
    const jobOf = (slice: Job['slice']): Job => {
      owner.cut()
      return { slice, owner }
    }
    let textAt = from
    try {
      for await (const { bytes, readTo } of blocks) {
        if (this.#pump.isStopped) return
        if (textAt === 0) refuseOther(bytes, reading.name)
        textAt += bytes.length
        reading.readTo = readTo
        for (const slice of cutter.push(bytes)) yield jobOf(slice)
      }
      for (const slice of cutter.end()) yield jobOf(slice)
      owner.wasRead(Math.max(reading.readTo, reading.size ?? 0))
    } catch (error) {
      for (const slice of cutter.end(false)) yield jobOf(slice)
      owner.broke(
        error instanceof DamagedError
          ? `it is damaged at byte ${error.readTo} (${error.message}), byte ${textAt} of its text; only whole lines before that were taken`
          : wordsOf(error),
      )
    }
  }

  #cutter(namespace: string, from: number, settled: Ranges, mtimeMs?: number): Cutter {
    const { settings, clock, hook } = this.#options
    // A line without a time was written before the file was last changed.
    const timeMs = (): number => mtimeMs ?? clock.wallNow()
    const intake = fileIntake({
      settings,
      clock,
      hook,
      timeMs,
      onProblem: (message) => this.#tellOnce('hook', message),
    })
    return new Cutter({ ...settings, intake, namespace, from, settled })
  }

  #begin(name: string, number: number, state: FileState): FileRun {
    const { clock, mask } = this.#options
    const run: FileRun = new FileRun({
      name,
      state,
      mask,
      wallNow: () => clock.wallNow(),
      onDelivered: (outcome) => this.#onDelivered(outcome),
      onEnd: (result) => {
        this.#open.delete(run)
        this.#results.end(number, result)
      },
    })
    this.#open.add(run)
    return run
  }

  /** It may have two names. @returns the one that it was given first, where that is another */
  #firstNameOf({ name, identity: { dev, ino } }: InputFile): string | undefined {
    const id = `${dev}:${ino}`
    const first = this.#seen.get(id)
    if (first === undefined) this.#seen.set(id, name)
    return first
  }

  #onDelivered({ accepted, unreadable }: Delivered): void {
    if (accepted > 0) this.#refusals = 0
    this.#accepted += accepted
    if (unreadable === true)
      this.#tellOnce(
        'reply',
        'the service accepts entries with a reply that is no ingest result: they count as accepted; check the URL',
      )
  }

  #tellOnce(subject: string, text: string): void {
    if (!this.#told.has(subject)) this.#options.tell(text)
    this.#told.add(subject)
  }

  /** A wrong key mends itself rarely, and whoever has typed the command is there to mend it. */
  #onTrouble(trouble: Retryable | EndpointRejected): boolean {
    if (trouble.kind === 'later') return false
    const isRefusal = [400, 413, 422].includes(trouble.status ?? 0)
    if (isRefusal) this.#refusals += 1
    // With nothing left to send, nothing can come that tells a bad entry from a service that refuses everything.
    const isLast = isRefusal && this.#pump.isExhausted && (this.#pump.underWay === 1 || this.#refusals > 1)
    if (this.#accepted > 0 && !isLast) return false
    this.#hopeless = hopelessness(trouble)
    this.#pump.stop(true)
    return true
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
