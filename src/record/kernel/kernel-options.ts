/** Writes the options of the mapping to the kernel's memory: the treatment of each key, and texts of the entry. */
import { DOM_CONSTANTS } from '../dom-exception.js'
import { HTTP_MEMBERS } from '../http-error.js'
import { STATEMENT_MEMBERS } from '../statement-values.js'
import { UNSENT_MEMBERS } from '../reference/entry-request.js'
import type { MappingOptions } from '../reference/entry-fields.js'
import { TRACE_HEADERS } from '../reference/trace-header.js'
import { areNamesSupported, createBreadcrumbKinds, createKinds } from './key-kinds.js'
import { BREADCRUMB_KEYS, INNER_KEYS, KEYS, OPTION, OUTPUT, Option, PARAMS, TEXTS, TEXTS_END } from '../memory.js'

const KEY_SLOTS = 1024
const PARAM_SLOTS = 4096
const FREE = -1

const STACKS = ['stack', 'stack_trace', 'stacktrace']
/** Keys that the expressions for HTTP exchanges and statements search for. */
const MAY_HOLD_EXCHANGE = [
  ...STACKS,
  ...['rawHeaders', 'headers', 'config', 'options', 'req', 'res', 'request', 'response', '_request', '_response'],
  ...['_req', '_res', '$response', 'httpRequest'],
]

/** Bits of a key within an object, by what the object is. */
function innerKinds(): Map<string, number> {
  const kinds = new Map<string, number>()
  const add = (keys: Iterable<string>, bits: number, mask = 0): void => {
    for (const key of keys) kinds.set(key, ((kinds.get(key) ?? 0) & ~mask) | bits)
  }
  add(MAY_HOLD_EXCHANGE, 1)
  add(STATEMENT_MEMBERS, 2)
  const of =
    (shift: number, size: number) =>
    (keys: Iterable<string>, kind: number): void =>
      add(keys, kind << shift, size << shift)
  const ofReq = of(8, 15)
  ofReq(UNSENT_MEMBERS, 6)
  ofReq(
    ['path', 'ip', 'user_agent', 'userAgent', 'status_code', 'statusCode', 'duration_ms', 'durationMs', ...STACKS],
    7,
  )
  for (const [index, key] of ['method', 'url', 'id', 'remoteAddress', 'headers'].entries()) ofReq([key], index + 1)
  const ofRes = of(12, 15)
  ofRes(UNSENT_MEMBERS, 4)
  ofRes(['status_code', ...STACKS], 5)
  for (const [index, key] of ['statusCode', 'status', 'headers'].entries()) ofRes([key], index + 1)
  const ofError = of(16, 15)
  ofError([...HTTP_MEMBERS, ...STATEMENT_MEMBERS, ...DOM_CONSTANTS.keys()], 4)
  ofError(['stack_trace', 'stacktrace', 'params'], 4)
  ofError(['aggregateErrors', 'errors'], 5)
  ofError(['name'], 6)
  for (const [index, key] of ['type', 'message', 'stack'].entries()) ofError([key], index + 1)
  const ofHeaders = of(20, 7)
  ofHeaders(TRACE_HEADERS, 3)
  ofHeaders(['traceparent'], 4)
  ofHeaders(['b3', 'x-amzn-trace-id'], 5)
  for (const [index, key] of ['user-agent', 'x-request-id'].entries()) ofHeaders([key], index + 1)
  return kinds
}

/** The kernel's functions for its tables. A range must be in its memory. */
export interface KeyPlaces {
  hashOf(at: number, bytes: number): number
  paramSlot(at: number, bytes: number): number
}

export class KernelOptions {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #textAt = TEXTS

  readonly #places: KeyPlaces

  constructor(memory: ArrayBuffer, places: KeyPlaces) {
    this.#places = places
    this.#bytes = new Uint8Array(memory)
    this.#view = new DataView(memory)
  }

  /** @returns false if the options are not supported */
  write(options: MappingOptions): boolean {
    const { service, fallbackService, environment, version, metadata } = options
    // The kernel writes these itself.
    const keptKeys = ['error', 'req', 'res', 'level']
    if (!areNamesSupported(options) || keptKeys.some((key) => Object.hasOwn(metadata, key))) return false
    const kinds = createKinds(options)
    // The kernel compares keys as the line has them.
    if ([...kinds.keys()].some((key) => JSON.stringify(key) !== `"${key}"`)) return false
    const quoted = (value: string | undefined): string => (value === undefined ? '' : JSON.stringify(value))
    const identity = Object.entries({ service: service ?? fallbackService, environment, version })
    const texts = [
      identity.map(([field, value]) => (value === undefined ? '' : `,"${field}":${quoted(value)}`)).join(''),
      quoted(service),
      quoted(fallbackService),
      quoted(environment),
      quoted(version),
      quoted(options.releaseId),
      options.deploy === undefined ? '' : `,"deploy":${JSON.stringify(options.deploy)}`,
      options.tags.length === 0 ? '' : `,"tags":${JSON.stringify(options.tags)}`,
      JSON.stringify(metadata).slice(1, -1),
    ]
    if (kinds.size > KEY_SLOTS / 2 || [...texts, ...kinds.keys()].join('').length > (TEXTS_END - TEXTS) / 8)
      return false
    this.#view.setUint32(OPTION + Option.HAS_FINGERPRINT, options.fingerprint ? 1 : 0, true)
    this.#view.setUint32(OPTION + Option.LEVEL_COUNT, 0, true)
    this.#view.setUint32(OPTION + Option.MAX_ENTRY_BYTES, options.maxEntryBytes, true)
    this.#writeTable(KEYS, kinds)
    this.#writeTable(INNER_KEYS, innerKinds())
    this.#writeTable(BREADCRUMB_KEYS, createBreadcrumbKinds(options))
    this.#writeParams(options.redactor.keys)
    for (const [index, value] of texts.entries()) this.#setText(OPTION + Option.IDENTITY + 8 * index, value)
    return true
  }

  #setText(at: number, text: string): void {
    const { start, end } = this.#addText(text)
    this.#view.setUint32(at, start, true)
    this.#view.setUint32(at + 4, text === '' ? 0 : end, true)
  }

  #addText(text: string): { start: number; end: number } {
    const start = this.#textAt
    const { written } = new TextEncoder().encodeInto(text, this.#bytes.subarray(start, TEXTS_END))
    this.#textAt += written
    return { start, end: start + written }
  }

  #writeTable(table: number, kinds: Iterable<readonly [string, number]>): void {
    for (let slot = 0; slot < KEY_SLOTS; slot += 1) this.#view.setInt32(table + 16 * slot + 12, FREE, true)
    for (const [key, kind] of kinds) {
      const { start, end } = this.#addText(key)
      const hash = this.#places.hashOf(start, end - start) >>> 0
      let slot = hash & (KEY_SLOTS - 1)
      while (this.#view.getInt32(table + 16 * slot + 12, true) !== FREE) slot = (slot + 1) & (KEY_SLOTS - 1)
      const at = table + 16 * slot
      this.#view.setUint32(at, hash, true)
      this.#view.setInt32(at + 4, kind, true)
      this.#view.setUint32(at + 8, start, true)
      this.#view.setInt32(at + 12, end - start, true)
    }
  }

  #writeParams(names: readonly string[]): void {
    this.#bytes.fill(0, PARAMS, PARAMS + PARAM_SLOTS)
    for (const name of names) {
      const { written } = new TextEncoder().encodeInto(name, this.#bytes.subarray(OUTPUT))
      this.#bytes[this.#places.paramSlot(OUTPUT, written)] = 1
    }
  }
}
