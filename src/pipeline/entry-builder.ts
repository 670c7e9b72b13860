/**
 * Builds the entry of a line: maps, joins, samples and deduplicates it, attaches breadcrumbs, and calls the application's `beforeSend`. A line
 * whose entry is not sent may still become a breadcrumb.
 */
import { attachBreadcrumbs } from '../breadcrumbs/attach-breadcrumbs.js'
import { BreadcrumbBuffer } from '../breadcrumbs/breadcrumb-buffer.js'
import { BreadcrumbFactory } from '../breadcrumbs/breadcrumb-factory.js'
import { validateRequest } from '../client/request-validation.js'
import { BeforeSendHook } from '../filter/before-send-hook.js'
import type { HookResult } from '../filter/before-send-hook.js'
import { Deduplicator } from '../filter/deduplicator.js'
import { findFingerprint } from '../filter/entry-fingerprint.js'
import type { HookFunction } from '../filter/load-hook.js'
import { Sampler } from '../filter/sampler.js'
import { toThreshold } from '../options/resolve-options.js'
import type { Settings } from '../options/resolve-options.js'
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
  /** The function of `beforeSend`. */
  readonly hook: HookFunction | undefined
  readonly onProblem: (message: string) => void
  /** Receives a summary of repeated entries; '' if the hook dropped it. */
  readonly onSummary: (entryJson: string, severity: number) => void
}

interface EntryBreadcrumbs {
  readonly buffer: BreadcrumbBuffer
  readonly factory: BreadcrumbFactory
  /** Lowest severity that becomes a breadcrumb, see `MappedRecord`. */
  readonly threshold: number
  /** Maximum number of breadcrumbs on one entry. */
  readonly limit: number
}

/** From this severity on, an entry gets the breadcrumbs of its scope. */
const ERROR_SEVERITY = 3

export class EntryBuilder {
  readonly #options: EntryBuilderOptions
  /** Lowest severity that is sent, see `MappedRecord`. */
  readonly #threshold: number
  readonly #breadcrumbs: EntryBreadcrumbs | undefined
  readonly #sampler: Sampler | undefined
  readonly #deduplicator: Deduplicator | undefined
  readonly #hook: BeforeSendHook | undefined

  constructor(options: EntryBuilderOptions) {
    const { settings, mapping, clock, mapper, hook, onProblem, onSummary } = options
    const { maxEntryBytes, sample, dedupeWindowMs, breadcrumbs } = settings
    const beforeSend =
      hook && new BeforeSendHook({ hook, onProblem, isValid: findFault, maxEntryBytes, redactor: mapping.redactor })
    this.#options = options
    this.#threshold = toThreshold(settings.level)
    this.#sampler = sample && new Sampler(sample)
    this.#hook = beforeSend
    if (breadcrumbs !== false) {
      const { limit, maxBytes, level } = breadcrumbs
      this.#breadcrumbs = {
        buffer: new BreadcrumbBuffer({ ring: mapper.lines, limit, maxBytes, clock }),
        factory: new BreadcrumbFactory(mapping, mapper, () => clock.wallNow()),
        threshold: toThreshold(level),
        limit,
      }
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
    this.#breadcrumbs?.buffer.open()
  }

  /**
   * Never throws.
   *
   * @param isDivisible see `Mapper.map`
   * @returns the mapper's record with the entry to send and its severity; an empty one if nothing is sent; undefined if the line must be divided
   */
  build(line: Line, isDivisible: boolean): MappedRecord | undefined {
    const { mapper, joiner } = this.#options
    const breadcrumbs = this.#breadcrumbs
    const record = mapper.map(line, isDivisible)
    if (record === undefined) return undefined
    if (record.requestPart !== 'none') joiner.join(record)
    if (!record.isEmpty && !this.#isKept(record)) record.json = ''
    const takesBreadcrumbs = !record.isEmpty && record.severity >= ERROR_SEVERITY
    if (breadcrumbs !== undefined) {
      // Added afterwards, so the error does not get its own breadcrumb.
      if (takesBreadcrumbs) this.#addBreadcrumbs(record, breadcrumbs)
      if (record.severity >= breadcrumbs.threshold) this.#keep(record, line, breadcrumbs)
    }
    if (record.isEmpty) return record
    this.#applyHook(record)
    if (record.isEmpty && takesBreadcrumbs) breadcrumbs?.buffer.restore(record.scopeKind, record.scopeId)
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

  #keep(record: MappedRecord, line: Line, { buffer, factory }: EntryBreadcrumbs): void {
    const isBreadcrumb = !line.isInRing
    const { position, start, end } = isBreadcrumb ? this.#options.mapper.lines.place(factory.parse(line.text)) : line
    const { isMappedByKernel, isFreeOfSecrets } = record
    buffer.add(record, { position, bytes: end - start, isMappedByKernel, isFreeOfSecrets, isBreadcrumb })
  }

  #addBreadcrumbs(record: MappedRecord, { buffer, factory, limit }: EntryBreadcrumbs): void {
    const lines = buffer.take(record.scopeKind, record.scopeId)
    if (lines.length === 0 || (record.bytes !== undefined && factory.append(record.bytes, lines))) return
    record.json = attachBreadcrumbs(
      record.json,
      lines.map((line) => factory.create(line)),
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
