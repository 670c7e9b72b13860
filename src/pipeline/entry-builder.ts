/**
 * Builds the entry of a line: maps, joins, samples and deduplicates it, attaches breadcrumbs, and calls the application's `beforeSend`. A line
 * whose entry is not sent may still become a breadcrumb.
 */
import type { Deduplicator } from '../filter/deduplicator.js'
import type { BeforeSendHook } from '../filter/before-send-hook.js'
import { findFingerprint } from '../filter/entry-fingerprint.js'
import type { Sampler } from '../filter/sampler.js'
import type { Line } from '../record/line-ring.js'
import type { MappedRecord } from '../record/mapped-record.js'
import type { Mapper } from '../record/mapper.js'
import type { RequestJoiner } from '../request-logs/request-joiner.js'
import { attachBreadcrumbs } from '../breadcrumbs/attach-breadcrumbs.js'
import type { BreadcrumbFactory } from '../breadcrumbs/breadcrumb-factory.js'
import type { BreadcrumbBuffer } from '../breadcrumbs/breadcrumb-buffer.js'

export interface EntryBreadcrumbs {
  readonly buffer: BreadcrumbBuffer
  readonly factory: BreadcrumbFactory
  /** Lowest severity that becomes a breadcrumb, see `MappedRecord`. */
  readonly threshold: number
  /** Maximum number of breadcrumbs on one entry. */
  readonly limit: number
}

export interface EntryBuilderOptions {
  readonly mapper: Mapper
  readonly maxEntryBytes: number
  /** Lowest severity that is sent, see `MappedRecord`. */
  readonly threshold: number
  /**
   * Receives every record with an entry, even below the threshold. Returns true if the record must not be sent as a log
   * entry.
   */
  readonly onRecord?: ((record: MappedRecord) => boolean) | undefined
  readonly joiner: RequestJoiner
  readonly breadcrumbs?: EntryBreadcrumbs | undefined
  readonly sampler?: Sampler | undefined
  readonly deduplicator?: Deduplicator | undefined
  readonly hook?: BeforeSendHook | undefined
}

/** From this severity on, an entry gets the breadcrumbs of its scope. */
const ERROR_SEVERITY = 3

export class EntryBuilder {
  readonly #options: EntryBuilderOptions

  constructor(options: EntryBuilderOptions) {
    this.#options = options
  }

  /** Must be called before building entries from another text. */
  beginText(): void {
    this.#options.breadcrumbs?.buffer.open()
  }

  /** Never throws. @returns the mapper's record with the entry to send and its severity; empty if there is none */
  build(line: Line): MappedRecord {
    const { mapper, joiner, breadcrumbs } = this.#options
    const record = mapper.map(line)
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
    this.#options.deduplicator?.flushNow()
  }

  /** As `flushNow`; later repeats are sent. */
  end(): void {
    this.#options.deduplicator?.end()
  }

  cancel(): void {
    this.#options.deduplicator?.cancel()
  }

  #isKept(record: MappedRecord): boolean {
    const { severity, traceId, fingerprint: ownFingerprint } = record
    const { threshold, onRecord, sampler, deduplicator } = this.#options
    if (onRecord?.(record) === true || severity < threshold) return false
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
      { limit, maxEntryBytes: this.#options.maxEntryBytes },
    )
  }

  #applyHook(record: MappedRecord): void {
    const result = this.#options.hook?.apply(record.json)
    if (result === undefined) return
    record.json = result === 'drop' ? '' : result.json
    if (result !== 'drop') record.severity = result.severity ?? record.severity
  }
}
