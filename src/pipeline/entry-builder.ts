/**
 * Builds the entry of a line: maps, joins, samples and deduplicates it, attaches breadcrumbs, and calls the application's `beforeSend`. A line
 * whose entry is not sent may still become a breadcrumb.
 */
import { attachBreadcrumbs } from '../breadcrumbs/attach-breadcrumbs.js'
import { BreadcrumbFactory } from '../breadcrumbs/breadcrumb-factory.js'
import { BREADCRUMB_BYTES, BreadcrumbRows } from '../breadcrumbs/breadcrumb-rows.js'
import { validateRequest } from '../client/request-validation.js'
import { BeforeSendHook } from '../filter/before-send-hook.js'
import type { HookResult } from '../filter/before-send-hook.js'
import { Deduplicator } from '../filter/deduplicator.js'
import { findFingerprint } from '../filter/entry-fingerprint.js'
import type { HookFunction } from '../filter/load-hook.js'
import { Sampler } from '../filter/sampler.js'
import { toThreshold } from '../options/resolve-options.js'
import type { Settings } from '../options/resolve-options.js'
import { ERROR_SEVERITY, RowFlag, Stop } from '../record/memory.js'
import type { Line } from '../record/line-ring.js'
import type { MappedRecord } from '../record/mapped-record.js'
import type { Mapper } from '../record/mapper.js'
import type { MappingOptions } from '../record/reference/entry-fields.js'
import type { RequestJoiner } from '../request-logs/request-joiner.js'
import type { Clock } from '../shared/clock.js'
import { IngestError } from '../shared/errors.js'
import type { RequestLogPipeline } from './request-log-pipeline.js'

export interface EntryBuilderOptions {
  readonly settings: Settings
  readonly mapping: MappingOptions
  readonly clock: Clock
  readonly mapper: Mapper
  readonly joiner: RequestJoiner
  /** Receives every record with an entry, even below the threshold. */
  readonly requests: RequestLogPipeline | undefined
  readonly hook: HookFunction | undefined
  readonly onProblem: (message: string) => void
  /** Receives a summary of repeated entries; '' if the hook dropped it. */
  readonly onSummary: (entryJson: string, severity: number) => void
}

interface EntryBreadcrumbs {
  readonly rows: BreadcrumbRows
  readonly factory: BreadcrumbFactory
  /** Maximum number of breadcrumbs on one entry. */
  readonly limit: number
}

export class EntryBuilder {
  readonly #options: EntryBuilderOptions
  /** Lowest severity that is sent, see `MappedRecord`. */
  readonly #threshold: number
  readonly #breadcrumbs: EntryBreadcrumbs | undefined
  readonly #sampler: Sampler | undefined
  readonly #deduplicator: Deduplicator | undefined
  readonly #hook: BeforeSendHook | undefined
  /** Whether an option concerns each entry. */
  readonly #seesAll: boolean

  constructor(options: EntryBuilderOptions) {
    const { settings, mapping, clock, mapper, requests, hook, onProblem, onSummary } = options
    const { maxEntryBytes, sample, dedupeWindowMs, breadcrumbs } = settings
    const beforeSend =
      hook && new BeforeSendHook({ hook, onProblem, isValid: findFault, maxEntryBytes, redactor: mapping.redactor })
    this.#options = options
    this.#threshold = toThreshold(settings.sendLevel)
    this.#sampler = sample && new Sampler(sample)
    this.#hook = beforeSend
    this.#seesAll = requests !== undefined || sample !== undefined || dedupeWindowMs > 0 || hook !== undefined
    if (breadcrumbs !== false) {
      const { limit, level } = breadcrumbs
      const rows = new BreadcrumbRows({
        ring: mapper.lines,
        threshold: toThreshold(level),
        limit,
        maxBytes: BREADCRUMB_BYTES,
      })
      const factory = new BreadcrumbFactory(mapping, mapper.lines, () => clock.wallNow())
      mapper.kernel?.connectBreadcrumbs((row) => factory.create(rows.read(row)))
      this.#breadcrumbs = { rows, factory, limit }
    }
    if (dedupeWindowMs === 0) return
    this.#deduplicator = new Deduplicator({
      windowMs: dedupeWindowMs,
      clock,
      maxEntryBytes,
      onSummary: ({ json, severity }) => {
        const result: HookResult | 'drop' = beforeSend?.apply(json) ?? { json }
        if (result === 'drop') return onSummary('', severity)
        onSummary(result.json, result.severity ?? severity)
      },
    })
  }

  /** Must be called before building entries from another text. */
  beginText(): void {
    this.#breadcrumbs?.rows.setTime(this.#options.clock.now())
  }

  /** The lines that `build` must see, see `Stop`. The kernel builds the entries of all others. */
  get stops(): number {
    if (this.#seesAll) return Stop.EVERY_LINE
    return this.#options.joiner.hasStarts ? Stop.REQUEST_START | Stop.REQUEST_END : Stop.REQUEST_START
  }

  /**
   * Never throws.
   *
   * @param isDivisible see `Mapper.map` @param reason see `Mapper.map`
   * @returns the mapper's record with the entry to send and its severity; an empty one if nothing is sent; undefined if the line must be divided
   */
  build(line: Line, isDivisible: boolean, reason?: number): MappedRecord | undefined {
    const { mapper, joiner } = this.#options
    const breadcrumbs = this.#breadcrumbs
    const record = mapper.map(line, isDivisible, reason)
    if (record === undefined) return undefined
    if (record.requestPart !== 'none') joiner.join(record)
    if (!record.isEmpty && !this.#isKept(record)) record.json = ''
    const takesBreadcrumbs = !record.isEmpty && record.severity >= ERROR_SEVERITY
    if (breadcrumbs !== undefined) {
      // Added afterwards, so the error does not get its own breadcrumb.
      if (takesBreadcrumbs) this.#addBreadcrumbs(record, line, breadcrumbs)
      this.#addRow(record, line, breadcrumbs, takesBreadcrumbs)
    }
    if (record.isEmpty) return record
    this.#applyHook(record)
    if (record.isEmpty && takesBreadcrumbs) breadcrumbs?.rows.restore()
    return record
  }

  /** Sends the summaries of repeats now. */
  flushNow(): void {
    this.#deduplicator?.flushNow()
  }

  /** As `flushNow`; later repeats are sent. */
  end(): void {
    this.#deduplicator?.end()
  }

  cancel(): void {
    this.#deduplicator?.cancel()
  }

  #isKept(record: MappedRecord): boolean {
    const { severity, traceId, fingerprint: ownFingerprint } = record
    const sampler = this.#sampler
    const deduplicator = this.#deduplicator
    if (this.#options.requests?.add(record) === true || severity < this.#threshold) return false
    // Trace is sent as debug.
    const sentSeverity = Math.max(0, severity)
    if (sampler !== undefined && !sampler.keeps(sentSeverity, traceId)) return false
    if (deduplicator === undefined) return true
    const { json } = record
    const fingerprint = findFingerprint(json, ownFingerprint)
    return fingerprint === '' || !deduplicator.isRepeat(fingerprint, sentSeverity, json)
  }

  #addRow(record: MappedRecord, line: Line, { rows, factory }: EntryBreadcrumbs, tookBreadcrumbs: boolean): void {
    const { isFreeOfSecrets, scope, severity } = record
    const { isInRing } = line
    const flags =
      (isFreeOfSecrets ? RowFlag.FREE_OF_SECRETS : 0) |
      (isInRing ? 0 : RowFlag.IS_BREADCRUMB) |
      (tookBreadcrumbs ? RowFlag.TOOK : 0)
    const { position, start, end } = isInRing ? line : this.#options.mapper.lines.place(factory.parse(line.text))
    rows.add(scope, severity, { position, bytes: end - start, flags }, start)
  }

  #addBreadcrumbs(record: MappedRecord, line: Line, { rows, factory, limit }: EntryBreadcrumbs): void {
    const { kernel, lines } = this.#options.mapper
    const position = line.isInRing ? line.position : lines.end
    if (kernel?.appendBreadcrumbs(record, position) === true) return
    const taken = rows.find(record.scope, position)
    if (taken.length === 0) return
    record.json = attachBreadcrumbs(
      record.json,
      taken.map((one) => factory.create(one)),
      record.hasBreadcrumbs,
      { limit, maxEntryBytes: this.#options.settings.maxEntryBytes },
    )
  }

  #applyHook(record: MappedRecord): void {
    const result = this.#hook?.apply(record.json)
    if (result === undefined) return
    record.json = result === 'drop' ? '' : result.json
    if (result !== 'drop') record.severity = result.severity ?? record.severity
  }
}

/** @returns a description of the entry's violation of the interface; undefined for a valid entry */
function findFault(entry: unknown): string | undefined {
  try {
    validateRequest('batch', { logs: [entry] })
    return undefined
  } catch (error) {
    if (error instanceof IngestError) return error.message.replace(/^batch\.logs\[0\]\.?/, '')
    throw error
  }
}
