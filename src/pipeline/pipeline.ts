/** Wires the stages: text -> lines -> entries -> batches -> the service. Knows them all and decides nothing. */
import type { Account, AccountSnapshot } from '../diagnostics/account.js'
import { EndpointPipeline } from './endpoint-pipeline.js'
import { createHttp } from '../client/http.js'
import type { Clock } from '../shared/clock.js'
import type { FlushOutcome } from '../delivery/queue/flush-waiters.js'
import { createIngestSender } from '../delivery/ingest-sender.js'
import type { HookFunction } from '../filter/load-hook.js'
import type { EntryBuilder } from './entry-builder.js'
import { createSecretMask } from '../diagnostics/secret-mask.js'
import { NOTICE_SEVERITY } from '../diagnostics/unreported-drops.js'
import { toThreshold } from '../options/resolve-options.js'
import type { Settings } from '../options/resolve-options.js'
import type { PinoConfig } from '../transport/pino-config.js'
import { createEntryBuilder } from './create-entry-builder.js'
import { createMappingOptions } from './mapping-options.js'
import { DropNotices } from './drop-notices.js'
import { createReleaseHold } from './create-release-hold.js'
import type { ReleaseHold } from './release-hold.js'
import { RequestLogPipeline, toRequestLogUrl } from './request-log-pipeline.js'
import { RecordReader } from './record-reader.js'
import { Mapper } from '../record/mapper.js'
import { Reporter } from '../diagnostics/reporter.js'
import type { EmitEvent } from '../diagnostics/reporter.js'

export interface PipelineOptions {
  readonly settings: Settings
  /** pino's own, where it came. */
  readonly config?: PinoConfig | undefined
  readonly clock: Clock
  /** Where the `ingest:*` events go. */
  readonly emit: EmitEvent
  /** In the application's own thread, where a request keeps the process alive. Default: in a worker. */
  readonly isInProcess?: boolean
  /** What `beforeSend` names. */
  readonly hook?: HookFunction | undefined
}

/** For a release that is being registered when the app ends. */
const RELEASE_AT_EXIT_MS = 1_000

export class Pipeline {
  readonly #settings: Settings
  readonly #clock: Clock
  readonly #report: Reporter
  readonly #taker: RecordReader
  readonly #mapper: Mapper
  readonly #intake: EntryBuilder
  readonly #entries: EndpointPipeline
  readonly #requests: RequestLogPipeline | undefined
  readonly #release: ReleaseHold | undefined
  readonly #notices: DropNotices
  readonly #closeHttp: () => Promise<void>
  #closing: Promise<void> | undefined
  #finishText: () => void = () => {}

  constructor(options: PipelineOptions) {
    const { settings, config, clock, emit, isInProcess = false } = options
    this.#settings = settings
    this.#clock = clock
    const apiKey = settings.apiKey.reveal()
    const secrets = settings.givenKeys.map((key) => key.reveal())
    const report = (this.#report = new Reporter({
      clock,
      onProblem: settings.onProblem,
      secrets,
      emit: (name, payload) => {
        emit(name, payload)
        // Whatever is worth an event has changed the account.
        if (name !== 'ingest:stats') report.stats(() => this.snapshot)
      },
      onDropped: (count, reason) => this.#notices.add(count, reason),
      onDelivered: () => this.#notices.onAccepted(),
    }))
    const http = createHttp({ ...settings, apiKey, maxConnections: settings.maxConcurrency })
    this.#closeHttp = () => http.close()
    const hint = settings.isLocalDefault
      ? 'start the local service with `npx pino-ingest dev`, or set PINO_INGEST_URL'
      : undefined
    const shared = { clock, isInProcess, mask: createSecretMask(secrets) }
    const release = (this.#release = createReleaseHold({
      settings,
      clock,
      report,
      endpoints: () => this.#channels,
      onId: (releaseId) => this.setReleaseId(releaseId),
    }))
    const entries = (this.#entries = new EndpointPipeline({
      ...shared,
      settings,
      report,
      sender: createIngestSender({ http, hint, ...shared }),
      url: settings.url,
      siblingUrls: settings.requestLogs === false ? [] : [toRequestLogUrl(settings.url)],
      ...(release && { onBatch: (batch) => release.add(batch) }),
      onRecovery: (hasFailed) => {
        if (hasFailed) release?.register()
      },
      onPreviousDrops: (drops) => this.#notices.addFromPreviousProcess(drops),
      onRetryAfter: (delayMs) => this.#requests?.endpoint.applyRetryAfter(delayMs),
    }))
    entries.account.addStage(() => this.#taker.pendingEntries + (release?.pendingEntries ?? 0))
    this.#requests =
      settings.requestLogs === false
        ? undefined
        : new RequestLogPipeline({
            ...shared,
            settings,
            report,
            http,
            hint,
            onRetryAfter: (delayMs) => entries.applyRetryAfter(delayMs),
          })
    this.#notices = new DropNotices({
      clock,
      settings,
      isBlocked: () => entries.isClosed || entries.lastFailure !== undefined,
      saveCounts: (drops) => entries.saveDropCounts(drops),
      onNotice: (entry) => {
        this.#generate(entry, NOTICE_SEVERITY)
        entries.seal()
      },
    })
    const minPosition = toThreshold(settings.level)
    const mapping = createMappingOptions(settings, config)
    this.#mapper = new Mapper(mapping, this.#requests === undefined ? minPosition : -1, () => clock.wallNow())
    this.#intake = createEntryBuilder({
      settings,
      mapping,
      clock,
      mapper: this.#mapper,
      requests: this.#requests,
      hook: options.hook,
      onProblem: (message) => report.problem('CONFIG', message),
      onSummary: (entry, rank) => this.#generate(entry, rank),
    })
    this.#taker = new RecordReader({
      endpoint: entries,
      entryBuilder: this.#intake,
      mapper: this.#mapper,
      threshold: minPosition,
      canRefuseUnread: this.#requests === undefined,
    })
    for (const channel of this.#channels) channel.start()
    release?.register()
    if (settings.enabled && settings.keyWarning !== undefined) report.problem('CONFIG', settings.keyWarning)
  }

  /** Of log entries. */
  get account(): Account {
    return this.#entries.account
  }

  get snapshot(): AccountSnapshot {
    const requestLogs = this.#requests?.endpoint.account.snapshot()
    return { ...this.account.snapshot(), ...(requestLogs && { requestLogs }) }
  }

  /** Entries and request logs taken and not yet settled. */
  get pendingEntries(): number {
    const { pending, requestLogs } = this.snapshot
    return pending + (requestLogs?.pending ?? 0)
  }

  /** Takes what pino wrote, cut anywhere. Never throws, never waits. */
  write(text: string): void {
    this.begin(text)
    this.advance()
  }

  /** @param finish takes what was begun, and waits: before a flush, and before a release that is not its own */
  onFinishText(finish: () => void): void {
    this.#finishText = finish
  }

  /** As `write`, of which `advance` does a part at a time. */
  begin(text: string): void {
    if (this.#settings.enabled) this.#taker.begin(text)
  }

  /** @param maxChars in UTF-16 units, about; default all @returns whether the text has more */
  advance(maxChars?: number): boolean {
    const hasMore = this.#taker.advance(maxChars)
    for (const channel of this.#channels) channel.commit()
    this.#report.stats(() => this.snapshot) // in an outage, and of what is filtered, nothing else tells
    return hasMore
  }

  /** No more text comes: what was left without a newline is a line, too, and what is open is cut. */
  end(): void {
    this.#taker.end()
    for (const channel of this.#channels) channel.seal()
  }

  /** For every later entry that names no release itself. */
  setReleaseId(releaseId: string): void {
    this.#finishText()
    this.#mapper.setReleaseId(releaseId)
  }

  /** Resolves when everything written so far is acknowledged, refused or dropped, or on disk in an outage. Never rejects. @param timeoutMs see `Delivery.flush` */
  async flush(timeoutMs?: number): Promise<FlushOutcome> {
    this.#finishText()
    for (const channel of this.#channels) channel.seal()
    if (this.#release !== undefined) await this.#release.ended
    const { reportCount } = this.#notices
    const flushed = await this.#flushChannels(timeoutMs)
    if (flushed === 'spooled') return flushed
    this.#notices.report()
    return this.#notices.reportCount === reportCount ? flushed : this.#flushChannels(timeoutMs)
  }

  async #flushChannels(timeoutMs: number | undefined): Promise<FlushOutcome> {
    const flushed = await Promise.all(this.#channels.map((channel) => channel.flush(timeoutMs)))
    return flushed.includes('spooled') ? 'spooled' : 'acknowledged'
  }

  /** What is held back as equal to others is told now. */
  flushRepeats(): void {
    this.#intake.flushNow()
  }

  /** Whether all that is pending is on disk, and the service is down. */
  get isSpooled(): boolean {
    return (
      this.#channels.every((channel) => channel.isSpooled || channel.account.snapshot().pending === 0) &&
      this.#channels.some((channel) => channel.isSpooled)
    )
  }

  /** As `flush`, without waiting for a backoff to end: the event loop has run empty. */
  flushNow(): Promise<FlushOutcome> {
    const flushed = this.flush()
    for (const channel of this.#channels) channel.retryNow()
    return flushed
  }

  /** Delivers what is inside within `shutdownTimeoutMs`; the rest is counted and told. Never rejects; calls join. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#intake.end()
    for (const channel of this.#channels) channel.seal()
    this.#notices.close()
    const { shutdownTimeoutMs } = this.#settings
    const startedAt = this.#clock.now()
    await this.#endRelease(Math.min(RELEASE_AT_EXIT_MS, shutdownTimeoutMs / 2))
    const leftMs = Math.max(Math.ceil(shutdownTimeoutMs - (this.#clock.now() - startedAt)), 0)
    await Promise.all(this.#channels.map((channel) => channel.drain(leftMs)))
    this.#end()
    await this.#closeHttp()
  }

  async #endRelease(timeoutMs: number): Promise<void> {
    const release = this.#release
    if (release === undefined) return
    const cancel = this.#clock.timer(timeoutMs, () => release.stop())
    await release.ended
    cancel()
    release.stop()
  }

  #end(): void {
    this.#intake.cancel()
    for (const channel of this.#channels) channel.close()
    this.#notices.end()
    this.#report.stats(() => this.snapshot)
    this.#report.flushNow()
  }

  /** The process ends in this very turn: counts and tells what is still inside. */
  abandon(): void {
    this.#intake.end()
    for (const channel of this.#channels) channel.seal()
    this.#release?.stop()
    for (const channel of this.#channels) channel.abandon()
    this.#notices.close()
    this.#end()
  }

  get #channels(): [EndpointPipeline, ...EndpointPipeline[]] {
    return this.#requests === undefined ? [this.#entries] : [this.#entries, this.#requests.endpoint]
  }

  /** An entry that is the transport's own; '' where it is left out. */
  #generate(entryJson: string, rank: number): void {
    this.account.generated += 1
    if (entryJson === '') this.account.filtered += 1
    else this.#entries.add(entryJson, rank)
    this.#entries.commit()
    this.#report.stats(() => this.snapshot)
  }
}
