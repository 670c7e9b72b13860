/** Builds the entry of a line: maps it, samples, deduplicates, attaches breadcrumbs, calls `beforeSend`. A line that is not sent may become a breadcrumb. */
import type { Deduplicator } from '../filter/deduplicator.js'
import type { BeforeSendHook } from '../filter/before-send-hook.js'
import { findFingerprint } from '../filter/entry-fingerprint.js'
import type { Sampler } from '../filter/sampler.js'
import type { Mapper } from '../record/mapper.js'
import { appendBreadcrumbs, attachBreadcrumbs } from '../breadcrumbs/attach-breadcrumbs.js'
import type { BreadcrumbFactory } from '../breadcrumbs/breadcrumb-factory.js'
import type { BreadcrumbBuffer } from '../breadcrumbs/breadcrumb-buffer.js'

export interface EntryBreadcrumbs {
  readonly buffer: BreadcrumbBuffer
  readonly factory: BreadcrumbFactory
  /** Lowest severity that becomes a breadcrumb. */
  readonly threshold: number
  /** Breadcrumbs on one entry. */
  readonly limit: number
}

export interface EntryBuilderOptions {
  readonly mapper: Mapper
  readonly maxEntryBytes: number
  /** Lowest severity that is sent. */
  readonly threshold: number
  /** Receives the entry of every record. @returns true if it must not be sent as an entry */
  readonly onRecord?: ((entryJson: string) => boolean) | undefined
  readonly breadcrumbs?: EntryBreadcrumbs | undefined
  readonly sampler?: Sampler | undefined
  readonly deduplicator?: Deduplicator | undefined
  readonly hook?: BeforeSendHook | undefined
}

/** Entries from this severity on get breadcrumbs. */
const ERROR_SEVERITY = 3

export class EntryBuilder {
  /** Of the last entry, from 0 (debug) to 4 (fatal). */
  severity = 0
  readonly #options: EntryBuilderOptions

  constructor(options: EntryBuilderOptions) {
    this.#options = options
  }

  /** Must be called before the lines of another text. */
  beginText(): void {
    this.#options.mapper.beginText()
    this.#options.breadcrumbs?.buffer.open()
  }

  /** @returns the entry of a line as JSON, '' if it is filtered. Never throws. Within one text, lines must come in order. */
  build(text: string, start: number, end: number): string {
    const { mapper, breadcrumbs } = this.#options
    let json = mapper.map(text, start, end)
    this.severity = mapper.severity
    if (json !== '' && !this.#isSent(json)) json = '' // also one below the threshold, which is mapped for its request log
    if (breadcrumbs !== undefined) {
      // Its own breadcrumb comes after those that it gets.
      if (json !== '' && mapper.severity >= ERROR_SEVERITY) json = this.#withBreadcrumbs(json, breadcrumbs)
      if (mapper.preciseSeverity >= breadcrumbs.threshold)
        breadcrumbs.buffer.add(mapper.scopeKind, mapper.scopeId, text, start, end, mapper.isFastPath)
    }
    if (json === '') return ''
    json = this.#applyHook(json)
    if (json === '' && mapper.severity >= ERROR_SEVERITY) breadcrumbs?.buffer.restore(mapper.scopeKind, mapper.scopeId)
    return json
  }

  /** Sends the summaries of repeated entries now. */
  flushNow(): void {
    this.#options.deduplicator?.flushNow()
  }

  /** The app ends: sends the summaries, and deduplicates nothing any more. */
  end(): void {
    this.#options.deduplicator?.end()
  }

  cancel(): void {
    this.#options.deduplicator?.cancel()
  }

  #isSent(json: string): boolean {
    const { mapper, threshold, onRecord, sampler, deduplicator } = this.#options
    if (onRecord?.(json) === true || mapper.preciseSeverity < threshold) return false
    if (sampler !== undefined && !sampler.keeps(mapper.severity, mapper.traceId)) return false
    if (deduplicator === undefined) return true
    const fingerprint = findFingerprint(json, mapper.fingerprint)
    return fingerprint === '' || !deduplicator.isRepeat(fingerprint, mapper.severity, json)
  }

  #withBreadcrumbs(json: string, { buffer, factory, limit }: EntryBreadcrumbs): string {
    const { mapper, maxEntryBytes } = this.#options
    const lines = buffer.take(mapper.scopeKind, mapper.scopeId)
    if (lines.length === 0) return json
    const made = lines.map(({ text, isUsual }) => factory.create(text, isUsual))
    const appended =
      mapper.openJson === '' ? undefined : appendBreadcrumbs(mapper.openJson, made, { limit, maxEntryBytes })
    return appended ?? attachBreadcrumbs(json, made, mapper.hasBreadcrumbs, { limit, maxEntryBytes })
  }

  #applyHook(json: string): string {
    const { hook } = this.#options
    if (hook === undefined) return json
    const result = hook.apply(json)
    if (result === 'drop') return ''
    this.severity = result.rank ?? this.severity
    return result.json
  }
}
