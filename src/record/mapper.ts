/** The entry point of this folder: maps a line to the JSON of an entry. */
import { RunEnd } from './memory.js'
import { DECLINED_RUN, Kernel } from './kernel/kernel.js'
import type { Run, RunLimits } from './kernel/kernel.js'
import { MappedRecord } from './mapped-record.js'
import type { MappingOptions } from './reference/entry-fields.js'
import { isLogRecord, mapByParsing } from './reference/reference-path.js'
import { LEAST_RING_BYTES, LineRing, memoryBytesOf } from './line-ring.js'
import type { Line } from './line-ring.js'
import { hashScope } from './scope.js'

/** Number of consecutive records without a level that is reported. */
const UNLEVELLED_RECORDS = 100

export class Mapper {
  readonly lines: LineRing
  /** Undefined in runtimes that do not support it. */
  readonly kernel: Kernel | undefined
  #options: MappingOptions
  readonly #threshold: number
  readonly #requestThreshold: number
  readonly #wallNow: () => number
  readonly #record = new MappedRecord()
  readonly #onUnknownLevel: () => void
  readonly #onIncomplete: (chars: number) => void
  /** Number of consecutive records with an unknown level; Infinity after the report. */
  #unlevelled = 0

  /**
   * @param threshold severity below which no entry is created, see `MappedRecord`
   * @param wallNow milliseconds since the Unix epoch, for records without a time
   * @param onUnknownLevel called once, after 100 consecutive records without a recognized level
   * @param requestThreshold as `threshold`, for entries with a request
   * @param onIncomplete called for each record of which only the beginning can be read, with its length
   * @param ringBytes see `LineRing`; at least `LEAST_RING_BYTES`
   */
  constructor(
    options: MappingOptions,
    threshold: number,
    wallNow: () => number,
    onUnknownLevel: () => void = () => {},
    requestThreshold = threshold,
    onIncomplete: (chars: number) => void = () => {},
    ringBytes: number = LEAST_RING_BYTES,
  ) {
    this.#options = options
    this.#threshold = threshold
    this.#requestThreshold = requestThreshold
    this.#wallNow = wallNow
    this.#onUnknownLevel = onUnknownLevel
    this.#onIncomplete = onIncomplete
    this.kernel = Kernel.create(options, { threshold, requestThreshold, ringBytes })
    this.lines = this.kernel?.lines ?? new LineRing(new ArrayBuffer(memoryBytesOf(ringBytes)), ringBytes)
  }

  /** Sets the release id of all later entries whose record has none. */
  setReleaseId(releaseId: string): void {
    this.#options = { ...this.#options, releaseId }
    this.kernel?.setOptions(this.#options)
  }

  isRecord(json: string): boolean {
    return isLogRecord(json, this.#options)
  }

  /** Whether the text at `at` begins with the level, as pino's lines do. */
  startsWithLevel(text: string, at = 0): boolean {
    return text.startsWith('{"level":', at)
  }

  /** Maps lines up to one that `map` must map, see `Kernel.run`. */
  run(position: number, bytes: number, limits: RunLimits): Run {
    const run = this.kernel?.run(position, bytes, limits) ?? DECLINED_RUN
    if (run.entries + run.filtered + run.refused > 0 && this.#unlevelled !== Infinity) this.#unlevelled = 0
    return run
  }

  /**
   * Never throws.
   *
   * @param isDivisible whether the caller can divide the line. Only a line that is one complete record is then mapped
   * @param reason why the latest run ended at this line, if it did
   * @returns the same object for every line; undefined if it was not mapped
   */
  map(line: Line): MappedRecord
  map(line: Line, isDivisible: boolean, reason?: number): MappedRecord | undefined
  map(line: Line, isDivisible = false, reason?: number): MappedRecord | undefined {
    if (!this.#mapByKernel(line, reason)) return this.#mapByParsing(line, isDivisible)
    if (this.#unlevelled !== Infinity) this.#unlevelled = 0
    return this.#record
  }

  #mapByKernel(line: Line, reason: number | undefined): boolean {
    if (this.kernel === undefined || reason === RunEnd.DECLINED) return false
    return reason === undefined ? this.kernel.map(line, this.#record) : this.kernel.read(line, this.#record)
  }

  #mapByParsing({ text, cutFrom }: Line, isDivisible: boolean): MappedRecord | undefined {
    const receivedAt = new Date(this.#wallNow()).toISOString()
    const { json, level, hasLevel, ids, hasRequest, requestPart, requestId, incompleteChars } = mapByParsing(
      text,
      this.#options,
      receivedAt,
      cutFrom,
    )
    if (isDivisible && (hasLevel === undefined || incompleteChars > 0)) return undefined
    if (incompleteChars > 0) this.#onIncomplete(incompleteChars)
    if (hasLevel !== undefined) this.#countUnlevelled(hasLevel)
    const record = this.#record
    const isPart = requestPart === 'start' || requestPart === 'end'
    const threshold = hasRequest ? this.#requestThreshold : this.#threshold
    record.json = level.severity < threshold && !isPart ? '' : json
    record.severity = level.severity
    record.fingerprint = ids.fingerprint
    record.hasBreadcrumbs = ids.hasBreadcrumbs
    record.hasRequest = hasRequest
    record.requestPart = requestPart
    record.requestId = requestId
    record.isMappedByKernel = record.isFreeOfSecrets = false
    record.traceId = ids.traceId
    hashScope(ids, this.lines, record.scope)
    return record
  }

  #countUnlevelled(hasLevel: boolean): void {
    if (this.#unlevelled === Infinity) return
    this.#unlevelled = hasLevel ? 0 : this.#unlevelled + 1
    if (this.#unlevelled < UNLEVELLED_RECORDS) return
    this.#unlevelled = Infinity
    this.#onUnknownLevel()
  }
}
