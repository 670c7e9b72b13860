/** The field table: maps a clean record to a log entry. Pure. Values without a field are kept in `metadata`. */
import type {
  Breadcrumb,
  EntryDeploy,
  EntryPerf,
  EntryUser,
  Json,
  JsonObject,
  LogEntry,
} from '../../protocol/log-entry.js'
import { takeError, findTopFrame } from './entry-error.js'
import {
  hasMembers,
  toIdText,
  isObject,
  toIsoTime,
  toNumber,
  toPlainText,
  toResolvedLevel,
  resolveLevel,
  toScalarText,
  take,
} from '../coerce.js'
import type { LevelLabels, ResolvedLevel } from '../coerce.js'
import type { RequestKeys } from '../../options/settings.js'
import type { Redactor } from '../../redaction/redactor.js'
import { computeErrorFingerprint } from '../error-fingerprint.js'
import { createObject, putUnderFreeKey } from '../clean-copy.js'
import { omitHttpMembers } from '../http-error.js'
import { formatRequestTitle, takeRequest } from './entry-request.js'
import { addNote } from '../shorten-entry.js'
import { isCallersTrace, takeTrace } from './entry-trace.js'

/** Input of the mapping besides the record. */
export interface MappingOptions {
  readonly messageKey: string
  readonly errorKey: string
  readonly nestedKey?: string | undefined
  /** Of a level, besides `level` and `severity`. */
  readonly levelKey?: string | undefined
  readonly requestKeys: RequestKeys
  readonly levels: LevelLabels
  readonly service?: string | undefined
  /** Used if the record has no `name`. */
  readonly fallbackService?: string | undefined
  readonly environment?: string | undefined
  readonly version?: string | undefined
  readonly releaseId?: string | undefined
  readonly deploy?: EntryDeploy | undefined
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  readonly fingerprint: false | 'auto'
  /** UTF-8 bytes of an entry's JSON. */
  readonly maxEntryBytes: number
  /** Removes secrets, before anything is cut. Default: only headers are removed. */
  readonly redactor?: Redactor | undefined
}

export const NO_MESSAGE = '(no message)'

/** Text fields, with the keys of a record that they are read from: the field's own name and the names that other libraries use. */
export const TEXT_FIELDS = [
  ['user_id', ['user_id', 'userId']],
  ['session_id', ['session_id', 'sessionId']],
  ['release_id', ['release_id', 'releaseId']],
  ['request_id', ['request_id', 'requestId', 'reqId']],
  ['action', ['action']],
  ['source', ['source', 'caller']],
  ['fingerprint', ['fingerprint']],
] as const

/** Objects whose members become fields. An object that is empty afterwards is not kept. */
const PARTED = ['user', 'req', 'request', 'res', 'response', 'trace', 'dd', 'perf', 'deploy']

export interface MappedEntry {
  readonly entry: LogEntry
  readonly level: ResolvedLevel
  readonly ids: RecordIds
}

/** Ids that relate a record to others; '' if it has none. */
export interface RecordIds {
  readonly traceId: string
  /** Whether it is from the request's `traceparent` header and not the record's own. */
  readonly isCallersTrace: boolean
  readonly requestId: string
  readonly sessionId: string
  /** The record's own. */
  readonly fingerprint: string
  readonly hasBreadcrumbs: boolean
}

/** @param record a clean copy, which is changed @param receivedAt ISO 8601 */
export function toEntry(record: JsonObject, options: MappingOptions, receivedAt: string): MappedEntry {
  if (options.nestedKey !== undefined) liftNested(record, options.nestedKey)
  const omitted = omitHttpMembers(record, options.errorKey)
  const message = takeMessage(record, options.messageKey)
  const wholeMetadata = isObject(record['metadata']) ? record['metadata'] : undefined
  if (wholeMetadata !== undefined) delete record['metadata']
  const level = takeLevel(record, options.levels)
  const kept: JsonObject = level.customLevel === undefined ? {} : { level: level.customLevel }
  const timestamp = take(record, ['time', '@timestamp', 'timestamp'], toIsoTime) ?? receivedAt
  const parted = PARTED.filter((key) => hasMembers(record[key]))

  const entry: LogEntry = { level: level.level, message: '', timestamp }
  takeIdentity(entry, record, options)
  for (const [field, keys] of TEXT_FIELDS) {
    set(entry, field, take(record, keys, toIdText))
    // Fastify's `reqId` may repeat the scope's `request_id`.
    for (const key of keys) if (entry[field] !== undefined && toIdText(record[key]) === entry[field]) delete record[key]
  }
  const taken = takeRequest(record, entry.request_id)
  set(entry, 'request', taken.request)
  if (entry.request_id === undefined) set(entry, 'request_id', taken.id)
  set(entry, 'trace', takeTrace(record, taken.traceparent))
  const error = takeError(record, options.errorKey)
  set(entry, 'error', error?.error)
  takeUser(entry, record)
  set(entry, 'perf', takePerf(record, entry.request !== undefined))
  set(entry, 'deploy', takeDeploy(record) ?? options.deploy)
  set(entry, 'breadcrumbs', takeBreadcrumbs(record, options.levels))
  set(entry, 'tags', withTags(takeTexts(record, 'tags', ['tags']), options.tags))
  set(
    entry,
    'notify',
    take(record, ['notify'], (value) => (typeof value === 'boolean' ? value : undefined)),
  )
  set(entry, 'notify_channels', takeTexts(record, 'notify_channels', ['notify_channels', 'notifyChannels']))
  entry.message = message ?? entry.error?.message ?? formatRequestTitle(entry.request) ?? NO_MESSAGE
  if (entry.source === undefined) set(entry, 'source', findTopFrame(entry.error?.stack))
  if (entry.release_id === undefined) set(entry, 'release_id', options.releaseId)
  const ids = {
    traceId: entry.trace?.trace_id ?? '',
    isCallersTrace: isCallersTrace(entry.trace, taken.traceparent),
    requestId: entry.request_id ?? '',
    sessionId: entry.session_id ?? '',
    fingerprint: entry.fingerprint ?? '',
    hasBreadcrumbs: entry.breadcrumbs !== undefined,
  }
  if (options.fingerprint === 'auto' && entry.error !== undefined)
    entry.fingerprint ??= computeErrorFingerprint(entry.error)

  for (const key of parted) if (isObject(record[key]) && !hasMembers(record[key])) delete record[key]
  const metadata = Object.assign(createObject(), wholeMetadata)
  if (error !== undefined && Object.keys(error.rest).length > 0) putUnderFreeKey(metadata, 'error', error.rest)
  for (const source of [kept, record])
    for (const key of Object.keys(source)) putUnderFreeKey(metadata, key, source[key] as Json)
  for (const key of Object.keys(options.metadata)) {
    if (!Object.hasOwn(metadata, key)) metadata[key] = options.metadata[key] as Json
  }
  if (Object.keys(metadata).length > 0 || wholeMetadata !== undefined) entry.metadata = metadata
  if (omitted > 0) addNote(entry, { omitted_http_members: omitted })
  return { entry, level, ids }
}

function set<K extends keyof LogEntry>(entry: LogEntry, field: K, value: LogEntry[K] | undefined): void {
  if (value !== undefined) entry[field] = value
}

function takeLevel(record: JsonObject, labels: LevelLabels): ResolvedLevel {
  for (const key of ['level', 'severity']) {
    const value = record[key]
    const level = resolveLevel(value, labels)
    if (level === undefined) continue
    delete record[key]
    return level
  }
  return toResolvedLevel('info')
}

/** Moves the members of the object under `nestedKey` to the record, except `level` and `time`, which pino writes itself. */
function liftNested(record: JsonObject, nestedKey: string): void {
  const nested = record[nestedKey]
  if (!isObject(nested)) return
  const own = createObject()
  delete record[nestedKey]
  for (const key of Object.keys(nested)) {
    const value = nested[key] as Json
    if (key === 'level' || key === 'time' || Object.hasOwn(record, key)) own[key] = value
    else record[key] = value
  }
  if (Object.keys(own).length > 0 || Object.keys(nested).length === 0) putUnderFreeKey(record, nestedKey, own)
}

function takeIdentity(entry: LogEntry, record: JsonObject, options: MappingOptions): void {
  set(
    entry,
    'service',
    take(record, ['service'], toPlainText) ??
      options.service ??
      take(record, ['name'], toPlainText) ??
      options.fallbackService,
  )
  set(entry, 'environment', take(record, ['environment', 'env'], toPlainText) ?? options.environment)
  set(entry, 'version', take(record, ['version'], toPlainText) ?? options.version)
}

function takeMessage(record: JsonObject, messageKey: string): string | undefined {
  // Other loggers, read from a pipe, use `message` or `msg`.
  return take(record, [messageKey], toScalarText) ?? take(record, ['message', 'msg'], toPlainText)
}

function takeUser(entry: LogEntry, record: JsonObject): void {
  const source = record['user']
  if (!isObject(source)) return
  const user: EntryUser = {}
  for (const field of ['id', 'email', 'name'] as const) {
    const text = take(source, [field], toIdText)
    if (text !== undefined) user[field] = text
  }
  if (Object.keys(user).length > 0) entry.user = user
}

function takePerf(record: JsonObject, hasRequest: boolean): EntryPerf | undefined {
  const perf: EntryPerf = {}
  const source = isObject(record['perf']) ? record['perf'] : {}
  for (const [field, ...others] of [
    ['duration_ms', 'duration_ms', 'responseTime'],
    ['memory_mb', 'memory_mb'],
    ['db_queries', 'db_queries'],
    ['cache_hits', 'cache_hits'],
  ] as const) {
    // If there is a request, the duration is the request's own or unknown.
    const loose = field === 'duration_ms' && hasRequest ? [] : others
    const value = take(source, [field], toNumber) ?? take(record, loose, toNumber)
    if (value !== undefined) perf[field] = value
  }
  return Object.keys(perf).length > 0 ? perf : undefined
}

function takeDeploy(record: JsonObject): EntryDeploy | undefined {
  const source = record['deploy']
  if (!isObject(source)) return undefined
  const deploy: EntryDeploy = {}
  for (const [field, keys] of [
    ['commit', ['commit']],
    ['branch', ['branch']],
    ['deployed_by', ['deployed_by', 'deployedBy']],
  ] as const) {
    const text = take(source, keys, toIdText)
    if (text !== undefined) deploy[field] = text
  }
  return Object.keys(deploy).length > 0 ? deploy : undefined
}

/** A list of texts, or one text. Other items are kept under `name` in the metadata. */
function takeTexts(record: JsonObject, name: string, keys: readonly string[]): string[] | undefined {
  const found = take(record, keys, (value) => (Array.isArray(value) ? value : toIdText(value)))
  if (found === undefined) return undefined
  if (!Array.isArray(found)) return [found]
  const others = found.filter((item) => toIdText(item) === undefined)
  if (others.length > 0) putUnderFreeKey(record, name, others)
  return found.map(toIdText).filter((text) => text !== undefined)
}

function withTags(own: string[] | undefined, added: readonly string[]): string[] | undefined {
  if (added.length === 0) return own
  return [...(own ?? []), ...added.filter((tag) => own?.includes(tag) !== true)]
}

function takeBreadcrumbs(record: JsonObject, labels: LevelLabels): Breadcrumb[] | undefined {
  const source = record['breadcrumbs']
  if (!Array.isArray(source)) return undefined
  const others = source.filter((item) => !isObject(item) && toIdText(item) === undefined)
  if (others.length > 0) record['breadcrumbs'] = others
  else delete record['breadcrumbs']
  return source.flatMap((item) => {
    if (isObject(item)) return [toBreadcrumb(item, labels)]
    const message = toIdText(item)
    return message === undefined ? [] : [{ message }]
  })
}

/** Members without a field are kept in `data`. */
function toBreadcrumb(item: JsonObject, labels: LevelLabels): Breadcrumb {
  const breadcrumb: Breadcrumb = {}
  for (const field of ['type', 'category', 'message'] as const) {
    const text = take(item, [field], toScalarText)
    if (text !== undefined) breadcrumb[field] = text
  }
  const level = take(item, ['level'], (value) =>
    typeof value === 'number' ? (labels[value] ?? resolveLevel(value, labels)?.level) : toPlainText(value),
  )
  if (level !== undefined) breadcrumb.level = level
  const timestamp = take(item, ['timestamp', 'time'], toIsoTime)
  if (timestamp !== undefined) breadcrumb.timestamp = timestamp
  const given = take(item, ['data'], (value) => (isObject(value) ? value : undefined))
  const data = given ?? createObject()
  for (const key of Object.keys(item)) putUnderFreeKey(data, key, item[key] as Json)
  if (given !== undefined || hasMembers(data)) breadcrumb.data = data
  return breadcrumb
}
