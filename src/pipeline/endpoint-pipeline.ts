/**
 * Sends entries to one endpoint: entries -> batches -> disk -> requests. A pipeline has one for log entries and one for
 * request logs.
 */
import type { Batch } from '../batch/batch.js'
import { describeSize } from '../delivery/debug-senders.js'
import { Delivery } from '../delivery/delivery.js'
import type { EndpointTarget } from '../delivery/destination.js'
import type { FlushOutcome } from '../delivery/queue/flush-waiters.js'
import { CircuitBreaker } from '../delivery/retry/circuit-breaker.js'
import { createFailureReporter, isKeyRejected } from '../delivery/retry/failure-reporter.js'
import { createSenderChain } from '../delivery/sender-chain.js'
import { toRecoveryMs } from '../delivery/shutdown-policy.js'
import type { Account } from '../diagnostics/account.js'
import { createDebugLog } from '../diagnostics/debug-log.js'
import type { DebugLog } from '../diagnostics/debug-log.js'
import type { EndpointReporter } from '../diagnostics/reporter.js'
import type { UnreportedDrops } from '../diagnostics/account.js'
import type { Settings } from '../options/resolve-options.js'
import type { Clock } from '../shared/clock.js'
import { Signal } from '../shared/signal.js'
import type { RereadableSource } from '../spool/entry-log.js'
import { Spool } from '../spool/spool.js'
import { Admission } from './admission.js'
import { Batcher } from './batcher.js'

/** All entries of a source are available, so an endpoint that accepts any entry accepts one within this time. */
const SOURCE_MAX_WAIT_MS = 5_000

export interface EndpointPipelineOptions {
  readonly settings: Settings
  readonly clock: Clock
  readonly account: Account
  /** Whether it runs in the application's thread, where a request keeps the process alive. */
  readonly isInProcess: boolean
  readonly report: EndpointReporter
  /** Removes secrets from the text of a reply. */
  readonly mask: (text: string) => string
  readonly target: EndpointTarget
  /** URL of the endpoint. Entries on disk for one URL are never sent to another. */
  readonly url: string
  /** Stores the entries instead of the spool. */
  readonly source?: RereadableSource | undefined
  /** URLs of the pipeline's other endpoints, which delete their expired entries themselves. */
  readonly siblingUrls?: readonly string[]
  /**
   * Whether this endpoint deletes and reports expired entries of other URLs and keys. One endpoint is enough. Default
   * true.
   */
  readonly shouldScanOthers?: boolean
  /** Whether an entry that is too large for the service may be shortened. Default true. */
  readonly isShortenable?: boolean
  /** Receives the drops that an earlier process counted but did not report. */
  readonly onPreviousDrops?: (drops: UnreportedDrops) => void
}

export class EndpointPipeline {
  readonly account: Account
  readonly admission: Admission
  readonly batcher: Batcher
  readonly breaker: CircuitBreaker
  /** Emitted when the service accepts entries again, after a failure (`hasFailed`) or after a Retry-After. */
  readonly recovered = new Signal<[hasFailed: boolean]>()
  /** Emitted when the service sends a Retry-After. */
  readonly retryAfter = new Signal<[delayMs: number]>()
  readonly #report: EndpointReporter
  readonly #delivery: Delivery
  readonly #spool: Spool | undefined
  readonly #stopReportingFailures: () => void
  readonly #debug: DebugLog | undefined
  #isKeyRejected = false
  #buffer: { add(batch: Batch): void } | undefined

  constructor(options: EndpointPipelineOptions) {
    const { settings, clock, account, report, source, isInProcess } = options
    const foundOnDisk = new Signal()
    const spool = openSpool(options, () => foundOnDisk.emit())
    const failures = createFailureReporter(report, clock, { url: settings.url, hasSpool: spool !== undefined })
    const breaker = new CircuitBreaker({
      ...settings,
      clock,
      onFailure: (failure, ...times) => {
        this.#isKeyRejected = isKeyRejected(failure)
        if (this.#isKeyRejected) spool?.markKeyRejected()
        failures.onFailure(failure, ...times)
      },
      onRecovery: (_, hasFailed) => {
        if (this.#isKeyRejected) spool?.unmarkKeyRejected()
        this.#isKeyRejected = false
        failures.onRecovery()
        this.recovered.emit(hasFailed)
      },
      onRetryAfter: (delayMs) => this.retryAfter.emit(delayMs),
    })
    const store = source ?? spool
    const delivery = new Delivery({
      ...settings,
      sender: createSenderChain({
        ...options,
        breaker,
        ...(store && { deadLetter: (letters) => store.writeDeadLetters(letters) }),
        maxWaitMs: source && SOURCE_MAX_WAIT_MS,
      }),
      breaker,
      clock,
      account,
      report,
      disk: spool,
      recoverForMs: toRecoveryMs(settings.shutdownTimeoutMs, isInProcess),
    })
    foundOnDisk.on(() => delivery.wake())
    const batcher = new Batcher({
      ...settings,
      clock,
      log: source ?? spool?.log,
      ...(source && { newId: () => source.newBatchId() }),
      canStayOnDisk: (bytes) => delivery.waitsOnDisk(bytes),
      onBatch: (batch) => (this.#buffer ?? this).add(batch),
    })
    account.addStage(() => batcher.pendingEntries)
    account.addStage(() => delivery.pendingEntries)
    if (spool !== undefined) account.addStage(() => spool.pendingEntries)
    this.account = account
    this.admission = new Admission({ memory: delivery, disk: spool })
    this.batcher = batcher
    this.breaker = breaker
    this.#report = report
    this.#delivery = delivery
    this.#debug = createDebugLog(settings.isDebug, options.mask)
    this.#spool = spool
    this.#stopReportingFailures = failures.end
  }

  /** Passes later batches to `buffer`, which passes them to `add` when they may be delivered. */
  connect(buffer: { add(batch: Batch): void }): void {
    this.#buffer = buffer
  }

  /** Starts claiming and sending batches that earlier processes left on disk. */
  start(): void {
    this.#spool?.start()
  }

  /** Delivers a batch. */
  add(batch: Batch): void {
    this.#debug?.(`batch ${batch.batchId}: sealed, ${describeSize(batch)}`)
    this.#delivery.enqueue(batch)
  }

  /**
   * Adds an entry that the transport created; '' for one that `beforeSend` dropped. With a spool, it is on disk when
   * this returns.
   */
  addGenerated(entryJson: string, severity: number): void {
    this.account.generated += 1
    if (entryJson === '') this.account.filtered += 1
    else this.batcher.add(entryJson, severity)
    this.batcher.commit()
  }

  /** Counts and reports an entry that was not admitted. */
  recordRefusal(): void {
    this.#delivery.refuse(this.admission.reason)
  }

  /** Whether the service is assumed to accept entries. */
  get isAccepting(): boolean {
    return !this.#delivery.isClosed && this.breaker.failures.lastFailure === undefined
  }

  /** Whether all pending entries are on disk and the service has accepted nothing since it failed. */
  get isSpooled(): boolean {
    return (
      (this.breaker.failures.lastFailure !== undefined || this.breaker.failures.outageAgeMs > 0) &&
      this.#delivery.isOnDisk
    )
  }

  /** Saves the counts on disk for the next process. Never throws. */
  saveDropCounts(drops: UnreportedDrops | undefined): void {
    this.#spool?.saveDropCounts(drops)
  }

  /** Resolves when all sealed batches are acknowledged, rejected, dropped or, in an outage, on disk. Never rejects. */
  flush(timeoutMs?: number): Promise<FlushOutcome> {
    return this.#delivery.flush(timeoutMs)
  }

  /** Resolves when nothing listens at the implicit local URL. @param signal ends the wait */
  waitUntilNobodyListens(signal: AbortSignal): Promise<void> {
    const { failures } = this.breaker
    return failures.until(() => failures.nobodyListens, signal)
  }

  /** Delivers the sealed batches within `timeoutMs`. Never rejects. */
  drain(timeoutMs: number): Promise<void> {
    return this.#delivery.drain(timeoutMs)
  }

  /** Called if the process exits in this turn. Counts and reports all pending entries that are not on disk. */
  abandon(): void {
    this.batcher.seal()
    this.#delivery.abandon()
  }

  /** Closes the endpoint. Unsettled entries stay on disk. */
  close(): void {
    this.#stopReportingFailures()
    this.#spool?.close()
    const { pending } = this.account.snapshot()
    if (pending > 0) this.#report.retained(pending, this.breaker.failures.lastFailure, this.#isKeyRejected)
  }
}

function openSpool(options: EndpointPipelineOptions, onFound: () => void): Spool | undefined {
  const { settings, clock, account, report, url, siblingUrls, shouldScanOthers, onPreviousDrops } = options
  const { enabled, spool, apiKey, previousApiKeys } = settings
  if (!enabled || spool === false) return undefined
  return new Spool({
    ...spool,
    url,
    service: settings.service ?? settings.fallbackService,
    siblingUrls,
    shouldScanOthers,
    apiKey: apiKey.reveal(),
    previousApiKeys: previousApiKeys.map((key) => key.reveal()),
    clock,
    account,
    onFound,
    onPreviousDrops,
    report: {
      problem: (message) => report.problem('SPOOL', message),
      note: (kind, message) => report.note(kind, message),
      dropped: (count, reason, detail) => report.dropped(count, reason, detail),
    },
  })
}
