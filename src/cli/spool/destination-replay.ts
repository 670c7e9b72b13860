/**
 * Claims instances and dead letters of one destination, and delivers them until a deadline. They stay in its folder until they are
 * acknowledged: a wrong key causes no loss.
 */
import { join } from 'node:path'
import type { Batch } from '../../batch/batch.js'
import type { DeliveryEvent } from '../../delivery/delivery-event.js'
import type { Destination } from '../../delivery/destination.js'
import type { SpilledBatches } from '../../delivery/lanes.js'
import { Account } from '../../diagnostics/account.js'
import { Reporter } from '../../diagnostics/reporter.js'
import type { Settings } from '../../options/resolve-options.js'
import { EndpointPipeline } from '../../pipeline/endpoint-pipeline.js'
import type { Clock } from '../../shared/clock.js'
import type { KeyPause } from '../../shared/key-pause.js'
import { DeadLetterFile } from '../../spool/dead-letter-file.js'
import { hasForeignVersionBelow } from '../../spool/format-version.js'
import { inspectRoot, summarizeUnsettled } from '../../spool/inspect.js'
import type { FoundInstance } from '../../spool/inspect.js'
import { CLAIM_GRACE_MS } from '../../spool/instance/claimed-segment.js'
import { InstanceFolder } from '../../spool/instance/instance-folder.js'
import { hasWriterEnded, RENEW_MS } from '../../spool/instance/ownership.js'
import { PeriodicTasks } from '../../spool/periodic-tasks.js'
import { Recovery } from '../../spool/recovery.js'
import type { FoundFile } from '../../spool/spool-files.js'
import { claimInstance } from './select-entries.js'
import { DeadLetterBatches, LineAcknowledgement } from './dead-letter-batches.js'
import type { ItemKind } from './item-kind.js'
import type { SpoolLocation } from './locate-spool.js'
import { toMessage } from '../../shared/errors.js'

export interface DestinationReplayOptions {
  readonly location: Pick<SpoolLocation, 'root' | 'machine' | 'kindOf' | 'mask'>
  readonly name: string
  readonly settings: Settings
  readonly service: Destination
  readonly pause: KeyPause
  readonly clock: Clock
  /** On the clock. */
  readonly deadlineAt: number
  readonly problems: Problems
}

export class DestinationReplay {
  readonly kind: ItemKind
  readonly account = new Account()
  /** Number of the rejected items that are neither dead letters nor kept, since the service did not name them. */
  unstored = 0
  kept = 0
  readonly #options: DestinationReplayOptions
  /** Undefined if there are only dead letters. */
  #instance: InstanceFolder | undefined
  readonly #found: string[] = []
  readonly #recovery: Recovery
  readonly #renewals: PeriodicTasks
  readonly #files: DeadLetterBatches[] = []
  readonly #source = new BatchSource(this.#read())
  readonly #pipeline: EndpointPipeline
  /** Whether a writer whose state is unknown may still append, since it has not noticed the claim. */
  #mayGrow = false
  #latestFailure: string | undefined

  constructor(options: DestinationReplayOptions) {
    const { location, name, settings, service, pause, clock, problems } = options
    const { root, machine, kindOf, mask } = location
    const kind = kindOf(name)
    const { account } = this
    const folder = join(root, name)
    const lettersName = `replay-${clock.wallNow().toString(36)}-${process.pid}`
    const letters = new DeadLetterFile(folder, lettersName, { clock, isPowerSafe: true })
    this.#options = options
    this.kind = kind
    this.#recovery = new Recovery({
      destinations: [],
      machine,
      clock,
      maxAgeMs: Infinity, // The user requested the replay, so entries of any age are sent.
      onRecovered: () => {},
      onDropped: (_entries, _reason, detail) => problems.add(detail),
      onError: (error) => problems.add(error),
      onForeign: () => {},
    })
    this.#renewals = new PeriodicTasks(clock)
    this.#renewals.every(RENEW_MS, () => problems.attempt(() => this.#instance?.renew()))
    this.#pipeline = new EndpointPipeline({
      settings,
      clock,
      pause,
      account,
      mask,
      // The command prints its own messages.
      report: new Reporter({ clock, logTo: 'silent', secrets: [], emit: () => {}, snapshot: () => account.snapshot() }),
      target: kind === 'entries' ? service.entries : service.requestLogs,
      url: settings.url,
      found: {
        disk: {
          spilled: this.#source,
          recovery: { hasMore: false, next: () => Promise.resolve(false) },
          retainedEntries: 0,
        },
        writeDeadLetters: (rejected) => letters.write(rejected),
      },
      isShortenable: kind === 'entries',
    })
    this.#pipeline.events.on((event) => this.#onEvent(event))
  }

  /** @throws an error that says why it was not claimed */
  addInstance(found: FoundInstance): void {
    const { location, clock } = this.#options
    const { root, machine } = location
    this.#found.push(found.path)
    if (hasForeignVersionBelow(found.path)) throw new Error('it was written by another version of pino-ingest')
    const isFinal = hasWriterEnded(found.path, machine)
    const options = { clock, machine, isPowerSafe: false }
    this.#instance ??= new InstanceFolder(join(root, found.destination), options, () => found.path)
    claimInstance(this.#instance, machine, found)
    this.#mayGrow ||= !isFinal
  }

  /** @throws the system's errors */
  addDeadLetters(file: FoundFile): void {
    this.#files.push(new DeadLetterBatches(file, this.#options.settings))
  }

  /** Why items wait; undefined while the service accepts them. */
  get failure(): string | undefined {
    return this.#pipeline.delivery.lastFailure
  }

  /** Why items are left at the end. */
  get lastFailure(): string | undefined {
    const { clock, deadlineAt } = this.#options
    return this.failure ?? (clock.now() < deadlineAt ? this.#latestFailure : 'timed out (--timeout)')
  }

  /**
   * Resolves when all batches are settled, or no attempt follows before the deadline. The next process can then claim the rest. Never
   * rejects. Must be called once.
   */
  async run(): Promise<void> {
    const { clock, deadlineAt, problems } = this.#options
    const cancelDeadline = clock.timer(deadlineAt - clock.now(), () => this.#source.end())
    this.#pipeline.delivery.wake()
    await this.#source.ended
    const { delivery } = this.#pipeline
    await delivery.sendRemaining(deadlineAt - clock.now(), Infinity)
    // No other entry follows whose acceptance would show that these are bad.
    problems.attempt(() => delivery.rejectRefused())
    await this.#pipeline.drain(0)
    cancelDeadline()
    this.#renewals.stop()
    this.#recovery.close()
    for (const file of this.#files) this.kept += problems.attempt(() => file.finish()) ?? 0
    await this.#countEntries().catch((error: unknown) => problems.add(error))
    problems.attempt(() => this.#instance?.release())
  }

  stop(): void {
    this.#source.end()
    this.#pipeline.abandon()
  }

  /** An unreadable file does not end the others. Never rejects. */
  async *#read(): AsyncGenerator<Batch, void> {
    const { clock, problems } = this.#options
    yield* this.#readClaimed()
    if (this.#mayGrow) {
      await new Promise<void>((resolve) => clock.timer(CLAIM_GRACE_MS, resolve))
      yield* this.#readClaimed()
    }
    for (const file of this.#files) {
      try {
        yield* file.batches()
      } catch (error) {
        problems.add(error)
      }
    }
  }

  async *#readClaimed(): AsyncGenerator<Batch, void> {
    if (this.#instance === undefined) return
    await this.#recovery.scan(this.#instance)
    const read: Batch[] = []
    while (await this.#recovery.next((batch) => read.push(batch))) yield* read.splice(0)
  }

  async #countEntries(): Promise<void> {
    const { location, clock } = this.#options
    // A claimed instance is no longer where it was found.
    const paths = [...this.#found, ...(this.#instance === undefined ? [] : [this.#instance.path])]
    const destinations = inspectRoot(location.root, { ...location, wallNowMs: clock.wallNow() })
    for (const one of destinations.flatMap(({ instances }) => instances))
      if (paths.some((path) => one.path.startsWith(path))) this.kept += (await summarizeUnsettled(one)).entries
  }

  #onEvent(event: DeliveryEvent): void {
    const { pause, deadlineAt } = this.#options
    if (event.kind === 'settled' && event.unnamed > 0) {
      const { acknowledgement } = event.job.batch
      if (acknowledgement instanceof LineAcknowledgement) acknowledgement.keep()
      else this.unstored += event.unnamed
    } else if (event.kind === 'failed' || event.kind === 'paused') {
      this.#latestFailure = event.failure.reason
      if ((event.kind === 'failed' ? event.health.probeAt : pause.until) >= deadlineAt) this.#source.end()
    }
  }
}

/** Batches that a pipeline reads as its own, so that it delivers all of them before it ends. */
class BatchSource implements SpilledBatches {
  /** They are not counted. */
  readonly batches = 1
  hasMore = true
  oldest = 0
  readonly #batches: AsyncIterator<Batch, void>
  #onEnd = (): void => {}
  /** Resolves when no further batch is read. */
  readonly ended = new Promise<void>((resolve) => (this.#onEnd = resolve))

  /** @param batches must not reject */
  constructor(batches: AsyncIterator<Batch, void>) {
    this.#batches = batches
  }

  push(): void {}

  pass(): void {}

  async next(take: (batch: Batch, sequence: number) => void): Promise<boolean> {
    const { value } = await this.#batches.next()
    if (value === undefined) this.end()
    if (value === undefined || !this.hasMore) return false
    this.oldest += 1
    take(value, this.oldest - 1)
    return true
  }

  end(): void {
    this.hasMore = false
    this.oldest = Infinity
    this.#onEnd()
  }
}

/** What went wrong, each problem once. The work continues. */
export class Problems {
  readonly #messages = new Set<string>()

  get messages(): readonly string[] {
    return [...this.#messages]
  }

  add(error: unknown): void {
    this.#messages.add(toMessage(error))
  }

  /** @returns undefined if it failed */
  attempt<T>(act: () => T): T | undefined {
    try {
      return act()
    } catch (error) {
      this.add(error)
      return undefined
    }
  }
}
