/** Creates the in-memory form of records, with values for queries that are computed once (pure). */
import type { EntryUser, Json, Level, LogEntry } from '../../protocol/log-entry.js'
import { findRoute } from './failed-route.js'
import { intern, joinTexts, testRequestTexts, testEntryTexts } from './record-texts.js'
import { findErrorGroup, isFailure } from './group-fingerprint.js'
import type { Run } from './runs.js'
import type { RecordKind, Records, Stored, StoredEntry, StoredRequestLog } from './stored-record.js'

export interface IndexedRecord<T extends Stored = Stored> {
  readonly seq: number
  /** Unique in the process. */
  readonly serial: number
  readonly receivedMs: number
  /** Approximate size of the record's JSON plus its search text. */
  readonly bytes: number
  readonly record: T
}

/**
 * All entries are created by one object literal with every field (no spread) and share one hidden class. Otherwise reading a field of
 * 100,000 entries takes several times as long.
 */
export interface IndexedEntry extends IndexedRecord<StoredEntry> {
  readonly level: Level
  readonly timeMs: number
  /** Duration of the operation whose end the entry reports. */
  readonly durationMs: number | undefined
  readonly service: string | undefined
  readonly environment: string | undefined
  readonly version: string | undefined
  readonly release_id: string | undefined
  readonly trace_id: string | undefined
  readonly request_id: string | undefined
  readonly tags: readonly string[] | undefined
  readonly isFailure: boolean
  readonly fingerprint: string | undefined
  readonly user: string | undefined
  readonly users: string | readonly string[] | undefined
  readonly status: number | undefined
  readonly requestMs: number | undefined
  /** `metadata.route`, else the request's path with ids as `*`. */
  readonly route: Json | undefined
  /** `metadata.event_id`, by which feedback refers to the entry. The service interface does not specify this field. */
  readonly eventId: string | undefined
  /** Set by the store, which counts the entries of each run. */
  run: Run | undefined
  readonly search: string
}

export interface IndexedRequest extends IndexedRecord<StoredRequestLog> {
  readonly search: string
  readonly timeMs: number
  readonly requestId: string
  readonly method: string
  /** The route pattern, or the path if the log has no route. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly service: string | undefined
  readonly environment: string | undefined
}

export interface IndexedRecords {
  entry: IndexedEntry
  request: IndexedRequest
  feedback: IndexedRecord<Records['feedback']>
  release: IndexedRecord<Records['release']>
  heartbeat: IndexedRecord<Records['heartbeat']>
  rejected: IndexedRecord<Records['rejected']>
}

type Indexers = { readonly [K in RecordKind]: (record: Records[K], bytes: number) => IndexedRecords[K] }

export const INDEXERS: Indexers = {
  entry: indexEntry,
  request: indexRequest,
  feedback: indexOther,
  release: indexOther,
  heartbeat: indexOther,
  rejected: indexOther,
}

let lastSerial = 0

export function indexEntry(record: StoredEntry, bytes = 0): IndexedEntry {
  const { entry } = record
  const search = joinTexts((visit) => void testEntryTexts(entry, visit))
  const fingerprint = findErrorGroup(entry)
  const eventId = entry.metadata?.['event_id']
  return {
    seq: record.seq,
    serial: ++lastSerial,
    receivedMs: toReceivedMs(record),
    bytes: bytes + search.length,
    record,
    level: entry.level,
    timeMs: toTimeMs(entry.timestamp),
    durationMs: findDurationMs(entry),
    service: intern(entry.service),
    environment: intern(entry.environment),
    version: intern(entry.version),
    release_id: entry.release_id,
    trace_id: entry.trace?.trace_id,
    request_id: entry.request_id,
    tags: entry.tags,
    isFailure: isFailure(entry),
    fingerprint: intern(fingerprint),
    user: intern(entry.user_id ?? entry.user?.id),
    users: findUsers(entry.user_id, entry.user),
    status: entry.request?.status_code,
    requestMs: entry.request?.duration_ms,
    route: findRoute(entry),
    eventId: typeof eventId === 'string' ? eventId : undefined,
    run: undefined,
    search,
  }
}

function indexRequest(record: StoredRequestLog, bytes: number): IndexedRequest {
  const { request } = record
  const search = joinTexts((visit) => void testRequestTexts(request, visit))
  return {
    seq: record.seq,
    serial: ++lastSerial,
    receivedMs: toReceivedMs(record),
    bytes: bytes + search.length,
    record,
    search,
    timeMs: toTimeMs(request.timestamp),
    requestId: request.request_id,
    method: intern(request.method),
    route: intern(request.route ?? request.path),
    status: request.status_code,
    durationMs: request.duration_ms,
    service: intern(request.service),
    environment: intern(request.environment),
  }
}

function indexOther<T extends Stored>(record: T, bytes: number): IndexedRecord<T> {
  return { seq: record.seq, serial: ++lastSerial, receivedMs: toReceivedMs(record), bytes, record }
}

function toReceivedMs({ received_at }: Stored): number {
  return toTimeMs(received_at)
}

/** An edited journal can have invalid times; they sort as oldest. */
function toTimeMs(time: string): number {
  return Date.parse(time) || 0
}

function findUsers(userId: string | undefined, user: EntryUser | undefined): IndexedEntry['users'] {
  if (user === undefined) return userId
  const found = new Set([userId, user.id, user.email, user.name].filter((name) => name !== undefined))
  return found.size === 0 ? undefined : [...found]
}

const METADATA_KEYS = ['duration_ms', 'durationMs', 'elapsed_ms', 'responseTime', 'response_time'] as const
/** 24 hours. A longer duration is an error or has another unit, so it is ignored. */
const MAX_MS = 86_400_000

/** The duration in milliseconds; undefined if the entry has none. */
function findDurationMs({ request, perf, metadata }: LogEntry): number | undefined {
  const found = [request?.duration_ms, perf?.duration_ms].find(isDuration)
  if (found !== undefined || metadata === undefined) return found
  for (const key of METADATA_KEYS) {
    const value = metadata[key]
    if (isDuration(value)) return value
  }
  return undefined
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_MS
}
