/** Wires the stages: text -> lines -> entries -> batches -> the service. Knows them all and decides nothing. */
import { Account } from './account.js'
import type { AccountSnapshot } from './account.js'
import { Batcher } from './batch.js'
import { createHttp } from './client/http.js'
import type { Clock } from './clock.js'
import { gzipSender } from './delivery/compress.js'
import { Delivery } from './delivery/delivery.js'
import { Gate } from './delivery/gate.js'
import { ingestSender } from './delivery/ingest.js'
import type { Flushed } from './delivery/flushes.js'
import { quarantineSender } from './delivery/quarantine.js'
import { retrySender } from './delivery/retry.js'
import { troubleTeller } from './delivery/trouble.js'
import { secretMask } from './mask.js'
import { NOTICE_RANK, NOTICE_WINDOW_MS, addDropped, droppedNotice } from './notice.js'
import type { DroppedByReason } from './notice.js'
import { levelRank } from './options.js'
import type { Settings } from './options.js'
import type { PinoConfig } from './pino-config.js'
import type { MappingOptions } from './record/entry.js'
import { PINO_LEVELS } from './record/fields.js'
import { LineSplitter } from './record/lines.js'
import { Mapper } from './record/mapper.js'
import { Report } from './report.js'
import type { EmitEvent, IngestEvents } from './report.js'
import { Throttle } from './report/throttle.js'
import type { DeadLetter } from './sender.js'
import { Spool } from './spool/spool.js'

export interface PipelineOptions {
  readonly settings: Settings
  /** pino's own, where it came. */
  readonly config?: PinoConfig | undefined
  readonly clock: Clock
  /** Where the `ingest:*` events go. */
  readonly emit: EmitEvent
  /** In the application's own thread, where a request keeps the process alive. Default: in a worker. */
  readonly isInProcess?: boolean
}

const LOWEST_RANK = 0

export class Pipeline {
  readonly account = new Account()
  readonly #settings: Settings
  readonly #clock: Clock
  readonly #report: Report
  readonly #lines: LineSplitter
  readonly #mapper: Mapper
  readonly #minRank: number
  readonly #batcher: Batcher
  readonly #gate: Gate
  readonly #delivery: Delivery
  readonly #spool: Spool | undefined
  readonly #notices: Throttle<DroppedByReason>
  /** To the service. */
  #untold: DroppedByReason = {}
  readonly #closeHttp: () => Promise<void>
  #closing: Promise<void> | undefined

  constructor(options: PipelineOptions) {
    const { settings, config, clock, emit } = options
    this.#settings = settings
    this.#clock = clock
    const apiKey = settings.apiKey.reveal()
    // The local service's stand-in for a key is a common word, and none of its messages need hide it.
    const secrets = settings.isLocalDefault ? [] : [apiKey, ...settings.previousApiKeys.map((key) => key.reveal())]
    this.#report = new Report({ clock, onProblem: settings.onProblem, secrets, emit: (name, payload) => {
      emit(name, payload)
      if (name === 'ingest:dropped') {
        const { reason, count } = payload as IngestEvents['ingest:dropped']
        this.#notices.offer({ [reason]: count })
      }
      // Whatever is worth an event has changed the account.
      if (name !== 'ingest:stats') this.#tellStats()
    } })
    const { onTrouble, onRecovery } = troubleTeller(this.#report)
    const gate = this.#gate = new Gate({ clock, ...settings, onTrouble, onRecovery: (outageAgeMs) => {
      onRecovery(outageAgeMs)
      this.#notice({})
    } })
    const http = createHttp({ ...settings, apiKey, maxConnections: settings.maxConcurrency })
    this.#closeHttp = () => http.close()
    const hint = settings.isLocalDefault ? 'start the local service with `npx pino-ingest dev`, or set PINO_INGEST_URL' : undefined
    const retrying = retrySender(ingestSender({ http, clock, hint }), gate)
    const compressing = settings.compression === 'gzip' ? gzipSender(retrying) : retrying
    const mask = secretMask(secrets)
    // The service's words may repeat the key; what the app has logged is its own.
    const withoutSecrets = (letter: DeadLetter): DeadLetter => ({ ...letter, code: mask(letter.code), field: mask(letter.field), reason: mask(letter.reason) })
    const spool = this.#spool = openSpool(options, this.account, this.#report, () => this.#delivery.wake())
    const sender = quarantineSender({ inner: compressing, gate, ...(spool && { setAside: (letters) => spool.setAside(letters.map(withoutSecrets)) }) })
    const disk = spool && {
      evicted: spool.evicted, recovery: spool.recovery, admits: (rank: number) => spool.admits(rank),
      get keptEntries() { return spool.keptEntries },
    }
    this.#delivery = new Delivery({ ...settings, sender, gate, clock, account: this.account, report: this.#report, disk,
      recoverForMs: options.isInProcess ? settings.shutdownTimeoutMs : undefined,
    })
    this.#batcher = new Batcher({
      ...settings, clock, log: spool?.log,
      waitsOnDisk: (bytes) => this.#delivery.waitsOnDisk(bytes), onBatch: (batch) => this.#delivery.enqueue(batch),
    })
    this.#notices = new Throttle(clock, NOTICE_WINDOW_MS, addDropped, (dropped) => this.#notice(dropped))
    this.#minRank = levelRank(settings.level)
    this.#mapper = new Mapper(mappingOptions(settings, config), this.#minRank, () => clock.wallNow())
    this.#lines = new LineSplitter((text, start, end) => this.#take(text, start, end))
    this.account.addStage(() => this.#batcher.pendingEntries)
    this.account.addStage(() => this.#delivery.pendingEntries)
    this.account.addStage(() => spool?.pendingEntries ?? 0)
    spool?.start()
  }

  /** Takes what pino wrote, cut anywhere. Never throws, never waits. */
  write(text: string): void {
    if (!this.#settings.enabled) return
    this.#mapper.open()
    this.#lines.write(text)
    this.#batcher.commit()
  }

  /** No more text comes: what was left without a newline is a line, too, and what is open is cut. */
  end(): void {
    this.#mapper.open()
    this.#lines.end()
    this.#batcher.seal()
  }

  /** Resolves when everything written so far is acknowledged, refused or dropped, or on disk in an outage. Never rejects. */
  flush(): Promise<Flushed> {
    this.#sealWithNotice()
    return this.#delivery.flush()
  }

  /** Whether all that is pending is on disk, and the service is down. */
  get isSpooled(): boolean {
    return this.#gate.trouble !== undefined && this.#delivery.isOnDisk
  }

  /** As `flush`, without waiting for a backoff to end: the event loop has run empty. */
  flushNow(): Promise<Flushed> {
    const flushed = this.flush()
    this.#gate.nudge()
    return flushed
  }

  /** Delivers what is inside within `shutdownTimeoutMs`; the rest is counted and told. Never rejects; calls join. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#notices.flushNow()
    this.#sealWithNotice()
    await this.#delivery.drain(this.#settings.shutdownTimeoutMs)
    this.#end()
    await this.#closeHttp()
  }

  #end(): void {
    this.#notices.cancel()
    this.#spool?.close()
    const { pending } = this.account.snapshot()
    if (pending > 0) this.#report.note('kept', `${pending === 1 ? '1 entry is' : `${pending} entries are`} not yet acknowledged; kept on disk, for the next start`)
    this.#tellStats()
    this.#report.flushNow()
  }

  /** The process ends in this very turn: counts and tells what is still inside. */
  abandon(): void {
    this.#batcher.seal()
    this.#delivery.abandon()
    this.#end()
  }

  /** Entries taken and not yet settled. */
  get pendingEntries(): number {
    return this.account.snapshot().pending
  }

  get snapshot(): AccountSnapshot {
    return this.account.snapshot()
  }

  #tellStats(): void {
    this.#report.stats(this.account.snapshot())
  }

  /** Not in the turn of the drop: what dropped them may be the batcher, in the middle of its way to disk. */
  #notice(dropped: DroppedByReason): void {
    this.#untold = addDropped(this.#untold, dropped)
    queueMicrotask(() => this.#tellDropped())
  }

  /** Not while the service is down, where it would be dropped with the rest; and not at the end, where nothing takes it. */
  #tellDropped(): void {
    if (this.#closing !== undefined || this.#gate.trouble !== undefined || Object.keys(this.#untold).length === 0) return
    this.account.generated += 1
    const entry = droppedNotice(this.#untold, this.#settings, this.#clock.wallNow())
    this.#untold = {}
    this.#batcher.add(entry, NOTICE_RANK)
    this.#batcher.commit()
  }

  /** With the notice of what was dropped before, or on the way to disk just now. */
  #sealWithNotice(): void {
    this.#batcher.seal()
    this.#tellDropped()
    this.#batcher.seal()
  }

  #take(text: string, start: number, end: number): void {
    this.account.received += 1
    // Short of room there is no time to lose either: what will be refused is not mapped first.
    if (!this.#delivery.admits(LOWEST_RANK)) {
      const peeked = this.#mapper.peekRank(text, start)
      if (peeked !== undefined && peeked >= this.#minRank && !this.#delivery.admits(peeked)) return this.#delivery.refuse()
    }
    const entry = this.#mapper.map(text, start, end)
    const rank = this.#mapper.rank
    if (entry === '') this.account.filtered += 1
    else if (this.#delivery.admits(rank)) this.#batcher.add(entry, rank)
    else this.#delivery.refuse()
  }
}

function openSpool({ settings, clock }: PipelineOptions, account: Account, report: Report, onFound: () => void): Spool | undefined {
  const { enabled, spool, url, apiKey, previousApiKeys } = settings
  if (!enabled || spool === false) return undefined
  return new Spool({
    ...spool, url, apiKey: apiKey.reveal(), previousApiKeys: previousApiKeys.map((key) => key.reveal()), clock, account, onFound,
    tell: {
      problem: (message) => report.problem('SPOOL', message),
      note: (kind, message) => report.note(kind, message),
      dropped: (count, reason, detail) => report.dropped(count, reason, detail),
    },
  })
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
