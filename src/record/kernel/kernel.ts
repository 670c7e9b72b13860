/**
 * The mapping kernel in WebAssembly (`assembly/`): reads the bytes of lines in one pass and writes those of their
 * entries. For rare values it asks `Answers`, which uses the functions of the reference path.
 */
import { inflateRawSync } from 'node:zlib'
import type { MappingOptions } from '../reference/entry-fields.js'
import { LEAST_RING_BYTES, LineRing, memoryBytesOf } from '../line-ring.js'
import type { Line } from '../line-ring.js'
import { redactMembers } from '../../redaction/secret-text.js'
import { toRequestPart } from '../mapped-record.js'
import type { EntryBytes, MappedRecord } from '../mapped-record.js'
import { Answers, unquote } from './answers.js'
import { RunEnd, Flag, OPTION, Option, OUTPUT, PAGE_BYTES, RESULT, Result, RUN_BYTES, Stop } from '../memory.js'
import { KERNEL_CODE } from './kernel-code.js'
import { KernelOptions } from './kernel-options.js'
import type { KeyPlaces } from './kernel-options.js'

type Ask = (question: number, from: number, to: number, at: number) => number

interface KernelExports extends KeyPlaces {
  run(
    from: number,
    limit: number,
    entries: number,
    bytes: number,
    admitted: number,
    stops: number,
    position: number,
  ): number
  attach(position: number): number
}

/** The part of `globalThis.WebAssembly` that is used; the types of Node have none of it. */
interface WebAssemblyApi {
  readonly Memory: new (limits: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer }
  readonly Module: new (code: Uint8Array) => object
  readonly Instance: new (module: object, imports: Record<string, object>) => { readonly exports: object }
}

interface Instance {
  readonly buffer: ArrayBuffer
  readonly exports: KernelExports
}

/** The entries of consecutive lines, separated by commas. The kernel reuses one object, which is valid until the next line is mapped. */
export interface Run extends EntryBytes {
  /** Why it ended, see `RunEnd`. */
  readonly reason: number
  /** Bytes of the lines that were read, with their newlines. */
  readonly bytes: number
  /** Lines without an entry. */
  readonly filtered: number
  /** Entries that were not admitted. */
  readonly refused: number
  readonly entries: number
  readonly highest: number
}

export interface RunLimits {
  readonly entries: number
  /** Maximum size of the entries together; a longer one may be the only one. */
  readonly bytes: number
  readonly admitted: number
  /** Lines at which it stops, see `Stop`. */
  readonly stops: number
}

export interface KernelSettings {
  /** Severity below which no entry is created. Default: none. */
  readonly threshold?: number
  /** As `threshold`, for entries with a request. Default: the same. */
  readonly requestThreshold?: number
  readonly ringBytes?: number
}

/** A run that ends before its first line, which is for the reference path. */
export const DECLINED_RUN: Run = {
  reason: RunEnd.DECLINED,
  bytes: 0,
  filtered: 0,
  refused: 0,
  entries: 0,
  highest: 0,
  memory: Buffer.alloc(0),
  start: 0,
  end: 0,
}
const ONE_LINE: RunLimits = { entries: 1, bytes: 0, admitted: 0, stops: Stop.EVERY_LINE }
const CARRIAGE_RETURN = 13

let compiled: object | undefined

/**
 * Undefined in runtimes without WebAssembly, such as `node --jitless`, on processors without SIMD, and if a limit does
 * not allow the address space that V8 reserves, 10 GB (`ulimit -v`).
 */
function instantiate(ask: Ask, ringBytes: number): Instance | undefined {
  const { WebAssembly: api } = globalThis as { WebAssembly?: WebAssemblyApi }
  if (api === undefined) return undefined
  try {
    compiled ??= new api.Module(inflateRawSync(Buffer.from(KERNEL_CODE, 'base64')))
    const pages = memoryBytesOf(ringBytes) / PAGE_BYTES
    const memory = new api.Memory({ initial: pages, maximum: pages })
    const { exports } = new api.Instance(compiled, { env: { memory }, ask: { ask } })
    return { buffer: memory.buffer, exports: exports as KernelExports }
  } catch {
    return undefined
  }
}

export class Kernel {
  /** The lines must be in this ring. */
  readonly lines: LineRing
  readonly #exports: KernelExports
  readonly #bytes: Buffer
  readonly #words: Uint32Array
  readonly #run: { -readonly [Key in keyof Run]: Run[Key] }
  #options!: MappingOptions
  #answers!: Answers
  #createBreadcrumb: (row: number) => string = () => ''
  /** Whether the kernel can map lines with the options. */
  #isSupported = false
  /** Lines at which each run stops. */
  #stops = 0

  private constructor(
    { buffer, exports }: Instance,
    options: MappingOptions,
    { threshold = -1, requestThreshold = threshold, ringBytes = LEAST_RING_BYTES }: KernelSettings,
  ) {
    this.#exports = exports
    this.lines = new LineRing(buffer, ringBytes)
    this.#bytes = this.lines.memory
    this.#words = this.lines.words
    this.#run = { ...DECLINED_RUN, memory: this.#bytes, start: OUTPUT }
    this.#words[(OPTION + Option.THRESHOLD) / 4] = threshold
    this.#words[(OPTION + Option.REQUEST_THRESHOLD) / 4] = requestThreshold
    this.setOptions(options)
  }

  /** Undefined if the runtime does not support it; the reference path then maps all lines. */
  static create(options: MappingOptions, settings: KernelSettings = {}): Kernel | undefined {
    let kernel: Kernel | undefined
    const instance = instantiate(
      (...question) => (kernel as Kernel).#answers.ask(...question),
      settings.ringBytes ?? LEAST_RING_BYTES,
    )
    return instance && (kernel = new Kernel(instance, options, settings))
  }

  setOptions(options: MappingOptions): void {
    const { buffer } = this.#bytes as { buffer: ArrayBuffer }
    this.#options = options
    this.#answers = new Answers(buffer, options, (row) => this.#createBreadcrumb(row))
    this.#isSupported = new KernelOptions(buffer, this.#exports).write(options)
    const { redactor } = options
    this.#stops = redactor.hasPatterns || redactor.names.hasUnscanned ? Stop.EVERY_LINE : 0
  }

  /** @param create returns the breadcrumb of a row, as JSON, which the kernel cannot write itself */
  connectBreadcrumbs(create: (row: number) => string): void {
    this.#createBreadcrumb = create
  }

  /**
   * Maps lines until a limit is reached, the run stops at a line, which `read` then reads, or a line is declined.
   * @param position of the first line in the ring @param bytes of the lines, with their newlines
   */
  run(position: number, bytes: number, limits: RunLimits): Run {
    if (!this.#isSupported) return DECLINED_RUN
    const { entries, admitted, stops } = limits
    const start = this.lines.offsetOf(position)
    const most = Math.min(limits.bytes, RUN_BYTES)
    const run = this.#run
    run.reason = this.#exports.run(start, start + bytes, entries, most, admitted, stops | this.#stops, position)
    run.bytes = this.#resultOf(Result.NEXT) - start
    run.filtered = this.#resultOf(Result.FILTERED)
    run.refused = this.#resultOf(Result.REFUSED)
    run.entries = this.#resultOf(Result.ENTRIES)
    run.highest = this.#resultOf(Result.HIGHEST)
    run.end = this.#resultOf(Result.OUTPUT_END)
    return run
  }

  /** Maps one line. @returns false if it is declined; the content of `record` is then undefined */
  map(line: Line, record: MappedRecord): boolean {
    if (!line.isInRing) return false
    const { reason } = this.run(line.position, this.#limitOf(line) - line.start, ONE_LINE)
    return reason === RunEnd.STOPPED && this.read(line, record)
  }

  /** Reads the line at which the latest run stopped. @returns as `map` */
  read(line: Line, record: MappedRecord): boolean {
    const flags = this.#resultOf(Result.FLAGS)
    record.severity = this.#resultOf(Result.SEVERITY) | 0
    record.hasRequest = (flags & Flag.HAS_REQUEST) !== 0
    record.hasBreadcrumbs = false
    record.isMappedByKernel = true
    record.requestId = (flags & Flag.IS_JOINABLE) === 0 ? '' : this.#read(Result.OWN_REQUEST)
    record.requestPart = toRequestPart(
      (flags & Flag.HAS_START) !== 0,
      (flags & Flag.HAS_STATUS) !== 0,
      record.requestId !== '',
    )
    record.fingerprint = this.#read(Result.FINGERPRINT)
    record.traceId = this.#read(Result.TRACE)
    record.scope.one = this.#resultOf(Result.SCOPE)
    record.scope.other = this.#resultOf(Result.SCOPE + 4)
    const start = this.#resultOf(Result.ENTRY_START)
    const end = this.#resultOf(Result.ENTRY_END)
    const hasOutput = end !== start
    const hasUnscannedName = this.#options.redactor.names.mayHaveUnscanned(line)
    if (hasOutput && hasUnscannedName) return false
    const mayHaveName = (flags & Flag.HEADER) !== 0 || hasUnscannedName
    const mayHaveUrlSecret = (flags & Flag.URL_SECRET) !== 0
    record.isFreeOfSecrets = !mayHaveName && !mayHaveUrlSecret && !this.#options.redactor.hasPatterns
    record.json = ''
    if (!hasOutput) return true
    record.setBytes({ memory: this.#bytes, start, end })
    return this.#redact(record, mayHaveName, mayHaveUrlSecret)
  }

  /**
   * Appends the breadcrumbs of its scope to the entry of the latest record, if it is still that of the kernel.
   * @param position of the record in the ring
   * @returns false if they do not fit; the entry is then unchanged
   */
  appendBreadcrumbs(record: MappedRecord, position: number): boolean {
    if (record.bytes === undefined) return false
    const end = this.#exports.attach(position)
    if (end !== 0) record.setBytes({ ...record.bytes, end })
    return end !== 0
  }

  #resultOf(result: number): number {
    return this.#words[(RESULT + result) / 4] as number
  }

  #limitOf({ end }: Line): number {
    return this.#bytes[end] === CARRIAGE_RETURN ? end + 2 : end + 1
  }

  /** A text of the line, decoded; '' if there is none. */
  #read(result: number): string {
    const end = this.#resultOf(result + 4)
    if (end === 0) return ''
    const text = this.#bytes.toString('utf8', this.#resultOf(result), end)
    return text.startsWith('"') ? unquote(text) : text
  }

  /** False if the line is declined. */
  #redact(record: MappedRecord, mayHaveName: boolean, mayHaveUrlSecret: boolean): boolean {
    const { redactor, maxEntryBytes } = this.#options
    if (record.isFreeOfSecrets) return true
    const text = record.json
    let json = mayHaveName ? redactMembers(text, redactor.names) : text
    if (json === undefined) return false
    if (mayHaveUrlSecret || redactor.hasPatterns) json = redactor.redactJson(json)
    record.isFreeOfSecrets = json === text
    if (json === text) return true
    // A marker may be longer than the replaced text.
    if (Buffer.byteLength(json) > maxEntryBytes) return false
    record.json = json
    return true
  }
}
