/**
 * Sends entries to one endpoint: entries -> batches -> disk -> requests. Everything that sends batches makes one: a
 * transport (one for log entries and one for request logs), `send`, `spool replay` and the forwarder.
 */
import type { Batch, DeadLetter } from '../batch/batch.js'
import { createDebugListener, describeSize } from '../delivery/debug-events.js'
import type { DeliveryEvent } from '../delivery/delivery-event.js'
import type { Sender } from '../batch/sender.js'
import { createFailureReporter } from '../delivery/failure-reporter.js'
import type { FailureReporter } from '../delivery/failure-reporter.js'
import { Scheduler } from '../delivery/scheduler.js'
import type { SchedulerOptions } from '../delivery/scheduler.js'
import { Settlement } from '../delivery/settlement.js'
import type { Account } from '../diagnostics/account.js'
import { createDebugLog } from '../diagnostics/debug-log.js'
import type { DebugLog } from '../diagnostics/debug-log.js'
import { DROP_MESSAGES } from '../diagnostics/messages.js'
import { NO_FAILURE } from '../diagnostics/reporter.js'
import type { EndpointReporter } from '../diagnostics/reporter.js'
import type { Settings } from '../options/resolve-options.js'
import type { Clock } from '../shared/clock.js'
import type { KeyPause } from '../shared/key-pause.js'
import { Signal } from '../shared/signal.js'
import type { RereadableSource } from '../spool/entry-log.js'
import { Spool } from '../spool/spool.js'
import { Admission } from './admission.js'
import { Batcher } from './batcher.js'

/** Batches that another program stored: their source, and the store of their dead letters. */
export interface FoundBatches {
  readonly disk: NonNullable<SchedulerOptions['disk']>
  /** @throws the system's errors */
  writeDeadLetters(letters: readonly DeadLetter[]): void
}

export interface EndpointPipelineOptions {
  readonly settings: Settings
  readonly clock: Clock
  readonly account: Account
  readonly report: EndpointReporter
  /** Removes secrets from the text of a reply. */
  readonly mask: (text: string) => string
  readonly pause: KeyPause
  readonly target: Sender
  /** URL of the endpoint. Entries on disk for one URL are never sent to another. */
  readonly url: string
  /** Whether it runs in the application's thread, where a request keeps the process alive. Default false. */
  readonly isInProcess?: boolean
  /** Stores the entries instead of the spool. */
  readonly source?: RereadableSource | undefined
  /** Replaces the spool. */
  readonly found?: FoundBatches
  /** URLs of the pipeline's other endpoints, which delete their expired entries themselves. */
  readonly siblingUrls?: readonly string[]
  /**
   * Whether this endpoint deletes and reports expired entries of other URLs and keys. One endpoint is enough. Default
   * true.
   */
  readonly shouldScanOthers?: boolean
  /** Whether an entry that is too large for the service may be shortened. Default true. */
  readonly isShortenable?: boolean
  /** Describes what happens to entries during a failure. */
  readonly meanwhile?: string
}

export class EndpointPipeline {
  readonly account: Account
  readonly admission: Admission
  readonly batcher: Batcher
  readonly delivery: Scheduler
  readonly events = new Signal<[event: DeliveryEvent]>()
  /** Emitted when the service accepts entries again, after a failure or a Retry-After. */
  readonly recovered = new Signal()
  readonly #report: EndpointReporter
  readonly #failures: FailureReporter
  readonly #settlement: Settlement
  readonly #spool: Spool | undefined
  readonly #debug: DebugLog | undefined
  readonly #shutdownTimeoutMs: number
  #hasFailed = false

  constructor(options: EndpointPipelineOptions) {
    const { settings, clock, account, report, source, found, mask, meanwhile } = options
    const foundOnDisk = new Signal()
    const spool = found === undefined ? openSpool(options, () => foundOnDisk.emit()) : undefined
    const { events } = this
    const debug = createDebugLog(settings.isDebug, mask)
    const failures = createFailureReporter({ report, clock, url: settings.url, meanwhile })
    const store = source ?? found ?? spool
    const settlement = new Settlement({
      account,
      report,
      events,
      mask,
      deadLetter: store && ((letters) => store.writeDeadLetters(letters)),
    })
    const delivery = new Scheduler({
      ...settings,
      ...options,
      sender: options.target,
      settlement,
      disk: found?.disk ?? spool,
      events,
    })
    foundOnDisk.on(() => delivery.wake())
    const batcher = new Batcher({
      ...settings,
      clock,
      log: source ?? spool?.log,
      ...(source && { newId: () => source.newBatchId() }),
      canStayOnDisk: (bytes) => delivery.waitsOnDisk(bytes),
      onBatch: (batch) => this.add(batch),
    })
    account.addStage(() => batcher.pendingEntries)
    account.addStage(() => delivery.pendingEntries)
    if (spool !== undefined) account.addStage(() => spool.pendingEntries)
    this.account = account
    this.admission = new Admission({ memory: delivery, disk: spool })
    this.batcher = batcher
    this.#report = report
    this.#failures = failures
    this.#settlement = settlement
    this.delivery = delivery
    this.#spool = spool
    this.#debug = debug
    this.#shutdownTimeoutMs = settings.shutdownTimeoutMs
    if (debug !== undefined) events.on(createDebugListener(debug))
    events.on((event) => this.#onEvent(event))
  }

  /** Starts claiming and sending batches that earlier processes left on disk. */
  start(): void {
    this.#spool?.start(() => this.delivery.mayAdopt)
  }

  add(batch: Batch): void {
    this.#debug?.(`batch ${batch.batchId}: sealed, ${describeSize(batch)}`)
    this.delivery.enqueue(batch)
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

  /** Committed entries that are not on disk. */
  get memoryOnlyEntries(): number {
    return this.delivery.memoryOnlyEntries + (this.#spool?.log.current === undefined ? this.batcher.pendingEntries : 0)
  }

  /** Counts and reports entries that were not admitted. */
  recordNotAdmitted(count: number): void {
    this.#settlement.notAdmitted(this.admission.reason, count)
  }

  /** Whether the service is assumed to accept entries. */
  get isAccepting(): boolean {
    return !this.delivery.isClosed && this.delivery.lastFailure === undefined
  }

  /** Delivers the sealed batches within `timeoutMs`. Never rejects. @param failuresLeft see `Scheduler.sendRemaining` */
  drain(timeoutMs: number, failuresLeft?: number): Promise<void> {
    return this.delivery.drain(timeoutMs, () => this.#describeLoss(), failuresLeft)
  }

  /** Called if the process exits in this turn. Counts and reports all pending entries that are not on disk. */
  abandon(): void {
    this.batcher.seal()
    this.delivery.close(DROP_MESSAGES.processExited.text(this.delivery.lastFailure ?? NO_FAILURE))
  }

  /** Closes the endpoint. Unsettled entries stay on disk. */
  close(): void {
    this.#failures.end()
    this.#spool?.close()
    this.reportRetained()
  }

  reportRetained(): void {
    const { pending } = this.account.snapshot()
    if (this.#spool !== undefined && pending > 0)
      this.#report.retained(pending, this.delivery.lastFailure, this.#failures.isKeyRejected)
  }

  #describeLoss(): string {
    const { lastFailure = NO_FAILURE } = this.delivery
    return DROP_MESSAGES.notDelivered.text(this.#shutdownTimeoutMs, lastFailure)
  }

  #onEvent(event: DeliveryEvent): void {
    const wasRejected = this.#failures.isKeyRejected
    this.#failures.onEvent(event)
    const { isKeyRejected } = this.#failures
    if (isKeyRejected && !wasRejected) this.#spool?.markKeyRejected()
    if (!isKeyRejected && wasRejected) this.#spool?.unmarkKeyRejected()
    if (event.kind === 'failed' || event.kind === 'paused') this.#hasFailed = true
    else if (event.kind === 'accepted' && this.#hasFailed) {
      this.#hasFailed = false
      this.recovered.emit()
    }
  }
}

/** @returns undefined if the settings have no spool */
function openSpool({ settings, report, ...options }: EndpointPipelineOptions, onFound: () => void): Spool | undefined {
  const { enabled, spool, apiKey, previousApiKeys, service, fallbackService } = settings
  if (!enabled || spool === false) return undefined
  const opened = new Spool({
    ...spool,
    ...options,
    onFound,
    service: service ?? fallbackService,
    apiKey: apiKey.reveal(),
    previousApiKeys: previousApiKeys.map((key) => key.reveal()),
    report: {
      problem: (message) => report.problem('SPOOL', message),
      note: (kind, message) => report.note(kind, message),
      dropped: (count, reason, detail) => report.dropped(count, reason, detail),
    },
  })
  apiKey.changed.on((key) => opened.replaceKey(key))
  return opened
}
