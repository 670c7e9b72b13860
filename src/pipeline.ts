/** Wires the stages: text -> lines -> entries -> batches -> the service. Knows them all and decides nothing. */
import { Account } from './account.js'
import { Batcher } from './batch.js'
import { createHttp } from './client/http.js'
import type { Clock } from './clock.js'
import { gzipSender } from './delivery/compress.js'
import { Delivery } from './delivery/delivery.js'
import { Gate } from './delivery/gate.js'
import { ingestSender } from './delivery/ingest.js'
import { retrySender } from './delivery/retry.js'
import { troubleTeller } from './delivery/trouble.js'
import { levelRank } from './options.js'
import type { Settings } from './options.js'
import type { PinoConfig } from './pino-config.js'
import type { MappingOptions } from './record/entry.js'
import { PINO_LEVELS } from './record/fields.js'
import { LineSplitter } from './record/lines.js'
import { Mapper } from './record/mapper.js'
import { Report } from './report.js'
import type { EmitEvent } from './report.js'

export interface PipelineOptions {
  readonly settings: Settings
  /** pino's own, where it came. */
  readonly config?: PinoConfig | undefined
  readonly clock: Clock
  /** Where the `ingest:*` events go. */
  readonly emit: EmitEvent
}

export class Pipeline {
  readonly account = new Account()
  readonly #settings: Settings
  readonly #report: Report
  readonly #lines: LineSplitter
  readonly #mapper: Mapper
  readonly #batcher: Batcher
  readonly #gate: Gate
  readonly #delivery: Delivery
  readonly #closeHttp: () => Promise<void>
  #closing: Promise<void> | undefined

  constructor({ settings, config, clock, emit }: PipelineOptions) {
    this.#settings = settings
    const apiKey = settings.apiKey.reveal()
    // The local service's stand-in for a key is a common word, and none of its messages need hide it.
    const secrets = settings.isLocalDefault ? [] : [apiKey]
    this.#report = new Report({ clock, onProblem: settings.onProblem, secrets, emit: (name, payload) => {
      emit(name, payload)
      // Whatever is worth an event has changed the account.
      if (name !== 'ingest:stats') this.#tellStats()
    } })
    const gate = this.#gate = new Gate({ clock, ...settings, ...troubleTeller(this.#report) })
    const http = createHttp({ ...settings, apiKey, maxConnections: settings.maxConcurrency })
    this.#closeHttp = () => http.close()
    const hint = settings.isLocalDefault ? 'start the local service with `npx pino-ingest dev`, or set PINO_INGEST_URL' : undefined
    const retrying = retrySender(ingestSender({ http, clock, hint }), gate)
    const sender = settings.compression === 'gzip' ? gzipSender(retrying) : retrying
    this.#delivery = new Delivery({ ...settings, sender, gate, clock, account: this.account, report: this.#report })
    this.#batcher = new Batcher({ ...settings, clock, onBatch: (batch) => this.#delivery.enqueue(batch) })
    this.#mapper = new Mapper(mappingOptions(settings, config), levelRank(settings.level), () => clock.wallNow())
    this.#lines = new LineSplitter((text, start, end) => this.#take(text, start, end))
    this.account.addStage(() => this.#batcher.pendingEntries)
    this.account.addStage(() => this.#delivery.pendingEntries)
  }

  /** Takes what pino wrote, cut anywhere. Never throws, never waits. */
  write(text: string): void {
    if (!this.#settings.enabled) return
    this.#mapper.open()
    this.#lines.write(text)
  }

  /** No more text comes: what was left without a newline is a line, too, and what is open is cut. */
  end(): void {
    this.#mapper.open()
    this.#lines.end()
    this.#batcher.seal()
  }

  /** Resolves when everything written so far is acknowledged, refused or dropped. Never rejects. */
  flush(): Promise<void> {
    this.#batcher.seal()
    return this.#delivery.flush()
  }

  /** As `flush`, without waiting for a backoff to end: the event loop has run empty. */
  flushNow(): Promise<void> {
    const flushed = this.flush()
    this.#gate.nudge()
    return flushed
  }

  /** Delivers what is inside within `shutdownTimeoutMs`; the rest is counted and told. Never rejects; calls join. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#batcher.seal()
    await this.#delivery.drain(this.#settings.shutdownTimeoutMs)
    this.#tellStats()
    this.#report.flushNow()
    await this.#closeHttp()
  }

  /** The process ends in this very turn: counts and tells what is still inside. */
  abandon(): void {
    this.#batcher.seal()
    this.#delivery.abandon()
    this.#report.flushNow()
  }

  /** Entries taken and not yet settled. */
  get pendingEntries(): number {
    return this.#batcher.pendingEntries + this.#delivery.pendingEntries
  }

  #tellStats(): void {
    this.#report.stats(this.account.snapshot())
  }

  #take(text: string, start: number, end: number): void {
    this.account.received += 1
    const entry = this.#mapper.map(text, start, end)
    const rank = this.#mapper.rank
    if (entry === '') this.account.filtered += 1
    else if (this.#delivery.admits(rank)) this.#batcher.add(entry, rank)
    else this.#delivery.refuse()
  }
}

/** Options before pino's own configuration before pino's defaults. */
function mappingOptions(settings: Settings, config: PinoConfig | undefined): MappingOptions {
  const custom = Object.entries(settings.customLevels ?? {}).map(([label, number]) => [number, label] as const)
  return {
    ...settings,
    messageKey: settings.messageKey ?? config?.messageKey ?? 'msg',
    errorKey: settings.errorKey ?? config?.errorKey ?? 'err',
    levels: { ...(config?.levels?.labels ?? PINO_LEVELS), ...Object.fromEntries(custom) },
  }
}
