/** The field table: maps a clean record to a log entry. Pure. Values without a field are kept in `metadata`. */
import type {
  Breadcrumb,
  EntryDeploy,
  EntryPerf,
  EntryTrace,
  EntryUser,
  Json,
  JsonObject,
  LogEntry,
} from '../../protocol/log-entry.js'
import { completeError, completeRequest, completeUser, takeMetadata } from './dialect-fields.js'
import { DialectRecord, NO_DIALECT, isDialectKey, mayBeUnsent, takeSplitTime } from './dialects.js'
import { takeError, takeShapedError, findTopFrame } from './entry-error.js'
import {
  hasMembers,
  toIdText,
  ifAny,
  isObject,
  toIsoTime,
  toNumber,
  toPlainText,
  toResolvedLevel,
  remove,
  resolveLevel,
  toScalarText,
  take,
} from '../coerce.js'
import type { LevelLabels, ResolvedLevel } from '../coerce.js'
import type { RequestKeys } from '../../options/settings.js'
import { TextMemo } from '../../shared/text-memo.js'
import type { Redactor } from '../../redaction/redactor.js'
import { computeErrorFingerprint } from './error-fingerprint.js'
import { toRequestPart } from '../mapped-record.js'
import type { RequestPart } from '../mapped-record.js'
import { createObject, putUnderFreeKey } from '../clean-copy.js'
import { omitHttpMembers } from '../http-error.js'
import { NO_PARTS, formatRequestTitle, listRequestPartKeys, takeRequest, toRequestId } from './entry-request.js'
import { addNote } from '../shorten-entry.js'
import { TRACE_FIELDS, takeTrace } from './entry-trace.js'

export interface MappingOptions {
  readonly messageKey: string
  readonly errorKey: string
  readonly nestedKey?: string | undefined
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
  readonly fingerprint: boolean
  /** UTF-8 bytes of an entry's JSON. */
  readonly maxEntryBytes: number
  /** Removes secrets before anything is cut. */
  readonly redactor: Redactor
}

/** Key under which winston's `logstash()` writes everything except message and time. */
const LOGSTASH_FIELDS = '@fields'

export const NO_MESSAGE = '(no message)'

/**
 * Request ids with a lower precedence than the framework's: they may belong to another service, and several requests
 * may share one.
 */
export const OTHER_REQUEST_IDS = [
  'req_id',
  'x-request-id',
  'correlationId',
  'correlation_id',
  'x-correlation-id',
] as const

/**
 * Text fields with the record keys that they are read from: the field's own name and the names used by other libraries.
 */
export const TEXT_FIELDS = [
  ['user_id', ['user_id', 'userId']],
  ['session_id', ['session_id', 'sessionId']],
  ['release_id', ['release_id', 'releaseId']],
  ['request_id', ['request_id', 'requestId', 'reqId']],
  ['action', ['action']],
  ['source', ['source', 'caller']],
  ['fingerprint', ['fingerprint']],
] as const

export interface MappedEntry {
  readonly entry: LogEntry
  readonly level: ResolvedLevel
  readonly hasLevel: boolean
  readonly ids: RecordIds
  readonly requestPart: RequestPart
  readonly requestId: string
}

/** Ids that relate a record to others; '' if it has none. */
export interface RecordIds {
  readonly traceId: string
  /** Whether the trace id is from a header of the request instead of the record. */
  readonly isCallersTrace: boolean
  readonly requestId: string
  readonly sessionId: string
  readonly fingerprint: string
  readonly hasBreadcrumbs: boolean
}

/** Bits of the stages, by the keys that these read. */
const ERROR = 1
/** Ids of requests beside the framework's. */
const OTHER_IDS = 2
const REQUEST = 4
const TRACE = 8
const MEASURES = 16
const SERVICE = 32
const UNSENT = 64
const DIALECT = 128
/** A member of another format if its value is a container. */
const DIALECT_HOLDER = 256
/** A value that is an object or a list. */
const CONTAINER = 512
const IDENTITY = 1024
const USER = 2048
/** The first of the bits of text fields, in the order of `TEXT_FIELDS`. */
const TEXT = 4096

export const STAGE_KEYS: readonly (readonly [bit: number, keys: readonly string[]])[] = [
  [ERROR, ['err', 'error', 'stack']],
  [OTHER_IDS, OTHER_REQUEST_IDS],
  [REQUEST, ['req', 'request', 'res', 'response']],
  [TRACE, ['trace', ...TRACE_FIELDS.flatMap(([, keys]) => keys)]],
  [MEASURES, ['responseTime', 'perf', 'duration_ms', 'memory_mb', 'db_queries', 'cache_hits']],
  [IDENTITY, ['service', 'environment', 'env', 'version', 'name']],
  [SERVICE, ['deploy', 'breadcrumbs', 'tags', 'notify', 'notify_channels', 'notifyChannels']],
  [USER, ['user']],
]

/** Objects, apart from requests, whose members become fields. */
const HOLDERS = ['user', 'trace', 'perf', 'deploy']
const NO_MEMBERS = createObject()

const bitsByKeys = new WeakMap<RequestKeys, TextMemo>()

/** The bits of the stages that the record needs. */
function findParts(record: JsonObject, requestKeys: RequestKeys): number {
  let bits = bitsByKeys.get(requestKeys)
  if (bits === undefined) bitsByKeys.set(requestKeys, (bits = createBits(requestKeys)))
  let found = 0
  for (const key of Object.keys(record)) {
    const ofKey = bits.get(key)
    const value = record[key]
    found |= typeof value !== 'object' ? ofKey & ~DIALECT_HOLDER : value === null ? ofKey : ofKey | CONTAINER
  }
  return found
}

/** The bits of a key, found with one look-up. */
function createBits(requestKeys: RequestKeys): TextMemo {
  const groups: readonly (readonly [bit: number, keys: readonly string[]])[] = [
    ...STAGE_KEYS,
    ...TEXT_FIELDS.map(([field, keys], at): [number, readonly string[]] => [
      TEXT << at,
      field === 'request_id' ? [...keys, requestKeys.reqId] : keys,
    ]),
    [REQUEST, listRequestPartKeys(requestKeys)],
    [MEASURES, [requestKeys.responseTime]],
  ]
  return new TextMemo((key) =>
    groups.reduce(
      (bits, [bit, keys]) => (keys.includes(key) ? bits | bit : bits),
      (mayBeUnsent(key) ? UNSENT : 0) |
        (isDialectKey(key, false) ? DIALECT : isDialectKey(key, true) ? DIALECT_HOLDER : 0),
    ),
  )
}

/** @param parsed a clean copy, whose members are moved to the entry @param receivedAt ISO 8601 */
export function toEntry(parsed: JsonObject, options: MappingOptions, receivedAt: string): MappedEntry {
  const record = unwrap(parsed, options.nestedKey)
  const omitted = omitHttpMembers(record, options.errorKey)
  const parts = findParts(record, options.requestKeys)
  const needs = (stages: number): boolean => (parts & stages) !== 0
  const dialect = needs(DIALECT | DIALECT_HOLDER | UNSENT) ? new DialectRecord(record) : NO_DIALECT
  const message = takeMessage(record, options.messageKey) ?? dialect.resolve('message', undefined, toPlainText)
  const wholeMetadata = needs(CONTAINER) ? take(record, ['metadata'], toObject) : undefined
  const known = takeLevel(record, dialect, options)
  const level = known ?? toResolvedLevel('info')
  const entry: LogEntry = { level: level.level, message: '', timestamp: takeTime(record, dialect) ?? receivedAt }
  // Objects that become empty are not kept.
  const mayHold = needs(CONTAINER) && needs(USER | TRACE | MEASURES | SERVICE | REQUEST)
  const holders = mayHold ? HOLDERS.concat(listRequestPartKeys(options.requestKeys)) : []
  const parted = holders.filter((key) => hasMembers(record[key]))
  // Before the service, because a `name` next to a stack is the error's.
  const mayBeError = needs(ERROR) || record[options.errorKey] !== undefined
  const ownError = mayBeError ? takeError(record, options.errorKey, message) : undefined
  let moved = dialect.isEmpty ? NO_MEMBERS : takeMetadata(record, dialect)
  if (needs(SERVICE) && hasMembers(moved)) {
    putMembers(record, moved) // before the members that `takeTexts` adds
    moved = NO_MEMBERS
  }
  takeIdentity(entry, [needs(IDENTITY | SERVICE) ? record : NO_MEMBERS, moved], dialect, options)
  takeTextFields(entry, record, dialect, options.requestKeys, parts)
  const { ownId, callers } = takeRequestAndTrace(entry, record, dialect, options.requestKeys, parts)
  if (needs(UNSENT)) dialect.removeUnsent()
  const error = ownError ?? (needs(CONTAINER) ? takeShapedError(record) : undefined)
  set(entry, 'error', completeError(error?.error, dialect, message))
  set(entry, 'user', completeUser(needs(USER) ? takeUser(record) : undefined, dialect))
  if (needs(MEASURES) || dialect.mayHave('duration_ms'))
    takeDuration(entry, record, dialect, options.requestKeys.responseTime)
  takeServiceFields(entry, needs(SERVICE) ? record : NO_MEMBERS, options)
  entry.message = chooseEntryMessage(entry, message)
  if (entry.source === undefined) set(entry, 'source', dialect.takeSource() ?? findTopFrame(entry.error ?? {}))
  if (entry.release_id === undefined) set(entry, 'release_id', options.releaseId)
  const ids = findIds(entry, callers)
  if (options.fingerprint && entry.error !== undefined) entry.fingerprint ??= computeErrorFingerprint(entry.error)
  for (const key of parted) if (isObject(record[key]) && !hasMembers(record[key])) remove(record, key)
  set(entry, 'metadata', mergeMetadata(wholeMetadata, error?.rest, level.customLevel, record, moved, options.metadata))
  if (omitted > 0) addNote(entry, { omitted_http_members: omitted })
  const requestPart = findRequestPart(entry, ownId)
  const requestId = requestPart === 'none' ? '' : ownId
  return { entry, level, hasLevel: known !== undefined, ids, requestPart, requestId }
}

function unwrap(record: JsonObject, nestedKey: string | undefined): JsonObject {
  // pino writes its level and time outside the wrapper; within it they are logged data.
  const lifted = nestedKey === undefined ? record : liftNested(record, nestedKey, ['level', 'time'])
  return lifted['@timestamp'] === undefined ? lifted : liftNested(lifted, LOGSTASH_FIELDS, [])
}

function takeTextFields(
  entry: LogEntry,
  record: JsonObject,
  dialect: DialectRecord,
  { reqId }: RequestKeys,
  parts: number,
): void {
  for (const [at, [field, names]] of parts < TEXT ? [] : TEXT_FIELDS.entries()) {
    if ((parts & (TEXT << at)) === 0) continue
    const keys = field === 'request_id' ? [...names.slice(0, 2), reqId, ...names.slice(2)] : names
    set(entry, field, take(record, keys, field === 'request_id' ? toRequestId : toIdText))
    // Fastify's `reqId` may repeat the scope's `request_id`.
    removeRepeats(record, keys, entry[field])
  }
  for (const field of ['session_id', 'action'] as const)
    set(entry, field, dialect.resolve(field, entry[field], toIdText))
}

/** @returns the framework's id of the request, or '', and the ids of the request's caller */
function takeRequestAndTrace(
  entry: LogEntry,
  record: JsonObject,
  dialect: DialectRecord,
  keys: RequestKeys,
  parts: number,
) {
  // Fastify's id is the same in all records of a request; a scope may have set another one.
  const ownId = toRequestId(record[keys.reqId]) ?? toRequestId(record['reqId']) ?? entry.request_id ?? ''
  const taken = (parts & CONTAINER) === 0 ? NO_PARTS : takeRequest(record, entry.request_id, keys)
  set(entry, 'request', completeRequest(taken.request, dialect))
  const requestId = dialect.resolve('request_id', entry.request_id ?? taken.id, toRequestId)
  set(entry, 'request_id', requestId)
  if ((parts & OTHER_IDS) !== 0) {
    set(entry, 'request_id', requestId ?? take(record, OTHER_REQUEST_IDS, toRequestId))
    removeRepeats(record, OTHER_REQUEST_IDS, entry.request_id)
  }
  if ((parts & TRACE) === 0 && dialect.isEmpty && taken.callers === undefined) return { ownId, callers: undefined }
  const { trace, callers } = takeTrace(record, dialect, taken.callers)
  set(entry, 'trace', trace)
  return { ownId, callers }
}

/** Takes the fields that other log formats do not have. */
function takeServiceFields(entry: LogEntry, record: JsonObject, { deploy, levels, tags }: MappingOptions): void {
  set(entry, 'deploy', takeDeploy(record) ?? deploy)
  set(entry, 'breadcrumbs', takeBreadcrumbs(record, levels))
  set(entry, 'tags', addTags(takeTexts(record, 'tags', ['tags']), tags))
  set(entry, 'notify', take(record, ['notify'], toFlag))
  set(entry, 'notify_channels', takeTexts(record, 'notify_channels', ['notify_channels', 'notifyChannels']))
}

function toObject(value: Json): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

function toFlag(value: Json): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

/** An empty message logged with an error, such as Node's AggregateError, is replaced by the joined messages of its parts. */
function chooseEntryMessage({ error, request }: LogEntry, message: string | undefined): string {
  const logged = message === '' && error !== undefined ? undefined : message
  return logged ?? (error?.message || formatRequestTitle(request)) ?? NO_MESSAGE
}

function findIds(entry: LogEntry, callers: EntryTrace | undefined): RecordIds {
  return {
    traceId: entry.trace?.trace_id ?? '',
    isCallersTrace: entry.trace === callers,
    requestId: entry.request_id ?? '',
    sessionId: entry.session_id ?? '',
    fingerprint: entry.fingerprint ?? '',
    hasBreadcrumbs: entry.breadcrumbs !== undefined,
  }
}

/**
 * @returns the record's `metadata`, the error's other members, a custom level, the record's other members, those under
 * names of other formats, and the options' metadata
 */
function mergeMetadata(
  whole: JsonObject | undefined,
  errorRest: JsonObject | undefined,
  customLevel: Json | undefined,
  rest: JsonObject,
  moved: JsonObject,
  added: JsonObject,
): JsonObject | undefined {
  let metadata = rest
  // Not into the record, since V8 adds members to parsed objects without a prototype slowly.
  if (whole !== undefined || hasMembers(errorRest) || customLevel !== undefined || hasMembers(moved)) {
    metadata = Object.assign(createObject(), whole)
    if (hasMembers(errorRest)) putUnderFreeKey(metadata, 'error', errorRest)
    if (customLevel !== undefined) putUnderFreeKey(metadata, 'level', customLevel)
    putMembers(metadata, rest)
    putMembers(metadata, moved)
  }
  for (const key of Object.keys(added))
    if (metadata[key] === undefined) putUnderFreeKey(metadata, key, added[key] as Json)
  return hasMembers(metadata) || whole !== undefined ? metadata : undefined
}

function putMembers(target: JsonObject, source: JsonObject): void {
  for (const key of Object.keys(source)) if (source[key] !== undefined) putUnderFreeKey(target, key, source[key])
}

function findRequestPart({ request }: LogEntry, ownId: string): RequestPart {
  if (request === undefined) return 'none'
  const { method, url, path, ip, user_agent: agent, status_code: status } = request
  return toRequestPart((method ?? url ?? path ?? ip ?? agent) !== undefined, status !== undefined, ownId !== '')
}

function removeRepeats(record: JsonObject, keys: readonly string[], known: string | undefined): void {
  for (const key of keys) if (known !== undefined && toIdText(record[key]) === known) remove(record, key)
}

function set<T extends object, K extends keyof T>(target: T, field: K, value: T[K] | undefined): void {
  if (value !== undefined) target[field] = value
}

/**
 * In ECS, `level` is logged data. Elsewhere it is the logger's level and takes precedence over the names of other
 * formats.
 */
function takeLevel(record: JsonObject, dialect: DialectRecord, { levels }: MappingOptions): ResolvedLevel | undefined {
  const read = (value: Json): ResolvedLevel | undefined => resolveLevel(value, levels)
  const named = dialect.isEcs ? dialect.resolve('level', undefined, read, isSameLevel) : undefined
  return dialect.resolve('level', named ?? take(record, ['level', 'severity'], read), read, isSameLevel)
}

function isSameLevel(first: ResolvedLevel, other: ResolvedLevel): boolean {
  return first.severity === other.severity && other.customLevel === undefined
}

/** Returns the time as ISO 8601 with milliseconds. */
function takeTime(record: JsonObject, dialect: DialectRecord): string | undefined {
  // In ECS, `time` is logged data.
  const own = dialect.isEcs ? take(record, ['@timestamp', 'timestamp'], toIsoTime) : undefined
  return dialect.resolve(
    'time',
    own ??
      take(record, ['time', '@timestamp', 'timestamp'], toIsoTime) ??
      takeSplitTime(record) ??
      take(record, ['ts'], toLikelyTime),
    toIsoTime,
  )
}

/** The time of zap and of some pino formatters, unless it is another value: a version, a count, a list of times. */
function toLikelyTime(value: Json): string | undefined {
  const time = isObject(value) ? undefined : toIsoTime(value)
  return time !== undefined && time >= '2000' && time < '2100' ? time : undefined
}

/** Returns the record with the members of the object under `nestedKey` in place of it, except the keys in `data`. */
function liftNested(record: JsonObject, nestedKey: string, data: readonly string[]): JsonObject {
  const nested = record[nestedKey]
  if (!isObject(nested)) return record
  const lifted = createObject()
  const own = createObject()
  for (const key of Object.keys(record)) if (key !== nestedKey) lifted[key] = record[key] as Json
  for (const key of Object.keys(nested)) {
    const value = nested[key] as Json
    if (data.includes(key) || Object.hasOwn(lifted, key)) own[key] = value
    else lifted[key] = value
  }
  if (Object.keys(own).length > 0 || Object.keys(nested).length === 0) putUnderFreeKey(lifted, nestedKey, own)
  return lifted
}

function takeIdentity(
  entry: LogEntry,
  [record, moved]: readonly [JsonObject, JsonObject],
  dialect: DialectRecord,
  options: MappingOptions,
): void {
  const read = (field: 'service' | 'environment' | 'version', keys: readonly string[]): string | undefined =>
    dialect.resolve(field, take(record, keys, toPlainText), toPlainText)
  set(
    entry,
    'service',
    read('service', ['service']) ??
      options.service ??
      take(record, ['name'], toPlainText) ??
      take(moved, ['name'], toPlainText) ??
      options.fallbackService,
  )
  set(entry, 'environment', read('environment', ['environment', 'env']) ?? options.environment)
  set(entry, 'version', read('version', ['version']) ?? options.version)
}

/** The duration belongs to the request, if there is one. */
function takeDuration(entry: LogEntry, record: JsonObject, dialect: DialectRecord, responseTime: string): void {
  const { request } = entry
  if (request !== undefined)
    set(
      request,
      'duration_ms',
      request.duration_ms ?? take(record, [responseTime, 'responseTime', 'duration_ms'], toNumber),
    )
  const perf = takePerf(record, request !== undefined, responseTime)
  const duration = dialect.resolve(
    'duration_ms',
    request === undefined ? perf?.duration_ms : request.duration_ms,
    toNumber,
  )
  if (request !== undefined) set(request, 'duration_ms', duration)
  const { duration_ms: own, ...others } = perf ?? {}
  set(entry, 'perf', request !== undefined || duration === own ? perf : { ...others, duration_ms: duration as number })
}

function takeMessage(record: JsonObject, messageKey: string): string | undefined {
  // Other loggers, whose output is piped in, use `message` or `msg`.
  return take(record, [messageKey], toScalarText) ?? take(record, ['message', 'msg'], toPlainText)
}

function takeUser({ user }: JsonObject): EntryUser | undefined {
  if (!isObject(user)) return undefined
  const [id, email, name] = ['id', 'email', 'name'].map((field) => take(user, [field], toIdText))
  return ifAny({ id, email, name })
}

function takePerf(record: JsonObject, hasRequest: boolean, responseTime: string): EntryPerf | undefined {
  const source = isObject(record['perf']) ? record['perf'] : NO_MEMBERS
  const read = (field: string, others = [field]): number | undefined =>
    take(source, [field], toNumber) ?? take(record, others, toNumber)
  return ifAny({
    // With a request, only the request's own duration is used.
    duration_ms: read('duration_ms', hasRequest ? [] : ['duration_ms', 'responseTime', responseTime]),
    memory_mb: read('memory_mb'),
    db_queries: read('db_queries'),
    cache_hits: read('cache_hits'),
  })
}

function takeDeploy(record: JsonObject): EntryDeploy | undefined {
  const source = record['deploy']
  if (!isObject(source)) return undefined
  return ifAny({
    commit: take(source, ['commit'], toIdText),
    branch: take(source, ['branch'], toIdText),
    deployed_by: take(source, ['deployed_by', 'deployedBy'], toIdText),
  })
}

/** Reads a list of strings, or one string. Other items are kept under `name` in the metadata. */
function takeTexts(record: JsonObject, name: string, keys: readonly string[]): string[] | undefined {
  const found = take(record, keys, (value) => (Array.isArray(value) ? value : toIdText(value)))
  if (found === undefined) return undefined
  if (!Array.isArray(found)) return [found]
  const others = found.filter((item) => toIdText(item) === undefined)
  if (others.length > 0) putUnderFreeKey(record, name, others)
  return found.map(toIdText).filter((text) => text !== undefined)
}

function addTags(own: string[] | undefined, added: readonly string[]): string[] | undefined {
  if (added.length === 0) return own
  return [...(own ?? []), ...added.filter((tag) => own?.includes(tag) !== true)]
}

function takeBreadcrumbs(record: JsonObject, labels: LevelLabels): Breadcrumb[] | undefined {
  const source = record['breadcrumbs']
  if (!Array.isArray(source)) return undefined
  const others = source.filter((item) => !isObject(item) && toIdText(item) === undefined)
  if (others.length > 0) record['breadcrumbs'] = others
  else remove(record, 'breadcrumbs')
  return source.flatMap((item) => {
    if (isObject(item)) return [toBreadcrumb(item, labels)]
    const message = toIdText(item)
    return message === undefined ? [] : [{ message }]
  })
}

/** Members without a field are kept in `data`. */
function toBreadcrumb(item: JsonObject, labels: LevelLabels): Breadcrumb {
  const [type, category, message] = ['type', 'category', 'message'].map((field) => take(item, [field], toScalarText))
  const level = take(item, ['level'], (value) =>
    typeof value === 'number' ? (labels[value] ?? resolveLevel(value, labels)?.level) : toPlainText(value),
  )
  const timestamp = take(item, ['timestamp', 'time'], toIsoTime)
  const given = take(item, ['data'], toObject)
  const data = given ?? createObject()
  putMembers(data, item)
  const others = given !== undefined || hasMembers(data) ? data : undefined
  return { type, category, message, level, timestamp, data: others } as Breadcrumb
}
