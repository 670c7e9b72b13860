/** Creates the stages and connects them: text -> lines -> entries -> batches -> requests. */
import { createDestination } from '../delivery/destination.js'
import type { Destination } from '../delivery/destination.js'
import type { FlushOutcome } from '../delivery/scheduler.js'
import { Account } from '../diagnostics/account.js'
import type { AccountSnapshot } from '../diagnostics/account.js'
import { APPLICATION_MESSAGES, DROP_MESSAGES } from '../diagnostics/messages.js'
import { Reporter } from '../diagnostics/reporter.js'
import type { RereadableSource } from '../spool/entry-log.js'
import type { EmitEvent } from '../diagnostics/reporter.js'
import { createSecretMask } from '../diagnostics/secret-mask.js'
import type { HookFunction } from '../filter/load-hook.js'
import { toThreshold } from '../options/resolve-options.js'
import type { Settings } from '../options/settings.js'
import { BREADCRUMB_BYTES } from '../breadcrumbs/breadcrumb-rows.js'
import { RequestJoiner } from '../request-logs/request-joiner.js'
import { LEAST_RING_BYTES } from '../record/line-ring.js'
import { Mapper } from '../record/mapper.js'
import type { MappingOptions } from '../record/reference/entry-fields.js'
import type { Clock } from '../shared/clock.js'
import { isExiting } from '../shared/exiting.js'
import { KeyPause } from '../shared/key-pause.js'
import { DropNotices } from './drop-notices.js'
import { EndpointPipeline } from './endpoint-pipeline.js'
import { EntryBuilder } from './entry-builder.js'
import { createMappingOptions } from './mapping-options.js'
import type { PinoConfig } from './mapping-options.js'
import { RecordReader } from './record-reader.js'
import { ReleaseRegistration } from './release-registration.js'
import { RequestLogPipeline, toRequestLogUrl } from './request-log-pipeline.js'

export interface PipelineOptions {
  readonly settings: Settings
  readonly config?: PinoConfig | undefined
  readonly clock: Clock
  readonly emit: EmitEvent
  /** Whether it runs in the application's thread, where a request keeps the process alive. Default: in a worker. */
  readonly isInProcess?: boolean
  readonly hook?: HookFunction | undefined
  /** See `RecordReaderOptions`. Default: each line is a record. */
  readonly joinsLines?: boolean
  /** Replaces the spool. */
  readonly source?: RereadableSource
}

/** Reported warnings: several `targets` share this thread and its environment. */
const reported = new Set<string | undefined>([undefined])

export class Pipeline {
  readonly account: Account
  readonly records: RecordReader
  readonly #requestAccount: Account | undefined
  readonly #settings: Settings
  readonly #reporter: Reporter
  readonly #mapper: Mapper
  readonly #entryBuilder: EntryBuilder
  readonly #endpoints: readonly [EndpointPipeline, ...EndpointPipeline[]]
  readonly #release: ReleaseRegistration | undefined
  readonly #notices: DropNotices
  readonly #destination: Destination
  #counts: Float64Array | undefined
  /** Whether another worker ended before, whose records this one sends. */
  #isReplacement = false
  /** What this transport added to the counts. */
  readonly #added = [0, 0]
  #closing: Promise<void> | undefined

  constructor(options: PipelineOptions) {
    const { settings, config, clock, emit, source, isInProcess = false } = options
    this.#settings = settings
    this.account = new Account()
    this.#requestAccount = settings.requestLogs.enabled ? new Account() : undefined
    const secrets = settings.secrets.map((key) => key.reveal())
    settings.apiKey.changed.on((key) => void secrets.push(key))
    const notices = new DropNotices({ clock, settings })
    this.#notices = notices
    this.#reporter = new Reporter({
      clock,
      logTo: settings.logTo,
      secrets,
      ...(settings.spool !== false && { rejectedHint: '`npx pino-ingest spool show dead` lists them' }),
      emit,
      snapshot: () => this.snapshot,
      onDropped: (count, reason) => notices.add(count, reason),
      onDelivered: () => notices.onAccepted(),
    })
    const pause = new KeyPause(clock)
    const mask = createSecretMask(secrets)
    const shared = { settings, clock, isInProcess, pause, mask, report: this.#reporter }
    this.#destination = createDestination(shared)
    const entries = new EndpointPipeline({
      ...shared,
      account: this.account,
      target: this.#destination.entries,
      url: settings.url,
      source,
      siblingUrls: this.#requestAccount === undefined ? [] : [toRequestLogUrl(settings.url)],
    })
    const mapping = createMappingOptions(settings, config)
    const joiner = new RequestJoiner({ clock, ...mapping })
    const account = this.#requestAccount
    const requests =
      account &&
      new RequestLogPipeline({
        ...shared,
        joiner,
        requestKeys: mapping.requestKeys,
        account,
        target: this.#destination.requestLogs,
      })
    this.#endpoints = requests === undefined ? [entries] : [entries, requests.endpoint]
    const threshold = toThreshold(settings.sendLevel)
    this.#mapper = createMapper(options, mapping, requests === undefined ? threshold : -1, this.#reporter)
    this.#entryBuilder = new EntryBuilder({
      settings,
      clock,
      hook: options.hook,
      mapping,
      mapper: this.#mapper,
      joiner,
      requests,
      onProblem: (message) => this.#reporter.problem('CONFIG', message),
      onSummary: (entryJson, severity) => {
        entries.addGenerated(entryJson, severity)
        this.#reporter.stats()
      },
    })
    this.records = new RecordReader({
      isEnabled: settings.enabled,
      endpoint: entries,
      entryBuilder: this.#entryBuilder,
      mapper: this.#mapper,
      joinsLines: options.joinsLines ?? false,
      onUnsupportedInput: (form, command) =>
        this.#reporter.problem('INVALID', APPLICATION_MESSAGES.inputUnsupported.text(form, command)),
      onRead: () => this.#onRead(),
    })
    this.#release =
      settings.enabled && settings.registerRelease
        ? new ReleaseRegistration({ ...shared, onRegistered: (releaseId) => this.setReleaseId(releaseId) })
        : undefined
    this.#connect()
    this.#start()
  }

  #connect(): void {
    const [entries] = this.#endpoints
    this.account.addStage(() => this.records.pendingEntries)
    this.#notices.connect(entries)
    this.#destination.onMaxBodyBytes((bytes) => {
      for (const { batcher } of this.#endpoints) batcher.limitBytes(bytes)
    })
    entries.recovered.on(() => this.#release?.register())
  }

  #start(): void {
    const { warning, variableWarning } = this.#settings
    for (const endpoint of this.#endpoints) endpoint.start()
    this.#release?.register()
    if (isNew(warning)) this.#reporter.problem('CONFIG', warning)
    if (isNew(variableWarning)) this.#reporter.note('variable', variableWarning)
  }

  #onRead(): void {
    for (const { batcher } of this.#endpoints) batcher.commit()
    if (this.#endpoints.every(({ delivery }) => delivery.isClosed)) return this.#settleLate()
    this.#updateCounts()
    if (this.#endpoints[0].batcher.pendingEntries > 0) this.#destination.prepare()
    this.#reporter.stats() // in an outage and for filtered entries, nothing else emits stats
  }

  /** Leaves records that were logged after the close on disk, or counts them as dropped. */
  #settleLate(): void {
    this.#seal()
    for (const endpoint of this.#endpoints) endpoint.reportRetained()
    this.#reporter.stats()
    // No timer ends a throttled report afterwards.
    if (isExiting()) this.#reporter.flushNow()
  }

  get snapshot(): AccountSnapshot {
    const requestLogs = this.#requestAccount?.snapshot()
    return { ...this.account.snapshot(), ...(requestLogs && { requestLogs }) }
  }

  /** Received entries and request logs that are not yet settled. */
  get pendingEntries(): number {
    const { pending, requestLogs } = this.snapshot
    return pending + (requestLogs?.pending ?? 0)
  }

  endInput(): void {
    this.records.end()
    this.#seal()
  }

  /** Sets the release id of later entries that have none. */
  setReleaseId(releaseId: string): void {
    this.records.finish()
    this.#mapper.setReleaseId(releaseId)
  }

  /**
   * Called once if the application starts a replacement when this worker ends.
   * @param counts where records are counted from now on: see `SupervisorMessage`
   * @param lost records that were lost with the previous worker, which are counted here as dropped; undefined for the first one
   */
  attachSupervisor(counts: Float64Array, lost: number | undefined): void {
    this.#isReplacement = lost !== undefined
    this.#counts = counts
    // In a microtask, because the scheduler settles the batch, or queues it again, only after it has emitted the event.
    this.#endpoints[0].events.on(({ kind }) => {
      if (kind === 'replied' || kind === 'settled') queueMicrotask(() => this.#updateCounts())
    })
    if (lost !== undefined && lost > 0) {
      this.account.received += lost
      this.account.dropped.shutdown += lost
      this.#reporter.dropped(lost, 'shutdown', DROP_MESSAGES.workerEnded.text())
    }
    this.#updateCounts()
  }

  #updateCounts(): void {
    if (this.#counts === undefined) return
    const [{ memoryOnlyEntries, account }] = this.#endpoints
    const own = [account.received, account.received - memoryOnlyEntries]
    for (const [index, count] of own.entries()) {
      this.#counts[index] = (this.#counts[index] ?? 0) + count - (this.#added[index] ?? 0)
      this.#added[index] = count
    }
  }

  /**
   * Resolves when everything written so far is acknowledged, rejected, dropped or, in an outage, on disk. Never
   * rejects.
   * @param timeoutMs see `Scheduler.flush`
   */
  async flush(timeoutMs?: number): Promise<FlushOutcome> {
    this.records.finish()
    this.#seal()
    const { reportCount } = this.#notices
    const flushed = await this.#flushEndpoints(timeoutMs)
    if (
      flushed === 'spooled' ||
      (this.#isReplacement && this.account.recovered > 0 && this.isSpooled && this.pendingEntries > 0)
    )
      return 'spooled'
    this.#notices.report()
    return this.#notices.reportCount === reportCount ? flushed : this.#flushEndpoints(timeoutMs)
  }

  /** Sends what waits, when the event loop is empty: for at most `shutdownTimeoutMs`, see `Scheduler.sendRemaining`. */
  async sendRemaining(timeoutMs = this.#settings.shutdownTimeoutMs): Promise<void> {
    this.records.finish()
    this.#seal()
    await Promise.all(this.#endpoints.map(({ delivery }) => delivery.sendRemaining(timeoutMs)))
  }

  /** Called when all entries of a source were read: see `Scheduler.rejectRefused`. */
  rejectRefused(): boolean {
    return this.#endpoints[0].delivery.rejectRefused()
  }

  flushRepeats(): void {
    this.#entryBuilder.flushNow()
  }

  get isSpooled(): boolean {
    return this.#endpoints.every(({ memoryOnlyEntries }) => memoryOnlyEntries === 0)
  }

  /**
   * Delivers pending entries within `shutdownTimeoutMs`; counts and reports the rest. Never rejects; concurrent calls
   * return the same promise.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  /** Called if the process exits in this turn. Counts and reports pending entries, and those of later listeners. */
  abandon(): void {
    this.#entryBuilder.end()
    this.#seal()
    this.#release?.stop()
    for (const endpoint of this.#endpoints) endpoint.abandon()
    this.#notices.report()
    this.#closeStages()
  }

  async #close(): Promise<void> {
    this.#entryBuilder.end()
    this.#seal()
    this.#release?.stop()
    this.#notices.report()
    const { shutdownTimeoutMs } = this.#settings
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.drain(shutdownTimeoutMs)))
    this.#closeStages()
    await this.#destination.close()
  }

  #closeStages(): void {
    this.#entryBuilder.cancel()
    for (const endpoint of this.#endpoints) endpoint.close()
    this.#updateCounts()
    this.#reporter.stats()
    this.#reporter.flushNow()
  }

  #seal(): void {
    for (const { batcher } of this.#endpoints) batcher.seal()
  }

  async #flushEndpoints(timeoutMs: number | undefined): Promise<FlushOutcome> {
    const flushed = await Promise.all(this.#endpoints.map(({ delivery }) => delivery.flush(timeoutMs)))
    return flushed.includes('spooled') ? 'spooled' : 'acknowledged'
  }
}

function isNew(warning: string | undefined): warning is string {
  const isReported = reported.has(warning)
  reported.add(warning)
  return !isReported
}

function createMapper(
  { settings, source, clock }: PipelineOptions,
  mapping: MappingOptions,
  requestThreshold: number,
  reporter: Reporter,
): Mapper {
  return new Mapper(
    mapping,
    toThreshold(settings.sendLevel),
    () => source?.recordTimeMs() ?? clock.wallNow(),
    () => reporter.problem('CONFIG', APPLICATION_MESSAGES.levelUnknown.text()),
    requestThreshold,
    (chars) => reporter.problem('INVALID', APPLICATION_MESSAGES.recordIncomplete.text(chars)),
    Math.max(LEAST_RING_BYTES, settings.breadcrumbs === false ? 0 : BREADCRUMB_BYTES),
  )
}
