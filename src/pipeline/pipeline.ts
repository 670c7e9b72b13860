/** Creates the stages and connects them: text -> lines -> entries -> batches -> requests. */
import { createDestination } from '../delivery/destination.js'
import type { Destination } from '../delivery/destination.js'
import type { FlushOutcome } from '../delivery/queue/flush-waiters.js'
import { toReleaseMs } from '../delivery/shutdown-policy.js'
import { Account } from '../diagnostics/account.js'
import type { AccountSnapshot } from '../diagnostics/account.js'
import { APPLICATION_MESSAGES } from '../diagnostics/messages.js'
import { Reporter } from '../diagnostics/reporter.js'
import type { RereadableSource } from '../spool/entry-log.js'
import type { EmitEvent } from '../diagnostics/reporter.js'
import { createSecretMask } from '../diagnostics/secret-mask.js'
import type { HookFunction } from '../filter/load-hook.js'
import { toThreshold } from '../options/resolve-options.js'
import type { Settings } from '../options/settings.js'
import { RequestJoiner } from '../request-logs/request-joiner.js'
import { LEAST_RING_BYTES } from '../record/line-ring.js'
import { Mapper } from '../record/mapper.js'
import type { MappingOptions } from '../record/reference/entry-fields.js'
import type { Clock } from '../shared/clock.js'
import { createEntryBuilder } from './create-entry-builder.js'
import { DropNotices } from './drop-notices.js'
import { EndpointPipeline } from './endpoint-pipeline.js'
import type { EntryBuilder } from './entry-builder.js'
import { createMappingOptions } from './mapping-options.js'
import type { PinoConfig } from './mapping-options.js'
import { RecordReader } from './record-reader.js'
import { ReleaseBuffer } from './release-buffer.js'
import { RequestLogPipeline, toRequestLogUrl } from './request-log-pipeline.js'

export interface PipelineOptions {
  readonly settings: Settings
  /** pino's own configuration, if it was received. */
  readonly config?: PinoConfig | undefined
  readonly clock: Clock
  /** Receives the `ingest:*` events. */
  readonly emit: EmitEvent
  /** Whether it runs in the application's thread, where a request keeps the process alive. Default: in a worker. */
  readonly isInProcess?: boolean
  /** The function of `beforeSend`. */
  readonly hook?: HookFunction | undefined
  /** See `LineJoiner`. Default: each line is a record. */
  readonly joinsLines?: boolean
  /** Replaces the spool. */
  readonly source?: RereadableSource
}

/** Several `targets` share this thread and its environment. */
let reportedVariables: string | undefined

export class Pipeline {
  /** Account of log entries. */
  readonly account: Account
  readonly records: RecordReader
  readonly #requestAccount: Account | undefined
  readonly #settings: Settings
  readonly #clock: Clock
  readonly #reporter: Reporter
  readonly #mapper: Mapper
  readonly #entryBuilder: EntryBuilder
  readonly #endpoints: readonly [EndpointPipeline, ...EndpointPipeline[]]
  readonly #release: ReleaseBuffer | undefined
  readonly #notices: DropNotices
  readonly #destination: Destination
  #closing: Promise<void> | undefined

  constructor(options: PipelineOptions) {
    const { settings, config, clock, emit, source, isInProcess = false } = options
    this.#settings = settings
    this.#clock = clock
    this.account = new Account()
    this.#requestAccount = settings.requestLogs.enabled ? new Account() : undefined
    const secrets = settings.secrets.map((key) => key.reveal())
    const notices = new DropNotices({ clock, settings })
    this.#notices = notices
    this.#reporter = new Reporter({
      clock,
      logTo: settings.logTo,
      secrets,
      hasSpool: settings.spool !== false,
      emit,
      snapshot: () => this.snapshot,
      onDropped: (count, reason) => notices.add(count, reason),
      onDelivered: () => notices.onAccepted(),
    })
    const shared = { settings, clock, isInProcess, mask: createSecretMask(secrets), report: this.#reporter }
    this.#destination = createDestination(shared)
    const entries = new EndpointPipeline({
      ...shared,
      account: this.account,
      target: this.#destination.entries,
      url: settings.url,
      source,
      siblingUrls: this.#requestAccount === undefined ? [] : [toRequestLogUrl(settings.url)],
      onPreviousDrops: (drops) => notices.addFromPreviousProcess(drops),
    })
    const mapping = createMappingOptions(settings, config)
    const joiner = new RequestJoiner({ clock, ...mapping })
    const account = this.#requestAccount
    const requests =
      account && new RequestLogPipeline({ ...shared, joiner, account, target: this.#destination.requestLogs })
    this.#endpoints = requests === undefined ? [entries] : [entries, requests.endpoint]
    const threshold = toThreshold(settings.level)
    this.#mapper = createMapper(options, mapping, requests === undefined ? threshold : -1, this.#reporter)
    this.#entryBuilder = createEntryBuilder({
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
      threshold,
      canRefuseUnread: requests === undefined,
      joinsLines: options.joinsLines ?? false,
      onRead: () => this.#onRead(),
    })
    this.#release =
      settings.enabled && settings.release === true
        ? new ReleaseBuffer({ ...shared, endpoints: this.#endpoints, mapper: this.#mapper })
        : undefined
    this.#connect()
    this.#start()
  }

  #connect(): void {
    const [entries, requestLogs] = this.#endpoints
    this.account.addStage(() => this.records.pendingEntries + (this.#release?.pendingEntries ?? 0))
    this.#notices.connect(entries)
    this.#destination.onMaxBodyBytes((bytes) => {
      for (const { batcher } of this.#endpoints) batcher.limitBytes(bytes)
    })
    // A Retry-After applies to all requests with the same key (interface: Errors).
    if (requestLogs !== undefined) {
      entries.retryAfter.on((delayMs) => requestLogs.breaker.applyRetryAfter(delayMs))
      requestLogs.retryAfter.on((delayMs) => entries.breaker.applyRetryAfter(delayMs))
    }
    const release = this.#release
    if (release === undefined) return
    entries.connect(release)
    entries.recovered.on((hasFailed) => void (hasFailed && release.register()))
  }

  #start(): void {
    const { enabled, keyWarning, variableWarning } = this.#settings
    for (const endpoint of this.#endpoints) endpoint.start()
    this.#release?.register()
    if (enabled && keyWarning !== undefined) this.#reporter.problem('CONFIG', keyWarning)
    if (variableWarning === undefined || variableWarning === reportedVariables) return
    reportedVariables = variableWarning
    this.#reporter.note('variable', variableWarning)
  }

  #onRead(): void {
    for (const { batcher } of this.#endpoints) batcher.commit()
    if (this.#endpoints[0].batcher.pendingEntries > 0) this.#destination.prepare()
    this.#reporter.stats() // in an outage and for filtered entries, nothing else emits stats
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

  /** Reads the last line, and seals the open batches. */
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
   * Resolves when everything written so far is acknowledged, rejected, dropped or, in an outage, on disk. Never
   * rejects.
   * @param timeoutMs see `Delivery.flush`
   */
  async flush(timeoutMs?: number): Promise<FlushOutcome> {
    this.records.finish()
    this.#seal()
    await this.#release?.ended
    const { reportCount } = this.#notices
    const flushed = await this.#flushEndpoints(timeoutMs)
    if (flushed === 'spooled') return flushed
    this.#notices.report()
    return this.#notices.reportCount === reportCount ? flushed : this.#flushEndpoints(timeoutMs)
  }

  /**
   * As `flush`, without waiting for a backoff to end, and only until an attempt shows that nothing listens at the implicit local URL. Called
   * when the event loop is empty.
   */
  async flushNow(): Promise<void> {
    const wait = new AbortController()
    const flushed: Promise<unknown> = this.flush()
    for (const { breaker } of this.#endpoints) breaker.retryNow()
    await Promise.race([flushed, ...this.#endpoints.map((endpoint) => endpoint.waitUntilNobodyListens(wait.signal))])
    wait.abort()
  }

  /** Sends the summaries of repeated entries. */
  flushRepeats(): void {
    this.#entryBuilder.flushNow()
  }

  /** Whether all pending entries are on disk and the service is down. */
  get isSpooled(): boolean {
    return (
      this.#endpoints.every(({ isSpooled, account }) => isSpooled || account.snapshot().pending === 0) &&
      this.#endpoints.some(({ isSpooled }) => isSpooled)
    )
  }

  /**
   * Delivers pending entries within `shutdownTimeoutMs`; counts and reports the rest. Never rejects; concurrent calls
   * return the same promise.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  /** Called if the process exits in this turn. Counts and reports pending entries. */
  abandon(): void {
    this.#entryBuilder.end()
    this.#seal()
    this.#release?.stop()
    for (const endpoint of this.#endpoints) endpoint.abandon()
    this.#notices.close()
    this.#closeStages()
  }

  async #close(): Promise<void> {
    this.#entryBuilder.end()
    this.#seal()
    this.#notices.close()
    const { shutdownTimeoutMs } = this.#settings
    const startedAt = this.#clock.now()
    await this.#endRelease(toReleaseMs(shutdownTimeoutMs))
    const leftMs = Math.max(Math.ceil(shutdownTimeoutMs - (this.#clock.now() - startedAt)), 0)
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.drain(leftMs)))
    this.#closeStages()
    await this.#destination.close()
  }

  async #endRelease(timeoutMs: number): Promise<void> {
    const release = this.#release
    if (release === undefined) return
    const cancel = this.#clock.timer(timeoutMs, () => release.stop())
    await release.ended
    cancel()
    release.stop()
  }

  #closeStages(): void {
    this.#entryBuilder.cancel()
    for (const endpoint of this.#endpoints) endpoint.close()
    this.#notices.end()
    this.#reporter.stats()
    this.#reporter.flushNow()
  }

  #seal(): void {
    for (const { batcher } of this.#endpoints) batcher.seal()
  }

  async #flushEndpoints(timeoutMs: number | undefined): Promise<FlushOutcome> {
    const flushed = await Promise.all(this.#endpoints.map((endpoint) => endpoint.flush(timeoutMs)))
    return flushed.includes('spooled') ? 'spooled' : 'acknowledged'
  }
}

function createMapper(
  { settings, source, clock }: PipelineOptions,
  mapping: MappingOptions,
  requestThreshold: number,
  reporter: Reporter,
): Mapper {
  return new Mapper(
    mapping,
    toThreshold(settings.level),
    () => source?.recordTimeMs() ?? clock.wallNow(),
    () => reporter.problem('CONFIG', APPLICATION_MESSAGES.levelUnknown.text(mapping.levelKey ?? 'level')),
    requestThreshold,
    (chars) => reporter.problem('INVALID', APPLICATION_MESSAGES.recordIncomplete.text(chars)),
    Math.max(LEAST_RING_BYTES, settings.breadcrumbs === false ? 0 : settings.breadcrumbs.maxBytes),
  )
}
