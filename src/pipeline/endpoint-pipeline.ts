/**
 * The way to one endpoint: entries -> batches -> disk -> requests, with an account of its own. A pipeline has one for log
 * entries, and one for request logs.
 */
import { Account } from '../diagnostics/account.js'
import { Batcher } from './batcher.js'
import type { Clock } from '../shared/clock.js'
import { createGzipSender } from '../delivery/gzip-sender.js'
import { Delivery } from '../delivery/delivery.js'
import { CircuitBreaker } from '../delivery/retry/circuit-breaker.js'
import type { FlushOutcome } from '../delivery/queue/flush-waiters.js'
import { createIsolationSender } from '../delivery/isolation/isolation-sender.js'
import { createRetrySender } from '../delivery/retry/retry-sender.js'
import { createFailureReporter } from '../delivery/retry/failure-reporter.js'
import type { UnreportedDrops } from '../diagnostics/unreported-drops.js'
import type { Settings } from '../options/resolve-options.js'
import type { EndpointReporter } from '../diagnostics/reporter.js'
import type { Batch, DeadLetter, Sender } from '../batch/sender.js'
import { Spool } from '../spool/spool.js'

export interface EndpointPipelineOptions {
  readonly settings: Settings
  readonly clock: Clock
  /** In the application's own thread, where a request keeps the process alive. */
  readonly isInProcess: boolean
  readonly report: EndpointReporter
  /** Takes secrets out of the service's words. */
  readonly mask: (text: string) => string
  /** One request, and its reply as an outcome. */
  readonly sender: Sender
  /** What the body of a request is made from a batch's, before it is compressed. Default: it is the batch's. */
  readonly toBody?: (inner: Sender) => Sender
  /** Of the endpoint: what one keeps on disk is never sent to the other. */
  readonly url: string
  /** Those of the other channels, whose folders on disk are none of this one's. */
  readonly siblingUrls?: readonly string[]
  /** Whether this one ages what lies there for other URLs and keys, and tells of it. One channel is enough. Default true. */
  readonly shouldScanOthers?: boolean
  /** Whether what is too large for the service may be shortened. Default true. */
  readonly isShortenable?: boolean
  /** A batch was cut, and is on its way. Default: it is delivered at once. */
  readonly onBatch?: (batch: Batch) => void
  /** The service is back: `hasFailed`, or had only asked for silence. */
  readonly onRecovery?: (hasFailed: boolean) => void
  /** See `ClaimsOptions`. */
  readonly onPreviousDrops?: (drops: UnreportedDrops) => void
  /** The service has asked for silence, for so long. */
  readonly onRetryAfter?: (delayMs: number) => void
}

export class EndpointPipeline {
  readonly account = new Account()
  readonly #options: EndpointPipelineOptions
  readonly #batcher: Batcher
  readonly #gate: CircuitBreaker
  readonly #delivery: Delivery
  readonly #spool: Spool | undefined
  readonly #endTrouble: () => void

  constructor(options: EndpointPipelineOptions) {
    this.#options = options
    const { settings, clock, report, mask, onBatch } = options
    const { onFailure: onTrouble, onRecovery, end } = createFailureReporter(report, clock)
    this.#endTrouble = end
    const gate = (this.#gate = new CircuitBreaker({
      clock,
      ...settings,
      onFailure: onTrouble,
      onRecovery: (outageAgeMs, hasFailed) => {
        onRecovery(outageAgeMs)
        this.#delivery.onServiceRecovered()
        options.onRecovery?.(hasFailed)
      },
      ...(options.onRetryAfter && { onRetryAfter: options.onRetryAfter }),
    }))
    const retrying = createRetrySender(options.sender, gate)
    const compressing = settings.compression === 'gzip' ? createGzipSender(retrying) : retrying
    const spool = (this.#spool = openSpool(options, this.account, () => this.#delivery.wake()))
    // The service's words may repeat the key; what the app has logged is its own.
    const withoutSecrets = (letter: DeadLetter): DeadLetter => ({
      ...letter,
      code: mask(letter.code),
      field: mask(letter.field),
      reason: mask(letter.reason),
    })
    const sender = createIsolationSender({
      inner: options.toBody?.(compressing) ?? compressing,
      gate,
      isShortenable: options.isShortenable ?? true,
      ...(spool && { deadLetter: (letters) => spool.writeDeadLetters(letters.map(withoutSecrets)) }),
    })
    const disk = spool && {
      evicted: spool.evicted,
      recovery: spool.recovery,
      admits: (rank: number) => spool.admits(rank),
      get keptEntries() {
        return spool.retainedEntries
      },
    }
    this.#delivery = new Delivery({
      ...settings,
      sender,
      gate,
      clock,
      account: this.account,
      report,
      disk,
      recoverForMs: options.isInProcess ? settings.shutdownTimeoutMs : undefined,
    })
    this.#batcher = new Batcher({
      ...settings,
      clock,
      log: spool?.log,
      canStayOnDisk: (bytes) => this.#delivery.waitsOnDisk(bytes),
      onBatch: onBatch ?? ((batch) => this.deliver(batch)),
    })
    this.account.addStage(() => this.#batcher.pendingEntries)
    this.account.addStage(() => this.#delivery.pendingEntries)
    this.account.addStage(() => spool?.pendingEntries ?? 0)
  }

  /** Looks for what the dead have left, and may tell of it at once. */
  start(): void {
    this.#spool?.start()
  }

  /** The reason of the last failure, while the service fails, or that it has asked for silence. */
  get lastFailure(): string | undefined {
    return this.#gate.lastFailure
  }

  /** Whether nothing is taken any more. */
  get isClosed(): boolean {
    return this.#delivery.isClosed
  }

  /** Keeps the counts on disk, where there is one, in place of those before. Never throws. */
  saveDropCounts(drops: UnreportedDrops | undefined): void {
    this.#spool?.saveDropCounts(drops)
  }

  /** Whether all that is pending is on disk, and the service has accepted nothing since it failed. */
  get isSpooled(): boolean {
    return (this.#gate.lastFailure !== undefined || this.#gate.outageAgeMs > 0) && this.#delivery.isOnDisk
  }

  /** Whether there is room for an entry of this rank; see `Delivery`. */
  admits(rank: number): boolean {
    return this.#delivery.admits(rank)
  }

  /** Counts and tells an entry that `admits` turned away. */
  recordRefusal(): void {
    this.#delivery.refuse()
  }

  /** @param entryJson valid, as JSON @param rank its level's position in `LEVELS` */
  add(entryJson: string, rank: number): void {
    this.#batcher.add(entryJson, rank)
  }

  /** What was added is on disk when this returns. */
  commit(): void {
    this.#batcher.commit()
  }

  /** Cuts what is open. */
  seal(): void {
    this.#batcher.seal()
  }

  /** Takes a batch that was cut. */
  deliver(batch: Batch): void {
    this.#delivery.enqueue(batch)
  }

  /** Resolves when everything cut so far is acknowledged, refused or dropped, or on disk in an outage. Never rejects. */
  flush(timeoutMs?: number): Promise<FlushOutcome> {
    return this.#delivery.flush(timeoutMs)
  }

  /** Ends a pause of the backoff now. */
  retryNow(): void {
    this.#gate.retryNow()
  }

  /** Milliseconds for which nothing may be sent that carries the key: the service has asked for silence. */
  get retryAfterLeftMs(): number {
    return this.#gate.retryAfterLeftMs
  }

  /** Another call was asked for silence: it holds for all that carries the key (interface: Errors). */
  applyRetryAfter(delayMs: number): void {
    this.#gate.applyRetryAfter(delayMs)
  }

  /** Delivers what was cut within `timeoutMs`. Never rejects. */
  drain(timeoutMs: number): Promise<void> {
    return this.#delivery.drain(timeoutMs)
  }

  /** The process ends in this very turn: counts and tells what is still inside. */
  abandon(): void {
    this.#batcher.seal()
    this.#delivery.abandon()
  }

  /** What is not settled stays on disk. */
  close(): void {
    this.#endTrouble()
    this.#spool?.close()
    const { pending } = this.account.snapshot()
    if (pending > 0) this.#options.report.retained(pending)
  }
}

function openSpool(
  {
    settings,
    clock,
    url,
    siblingUrls,
    shouldScanOthers: looksAtOthers,
    report,
    onPreviousDrops,
  }: EndpointPipelineOptions,
  account: Account,
  onFound: () => void,
): Spool | undefined {
  const { enabled, spool, apiKey, previousApiKeys } = settings
  if (!enabled || spool === false) return undefined
  return new Spool({
    ...spool,
    url,
    siblingUrls,
    shouldScanOthers: looksAtOthers,
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
