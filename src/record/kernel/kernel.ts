/**
 * The mapping kernel in WebAssembly (`assembly/`): reads the bytes of a line in one pass and writes those of its entry.
 * What is rare it asks for: `Answers` decides with the functions of the reference path.
 */
import { inflateRawSync } from 'node:zlib'
import type { MappingOptions } from '../reference/entry-fields.js'
import { findHeaderName, isHeaderAt } from '../../redaction/header-text.js'
import { hasUserinfo } from '../../redaction/userinfo.js'
import { setScope, toRequestPart } from '../mapped-record.js'
import type { EntryBytes, MappedRecord } from '../mapped-record.js'
import { Answers, unquote } from './answers.js'
import { KERNEL_CODE } from './kernel-code.js'
import { Flag, KERNEL_PAGES, MAX_LINE_BYTES, OPTION, RESULT, LINE, Result } from './kernel-memory.js'
import { KernelOptions } from './kernel-options.js'

const LF = 10

const MAPPED = 2
/** Upper limit of the text that an entry adds to its line and the options: field names, timestamp, source, path. */
const FRAME_CHARS = 4_000
const MAX_BYTES_PER_UNIT = 3
/** Number of results. */
const RESULTS = 64

type Ask = (question: number, from: number, to: number, at: number) => number

interface KernelExports {
  map(from: number, limit: number): number
  mapBreadcrumb(from: number, limit: number): number
  hashOf(at: number, bytes: number): number
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
function instantiate(ask: Ask): Instance | undefined {
  const { WebAssembly: api } = globalThis as { WebAssembly?: WebAssemblyApi }
  if (api === undefined) return undefined
  try {
    compiled ??= new api.Module(inflateRawSync(Buffer.from(KERNEL_CODE, 'base64')))
    const memory = new api.Memory({ initial: KERNEL_PAGES, maximum: KERNEL_PAGES })
    const { exports } = new api.Instance(compiled, { env: { memory }, ask: { ask } })
    return { buffer: memory.buffer, exports: exports as KernelExports }
  } catch {
    return undefined
  }
}

export class Kernel {
  readonly #exports: KernelExports
  readonly #bytes: Buffer
  readonly #entry: { readonly memory: Buffer; start: number; end: number }
  readonly #results: Int32Array
  readonly #thresholds: Int32Array
  readonly #options: MappingOptions
  readonly #maxLineChars: number

  private constructor({ buffer, exports }: Instance, options: MappingOptions) {
    this.#exports = exports
    this.#bytes = Buffer.from(buffer)
    this.#entry = { memory: this.#bytes, start: 0, end: 0 }
    this.#results = new Int32Array(buffer, RESULT, RESULTS)
    this.#thresholds = new Int32Array(buffer, OPTION + 16, 2)
    this.#options = options
    const text = new KernelOptions(buffer, this.#exports.hashOf).write(options)
    // A UTF-16 unit has at most three bytes in UTF-8. The reference path measures lines that may be too long.
    const maxLineBytes = Math.min(MAX_LINE_BYTES, options.maxEntryBytes - 3 * ((text?.chars ?? 0) + FRAME_CHARS))
    this.#maxLineChars = text === undefined ? -1 : Math.floor(maxLineBytes / MAX_BYTES_PER_UNIT)
  }

  /** Undefined if the runtime does not support it; the reference path then maps all lines. */
  static create(options: MappingOptions): Kernel | undefined {
    let answers: Answers | undefined
    const instance = instantiate((...question) => (answers as Answers).ask(...question))
    if (instance === undefined) return undefined
    answers = new Answers(instance.buffer, options)
    return new Kernel(instance, options)
  }

  /**
   * @param record is filled
   * @param threshold severity below which no entry is created @param requestThreshold as `threshold`, for entries with a request
   * @returns false if the line is declined; the content of `record` is then undefined
   */
  map(
    text: string,
    start: number,
    end: number,
    threshold: number,
    record: MappedRecord,
    requestThreshold = threshold,
  ): boolean {
    if (end - start > this.#maxLineChars) return false
    this.#thresholds[0] = threshold
    this.#thresholds[1] = requestThreshold
    if (this.#exports.map(LINE, this.#write(text, start, end)) !== MAPPED) return false
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
    const hasOutput = results[Result.end] !== results[Result.start]
    const hasHeader = (flags & Flag.header) !== 0 && this.#hasHeader(text, start, end)
    if (hasOutput && hasHeader) return false
    const hasUrlSecret =
      ((flags & Flag.urlSecret) !== 0 && this.#hasParam(text, start, end)) ||
      ((flags & Flag.userinfo) !== 0 && hasUserinfo(text.slice(start, end)))
    record.isFreeOfSecrets = !hasHeader && !hasUrlSecret
    record.json = ''
    if (hasOutput) record.bytes = this.#output()
    return !hasOutput || this.#redact(record, hasUrlSecret)
  }

  /** The line as a breadcrumb, without redaction; undefined if it is declined. @param line accepted by `map` */
  mapBreadcrumb(line: string): string | undefined {
    if (line.length > this.#maxLineChars) return undefined
    if (this.#exports.mapBreadcrumb(LINE, this.#write(line, 0, line.length)) !== MAPPED) return undefined
    const { start, end } = this.#output()
    return this.#bytes.toString('utf8', start, end)
  }

  /** @returns the end of the line, with its newline */
  #write(text: string, start: number, end: number): number {
    const bytes = this.#bytes
    const stop = LINE + bytes.write(start === 0 && end === text.length ? text : text.slice(start, end), LINE)
    bytes[stop] = LF
    return stop + 1
  }

  #output(): EntryBytes {
    const output = this.#entry
    output.start = this.#results[Result.start] as number
    output.end = this.#results[Result.end] as number
    return output
  }

  /** A text of the line, decoded; '' if there is none. */
  #read(result: number): string {
    const end = this.#results[result + 1] as number
    if (end === 0) return ''
    const text = this.#bytes.toString('utf8', this.#results[result] as number, end)
    return text.startsWith('"') ? unquote(text) : text
  }

  /** False if the line is declined. */
  #redact(record: MappedRecord, hasUrlSecret: boolean): boolean {
    const { redactor, maxEntryBytes } = this.#options
    if (redactor === undefined || !(hasUrlSecret || redactor.hasPatterns)) return true
    const json = redactor.redactJson(record.json)
    if (json === record.json) return true
    // A marker may be longer than the replaced text.
    if (json.length * MAX_BYTES_PER_UNIT > maxEntryBytes) return false
    record.json = json
    return true
  }

  /** Whether a part of the line that is sent has a header or a credential. */
  #hasHeader(text: string, start: number, end: number): boolean {
    const line = text.slice(start, end)
    return this.#hasSent(line, findHeaderName, isHeaderAt)
  }

  /** As `#hasHeader`, for a parameter of a URL to redact. */
  #hasParam(text: string, start: number, end: number): boolean {
    const { redactor } = this.#options
    return (
      redactor !== undefined &&
      this.#hasSent(text.slice(start, end), (line, from) => redactor.findNextParam(line, from))
    )
  }

  #hasSent(
    line: string,
    find: (line: string, from: number) => number,
    isAt: (line: string, at: number) => boolean = () => true,
  ): boolean {
    const unsent = this.#unsentRanges()
    let at = find(line, 0)
    while (at < line.length) {
      const after = unsent.find(([from, to]) => at > from && at < to)?.[1]
      if (after === undefined && isAt(line, at)) return true
      at = find(line, after ?? at + 1)
    }
    return false
  }

  /** The headers, as positions in the line, without the user agent. */
  #unsentRanges(): readonly (readonly [from: number, to: number])[] {
    const [reqAt = 0, reqEnd = 0, resAt = 0, resEnd = 0, agentAt = 0, agentEnd = 0] = this.#results.subarray(
      Result.headers,
      Result.headers + 6,
    )
    const ranges: (readonly [number, number])[] =
      agentEnd === 0
        ? [[reqAt, reqEnd]]
        : [
            [reqAt, agentAt + 1],
            [agentEnd - 1, reqEnd],
          ]
    const toChars = (at: number): number => this.#bytes.toString('utf8', LINE, at).length
    return [...ranges, [resAt, resEnd] as const]
      .filter(([, to]) => to !== 0)
      .map(([from, to]) => [toChars(from), toChars(to)])
  }
}
