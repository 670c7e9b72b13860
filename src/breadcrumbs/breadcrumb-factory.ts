/** Creates the breadcrumb of a line on the reference path: of one that the kernel declines, or that is not in the ring. */
import type { Breadcrumb, Json, LogEntry } from '../protocol/log-entry.js'
import type { MappingOptions } from '../record/reference/entry-fields.js'
import { toPlainText } from '../record/coerce.js'
import { createObject, putUnderFreeKey } from '../record/clean-copy.js'
import { parseExact, stringifyExact } from '../shared/exact-json.js'
import type { RequestKeys } from '../options/settings.js'
import { mapByParsing } from '../record/reference/reference-path.js'
import { CATEGORY_KEYS, NOT_DATA } from '../record/breadcrumb-keys.js'
import type { BreadcrumbLine } from './breadcrumb-rows.js'
import { RowFlag } from '../record/memory.js'
import { Line } from '../record/line-ring.js'
import type { LineRing } from '../record/line-ring.js'

/** Maximum UTF-8 bytes of a breadcrumb. A record that was sent has its own, complete entry. */
const MAX_BREADCRUMB_BYTES = 4_096
/** Size to which the entry of a longer breadcrumb is shortened, with room for the names that the breadcrumb adds. */
const CUT_BYTES = MAX_BREADCRUMB_BYTES - 256

export class BreadcrumbFactory {
  readonly #options: MappingOptions
  readonly #lines: LineRing
  readonly #line: Line
  readonly #wallNow: () => number

  constructor(options: MappingOptions, lines: LineRing, wallNow: () => number) {
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
    this.#wallNow = wallNow
  }

  /** Never throws. @returns JSON */
  create({ position, bytes, flags }: BreadcrumbLine): string {
    const start = this.#lines.offsetOf(position)
    const { text } = this.#line.setRange(position, start, start + bytes)
    return (flags & RowFlag.IS_BREADCRUMB) === 0 ? this.parse(text) : text
  }

  /** Accepts every line, and defines the result of the kernel. Never throws. @returns JSON */
  parse(line: string): string {
    const json = this.#parseWithin(line, this.#options.maxEntryBytes)
    return Buffer.byteLength(json) <= MAX_BREADCRUMB_BYTES ? json : this.#parseWithin(line, CUT_BYTES)
  }

  #parseWithin(line: string, maxEntryBytes: number): string {
    const receivedAt = new Date(this.#wallNow()).toISOString()
    const { json } = mapByParsing(line, { ...this.#options, maxEntryBytes }, receivedAt)
    return stringifyExact(toBreadcrumb(parseExact(json) as LogEntry, this.#options.requestKeys))
  }
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
  for (const [key, value] of Object.entries(metadata))
    if (!NOT_DATA.has(key) && key !== categoryKey && key !== req && key !== res) put(key, value)
  return {
    type,
    category: categoryKey === undefined ? type : (metadata[categoryKey] as string),
    message,
    level,
    timestamp,
    ...(Object.keys(data).length > 0 && { data }),
  }
}
