/**
 * From a line to the entry that is sent, or to none: mapped, sampled, deduplicated, with what led to it, and through the
 * app's own hook. What is not sent may still be a breadcrumb of what is.
 */
import type { Deduplicator } from '../filter/deduplicator.js'
import type { BeforeSendHook } from '../filter/before-send-hook.js'
import { findFingerprint } from '../filter/entry-fingerprint.js'
import type { Sampler } from '../filter/sampler.js'
import type { Mapper } from '../record/mapper.js'
import { appendBreadcrumbs, attachBreadcrumbs } from '../breadcrumbs/attach-breadcrumbs.js'
import type { BreadcrumbFactory } from '../breadcrumbs/breadcrumb-factory.js'
import type { BreadcrumbBuffer } from '../breadcrumbs/breadcrumb-buffer.js'

/** The trail, and what makes crumbs of its lines. */
export interface EntryBreadcrumbs {
  readonly buffer: BreadcrumbBuffer
  readonly factory: BreadcrumbFactory
  /** Lowest level that becomes a crumb, as `positionOf`. */
  readonly threshold: number
  /** Crumbs on one entry. */
  readonly limit: number
}

export interface EntryBuilderOptions {
  readonly mapper: Mapper
  readonly maxEntryBytes: number
  /** Lowest level that is sent, as `positionOf`. */
  readonly threshold: number
  /** Takes the entry of every record there is; true where it is not to be sent as an entry, too. */
  readonly onRecord?: ((entryJson: string) => boolean) | undefined
  readonly breadcrumbs?: EntryBreadcrumbs | undefined
  readonly sampler?: Sampler | undefined
  readonly deduplicator?: Deduplicator | undefined
  readonly hook?: BeforeSendHook | undefined
}

/** From `error` up an entry takes its crumbs. */
const ERROR_RANK = 3

export class EntryBuilder {
  /** Level of the last entry, 0 to 4, debug to fatal. */
  severity = 0
  readonly #options: EntryBuilderOptions

  constructor(options: EntryBuilderOptions) {
    this.#options = options
  }

  /** To be called before the lines of another text. */
  beginText(): void {
    this.#options.mapper.beginText()
    this.#options.breadcrumbs?.buffer.open()
  }

  /** The entry of a line as JSON, '' where it is left out as configured. Never throws. Within one text, lines come in rising order. */
  build(text: string, start: number, end: number): string {
    const { mapper, breadcrumbs: trail } = this.#options
    let json = mapper.map(text, start, end)
    this.severity = mapper.severity
    if (json !== '' && !this.#isKept(json)) json = '' // also one below the level, which is mapped for its request
    if (trail !== undefined) {
      // Its own crumb comes behind those that it takes.
      if (json !== '' && mapper.severity >= ERROR_RANK) json = this.#withCrumbs(json, trail)
      if (mapper.preciseSeverity >= trail.threshold)
        trail.buffer.add(mapper.scopeKind, mapper.scopeId, text, start, end, mapper.isFastPath)
    }
    if (json === '') return ''
    json = this.#throughHook(json)
    if (json === '' && mapper.severity >= ERROR_RANK) trail?.buffer.restore(mapper.scopeKind, mapper.scopeId)
    return json
  }

  /** What is held back goes now. */
  flushNow(): void {
    this.#options.deduplicator?.flushNow()
  }

  /** The app ends: the same, and nothing is held back any more. */
  end(): void {
    this.#options.deduplicator?.end()
  }

  cancel(): void {
    this.#options.deduplicator?.cancel()
  }

  #isKept(json: string): boolean {
    const { mapper, threshold: minPosition, onRecord, sampler, deduplicator: dedupe } = this.#options
    if (onRecord?.(json) === true || mapper.preciseSeverity < minPosition) return false
    if (sampler !== undefined && !sampler.keeps(mapper.severity, mapper.traceId)) return false
    if (dedupe === undefined) return true
    const fingerprint = findFingerprint(json, mapper.fingerprint)
    return fingerprint === '' || !dedupe.isRepeat(fingerprint, mapper.severity, json)
  }

  #withCrumbs(json: string, { buffer: trail, factory: crumbs, limit }: EntryBreadcrumbs): string {
    const { mapper, maxEntryBytes } = this.#options
    const lines = trail.take(mapper.scopeKind, mapper.scopeId)
    if (lines.length === 0) return json
    const made = lines.map(({ text, isUsual }) => crumbs.create(text, isUsual))
    const appended =
      mapper.openJson === '' ? undefined : appendBreadcrumbs(mapper.openJson, made, { limit, maxEntryBytes })
    return appended ?? attachBreadcrumbs(json, made, mapper.hasBreadcrumbs, { limit, maxEntryBytes })
  }

  #throughHook(json: string): string {
    const { hook } = this.#options
    if (hook === undefined) return json
    const result = hook.apply(json)
    if (result === 'drop') return ''
    this.severity = result.rank ?? this.severity
    return result.json
  }
}
