/** Maps a line to a breadcrumb. Called only when an error takes the line. */
import type { Breadcrumb, Json, LogEntry } from '../protocol/log-entry.js'
import type { MappingOptions } from '../record/reference/entry-fields.js'
import { toPlainText } from '../record/coerce.js'
import { createObject, putUnderFreeKey } from '../record/clean-copy.js'
import { parseExact, stringifyExact } from '../shared/exact-json.js'
import type { Mapper } from '../record/mapper.js'
import type { RequestKeys } from '../options/settings.js'
import { secretNamesOf } from '../redaction/secret-names.js'
import { mayHaveSecret } from '../redaction/secret-text.js'
import { mapByParsing } from '../record/reference/reference-path.js'
import { CATEGORY_KEYS, NOT_DATA } from '../record/breadcrumb-keys.js'
import type { BufferedLine } from './line-buffer.js'
import { Line } from '../record/line-ring.js'
import type { LineRing } from '../record/line-ring.js'
import type { Kernel } from '../record/kernel/kernel.js'
import type { EntryBytes } from '../record/mapped-record.js'

/** Maximum UTF-8 bytes of a breadcrumb. A record that was sent has its own, complete entry. */
const MAX_BREADCRUMB_BYTES = 4_096
/** Size to which the entry of a longer breadcrumb is shortened, with room for the names that the breadcrumb adds. */
const CUT_BYTES = MAX_BREADCRUMB_BYTES - 256

export class BreadcrumbFactory {
  readonly #options: MappingOptions
  readonly #lines: LineRing
  readonly #line: Line
  readonly #kernel: Kernel | undefined
  readonly #wallNow: () => number

  constructor(options: MappingOptions, { kernel, lines }: Pick<Mapper, 'kernel' | 'lines'>, wallNow: () => number) {
    // Excludes tags, metadata and similar members, which the error's entry also has.
    const {
      service: _service,
      environment: _environment,
      version: _version,
      releaseId: _releaseId,
      deploy: _deploy,
      ...own
    } = options
    this.#options = { ...own, tags: [], metadata: {}, fingerprint: false }
    this.#lines = lines
    this.#line = new Line(lines.memory)
    this.#kernel = kernel
    this.#wallNow = wallNow
  }

  /** Appends breadcrumbs to an entry that the kernel mapped. @returns false if they do not fit */
  append(entry: EntryBytes, lines: readonly BufferedLine[]): boolean {
    const at = (index: number): BufferedLine => lines[index] as BufferedLine
    return (
      this.#kernel?.appendBreadcrumbs(
        entry,
        lines.length,
        (index) => (this.#isClean(at(index)) ? this.#read(at(index)) : undefined),
        (index) => (this.#isClean(at(index)) ? this.parse(this.#read(at(index)).text) : this.create(at(index))),
      ) === true
    )
  }

  /** Never throws. @returns JSON */
  create(buffered: BufferedLine): string {
    const line = this.#read(buffered)
    if (buffered.isBreadcrumb) return line.text
    const { isMappedByKernel, isFreeOfSecrets } = buffered
    const mapped = isMappedByKernel ? this.#kernel?.mapBreadcrumb(line) : undefined
    const { redactor } = this.#options
    const names = secretNamesOf(redactor)
    // Searches the line, because a name may be in a member that the breadcrumb omits.
    if (mapped === undefined || (!isFreeOfSecrets && mayHaveSecret(line.text, names))) return this.parse(line.text)
    if (redactor === undefined || (isFreeOfSecrets && !redactor.hasPatterns)) return mapped
    const clean = redactor.redactJson(HEAD + mapped + TAIL).slice(HEAD.length, -TAIL.length)
    // A marker may be longer than the replaced text.
    if (clean.length <= mapped.length || Buffer.byteLength(clean) <= MAX_BREADCRUMB_BYTES) return clean
    return this.parse(line.text)
  }

  /** Whether the kernel's result needs no redaction. */
  #isClean({ isMappedByKernel, isFreeOfSecrets }: BufferedLine): boolean {
    return isMappedByKernel && isFreeOfSecrets && this.#options.redactor?.hasPatterns !== true
  }

  #read({ position, bytes }: BufferedLine): Line {
    const start = this.#lines.offsetOf(position)
    return this.#line.setRange(position, start, start + bytes)
  }

  /** Never throws. @returns JSON */
  parse(line: string): string {
    return createBreadcrumbByParsing(line, this.#options, new Date(this.#wallNow()).toISOString())
  }
}

/** Wraps the breadcrumb in an entry, since redaction skips some top-level fields of an entry. */
const HEAD = '{"breadcrumbs":['
const TAIL = ']}'

/** Reference path: accepts every line and defines the result of the kernel. */
export function createBreadcrumbByParsing(line: string, options: MappingOptions, receivedAt: string): string {
  const createWithin = (maxEntryBytes: number): string =>
    stringifyExact(
      toBreadcrumb(
        parseExact(mapByParsing(line, { ...options, maxEntryBytes }, receivedAt).json) as LogEntry,
        options.requestKeys,
      ),
    )
  const json = createWithin(options.maxEntryBytes)
  return Buffer.byteLength(json) <= MAX_BREADCRUMB_BYTES ? json : createWithin(CUT_BYTES)
}

function toBreadcrumb(entry: LogEntry, { req, res }: RequestKeys): Breadcrumb {
  const { request, error, metadata = {}, level, message, timestamp } = entry
  const type = error !== undefined ? 'error' : request !== undefined ? 'http' : 'log'
  const categoryKey = CATEGORY_KEYS.find((key) => (toPlainText(metadata[key]) ?? '') !== '')
  const data = createObject()
  const put = (key: string, value: Json | undefined): void => {
    if (value !== undefined) putUnderFreeKey(data, key, value)
  }
  for (const field of ['method', 'url', 'status_code', 'duration_ms'] as const) put(field, request?.[field])
  put('error_type', error?.type)
  if (error?.message !== message) put('error_message', error?.message)
  put('action', entry.action)
  if (entry.perf !== undefined) put('perf', { ...entry.perf })
  const notData = new Set([...NOT_DATA, categoryKey, req, res])
  for (const [key, value] of Object.entries(metadata)) if (!notData.has(key)) put(key, value)
  return {
    type,
    category: categoryKey === undefined ? type : (metadata[categoryKey] as string),
    message,
    level,
    timestamp,
    ...(Object.keys(data).length > 0 && { data }),
  }
}
