/** A line -> a breadcrumb. Made only when an error asks for it. */
import type { Breadcrumb, Json, LogEntry } from '../protocol/log-entry.js'
import type { MappingOptions } from '../record/reference/entry-fields.js'
import { toPlainText } from '../record/coerce.js'
import { createObject, putUnderFreeKey } from '../record/clean-copy.js'
import { parseExact, stringifyExact } from '../shared/exact-json.js'
import { mapByParsing } from '../record/reference/reference-path.js'
import { CATEGORY_KEYS, NOT_DATA } from './breadcrumb-keys.js'
import { FastBreadcrumbFactory } from './fast-breadcrumb-factory.js'

/** UTF-8 bytes. A crumb says what happened; the whole record, where it was sent, has an entry of its own. */
const MAX_CRUMB_BYTES = 4_096
/** Of the entry that a longer one is made from: a crumb has a few names of its own. */
const CUT_BYTES = MAX_CRUMB_BYTES - 256

export class BreadcrumbFactory {
  readonly #options: MappingOptions
  readonly #fast: FastBreadcrumbFactory
  readonly #wallNow: () => number

  constructor(options: MappingOptions, wallNow: () => number) {
    // Tags, metadata and the like are those of the error as well.
    const {
      service: _service,
      environment: _environment,
      version: _version,
      releaseId: _releaseId,
      deploy: _deploy,
      ...own
    } = options
    this.#options = { ...own, tags: [], metadata: {}, fingerprint: false }
    this.#fast = new FastBreadcrumbFactory(this.#options, MAX_CRUMB_BYTES)
    this.#wallNow = wallNow
  }

  /** The crumb as JSON. Never throws. @param isUsual see `Mapper` */
  create(line: string, isUsual: boolean): string {
    const fast = isUsual ? this.#fast.create(line) : undefined
    if (fast !== undefined) return this.#scrubbed(fast)
    return createBreadcrumbByParsing(line, this.#options, new Date(this.#wallNow()).toISOString())
  }

  /** The line held no header and no parameter of a URL, or it would not be usual. */
  #scrubbed(crumbJson: string): string {
    const { redactor } = this.#options
    if (redactor?.hasPatterns !== true) return crumbJson
    return redactor.redactJson(HEAD + crumbJson + TAIL).slice(HEAD.length, -TAIL.length)
  }
}

/** As the crumb of an entry: of the entry's own fields some are left alone. */
const HEAD = '{"breadcrumbs":['
const TAIL = ']}'

/** For every line there can be; the measure of the fast path. */
export function createBreadcrumbByParsing(line: string, options: MappingOptions, receivedAt: string): string {
  const crumbWithin = (maxEntryBytes: number): string =>
    stringifyExact(crumbOf(parseExact(mapByParsing(line, { ...options, maxEntryBytes }, receivedAt).json) as LogEntry))
  const json = crumbWithin(options.maxEntryBytes)
  return Buffer.byteLength(json) <= MAX_CRUMB_BYTES ? json : crumbWithin(CUT_BYTES)
}

function crumbOf(entry: LogEntry): Breadcrumb {
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
  for (const [key, value] of Object.entries(metadata)) if (!NOT_DATA.has(key) && key !== categoryKey) put(key, value)
  return {
    type,
    category: categoryKey === undefined ? type : (metadata[categoryKey] as string),
    message,
    level,
    timestamp,
    ...(Object.keys(data).length > 0 && { data }),
  }
}
