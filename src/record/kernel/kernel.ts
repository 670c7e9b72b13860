/**
 * The mapping kernel in WebAssembly (`assembly/`): reads the bytes of a line in one pass and writes those of its entry.
 * What is rare it asks for: `Answers` decides with the functions of the reference path.
 */
import { inflateRawSync } from 'node:zlib'
import type { MappingOptions } from '../reference/entry-fields.js'
import { LEAST_RING_BYTES, LineRing } from '../line-ring.js'
import type { Line } from '../line-ring.js'
import { secretNamesOf } from '../../redaction/secret-names.js'
import type { SecretNames } from '../../redaction/secret-names.js'
import { redactMembers } from '../../redaction/secret-text.js'
import { setScope, toRequestPart } from '../mapped-record.js'
import type { EntryBytes, MappedRecord } from '../mapped-record.js'
import { Answers, unquote } from './answers.js'
import { KERNEL_CODE } from './kernel-code.js'
import { BREADCRUMB, Flag, LINES, MAX_LINE_BYTES, OPTION, OUTPUT, PAGE_BYTES, RESULT, Result } from './kernel-memory.js'
import { KernelOptions } from './kernel-options.js'
import type { KeyPlaces } from './kernel-options.js'

const CARRIAGE_RETURN = 13
const COMMA = 44
const CLOSE_BRACE = 125
const MAPPED = 1
/** Limit of an entry with its breadcrumbs. Behind it is room for one breadcrumb of any length. */
const MAX_OUTPUT_BYTES = BREADCRUMB - OUTPUT
/** Number of results. */
const RESULTS = 64

type Ask = (question: number, from: number, to: number, at: number) => number

interface KernelExports extends KeyPlaces {
  map(from: number, limit: number): number
  mapBreadcrumb(from: number, limit: number, to: number): number
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
    // The kernel reads up to 64 bytes beyond a line.
    const pages = Math.ceil((LINES + ringBytes) / PAGE_BYTES) + 1
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
  readonly #entry: { readonly memory: Buffer; start: number; end: number }
  readonly #results: Int32Array
  readonly #thresholds: Int32Array
  #options: MappingOptions
  #answers: Answers
  /** Whether the kernel can map lines with the options. */
  #isSupported: boolean

  private constructor({ buffer, exports }: Instance, options: MappingOptions, ringBytes: number) {
    this.#exports = exports
    this.#bytes = Buffer.from(buffer)
    this.lines = new LineRing(this.#bytes, LINES, ringBytes)
    this.#entry = { memory: this.#bytes, start: 0, end: 0 }
    this.#results = new Int32Array(buffer, RESULT, RESULTS)
    this.#thresholds = new Int32Array(buffer, OPTION + 16, 2)
    this.#options = options
    this.#answers = new Answers(buffer, options)
    this.#isSupported = new KernelOptions(buffer, exports).write(options)
  }

  /** Undefined if the runtime does not support it; the reference path then maps all lines. */
  static create(options: MappingOptions, ringBytes: number = LEAST_RING_BYTES): Kernel | undefined {
    let kernel: Kernel | undefined
    const instance = instantiate((...question) => (kernel as Kernel).#answers.ask(...question), ringBytes)
    return instance && (kernel = new Kernel(instance, options, ringBytes))
  }

  setOptions(options: MappingOptions): void {
    const { buffer } = this.#bytes as { buffer: ArrayBuffer }
    this.#options = options
    this.#answers = new Answers(buffer, options)
    this.#isSupported = new KernelOptions(buffer, this.#exports).write(options)
  }

  /**
   * @param record is filled
   * @param threshold severity below which no entry is created @param requestThreshold as `threshold`, for entries with a request
   * @returns false if the line is declined; the content of `record` is then undefined
   */
  map(line: Line, threshold: number, record: MappedRecord, requestThreshold = threshold): boolean {
    if (!this.#canRead(line)) return false
    this.#thresholds[0] = threshold
    this.#thresholds[1] = requestThreshold
    if (this.#exports.map(line.start, this.#limitOf(line)) !== MAPPED) return false
    const results = this.#results
    const flags = results[Result.flags] as number
    record.severity = results[Result.severity] as number
    record.hasRequest = (flags & Flag.hasRequest) !== 0
    record.hasBreadcrumbs = false
    record.isMappedByKernel = true
    const ownRequest = this.#read(Result.ownRequest)
    record.requestPart = record.hasRequest
      ? toRequestPart((flags & Flag.hasStart) !== 0, (flags & Flag.hasStatus) !== 0, ownRequest !== '')
      : 'none'
    record.requestId = record.requestPart === 'none' ? '' : ownRequest
    record.fingerprint = this.#read(Result.fingerprint)
    setScope(
      record,
      this.#read(Result.trace),
      (flags & Flag.ownTrace) === 0,
      this.#read(Result.request),
      this.#read(Result.session),
    )
    const start = results[Result.start] as number
    const end = results[Result.end] as number
    const hasOutput = end !== start
    // The reference path shortens the entry.
    if (end - start > this.#options.maxEntryBytes) return false
    const hasUnscannedName = this.#names.mayHaveUnscanned(line)
    if (hasOutput && hasUnscannedName) return false
    const mayHaveName = (flags & Flag.header) !== 0 || hasUnscannedName
    const mayHaveUrlSecret = (flags & Flag.urlSecret) !== 0
    record.isFreeOfSecrets = !mayHaveName && !mayHaveUrlSecret
    record.json = ''
    if (!hasOutput) return true
    this.#entry.start = start
    this.#entry.end = end
    record.bytes = this.#entry
    return this.#redact(record, mayHaveName, mayHaveUrlSecret)
  }

  /** The line as a breadcrumb, without redaction; undefined if it is declined. @param line accepted by `map` */
  mapBreadcrumb(line: Line): string | undefined {
    const end = this.#putBreadcrumb(line, BREADCRUMB)
    return end === 0 ? undefined : this.#bytes.toString('utf8', BREADCRUMB, end)
  }

  /**
   * Appends breadcrumbs to the entry, which must be the latest that `map` returned.
   * @param lineAt a line to copy, if it may be copied
   * @param textAt the breadcrumb otherwise
   * @returns false if they do not fit; the entry is then unchanged
   */
  appendBreadcrumbs(
    entry: EntryBytes,
    count: number,
    lineAt: (index: number) => Line | undefined,
    textAt: (index: number) => string,
  ): boolean {
    const bytes = this.#bytes
    const opening = entry.end - 1
    const limit = entry.start + Math.min(this.#options.maxEntryBytes, MAX_OUTPUT_BYTES) - 2
    let at = opening + bytes.write(',"breadcrumbs":[', opening)
    for (let index = 0; index < count; index += 1) {
      if (index > 0) bytes[at++] = COMMA
      const line = lineAt(index)
      const end = line === undefined ? 0 : this.#putBreadcrumb(line, at)
      at = end === 0 ? at + bytes.write(textAt(index), at) : end
      if (at > limit) {
        bytes[opening] = CLOSE_BRACE
        return false
      }
    }
    this.#entry.end = at + bytes.write(']}', at)
    return true
  }

  /** @returns the end of the breadcrumb that was written at `to`; 0 if the line is declined */
  #putBreadcrumb(line: Line, to: number): number {
    if (!this.#canRead(line)) return 0
    if (this.#exports.mapBreadcrumb(line.start, this.#limitOf(line), to) !== MAPPED) return 0
    return this.#results[Result.end] as number
  }

  #canRead({ start, end }: Line): boolean {
    return this.#isSupported && end !== 0 && end - start <= MAX_LINE_BYTES
  }

  /** Position after the newline. */
  #limitOf({ end }: Line): number {
    return this.#bytes[end] === CARRIAGE_RETURN ? end + 2 : end + 1
  }

  /** A text of the line, decoded; '' if there is none. */
  #read(result: number): string {
    const end = this.#results[result + 1] as number
    if (end === 0) return ''
    const text = this.#bytes.toString('utf8', this.#results[result] as number, end)
    return text.startsWith('"') ? unquote(text) : text
  }

  get #names(): SecretNames {
    return secretNamesOf(this.#options.redactor)
  }

  /** False if the line is declined. */
  #redact(record: MappedRecord, mayHaveName: boolean, mayHaveUrlSecret: boolean): boolean {
    const { redactor, maxEntryBytes } = this.#options
    if (record.isFreeOfSecrets && redactor?.hasPatterns !== true) return true
    const text = this.#bytes.toString('utf8', this.#entry.start, this.#entry.end)
    let json = mayHaveName ? redactMembers(text, this.#names) : text
    if (json === undefined) return false
    if (redactor !== undefined && (mayHaveUrlSecret || redactor.hasPatterns)) json = redactor.redactJson(json)
    record.isFreeOfSecrets = json === text
    if (json === text) return true
    // A marker may be longer than the replaced text.
    if (Buffer.byteLength(json) > maxEntryBytes) return false
    record.json = json
    return true
  }
}
