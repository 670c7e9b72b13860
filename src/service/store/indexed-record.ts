/** Records in memory with the values that queries compare, computed once when the record is stored (pure). */
import type { Level, LogEntry } from '../../protocol/log-entry.js'
import { findErrorGroup, isFailure } from '../analytics/group-fingerprint.js'
import type { RecordKind, Records, Stored, StoredEntry, StoredRequestLog } from './stored-record.js'

export interface IndexedRecord<T extends Stored = Stored> {
  readonly seq: number
  readonly receivedMs: number
  /** Approximate size of the record as JSON, and of its search text. */
  readonly bytes: number
  readonly record: T
}

/**
 * Created by one object literal with every field (no spread), so that all entries share one hidden class. Otherwise reading a
 * field of 100,000 entries takes several times as long.
 */
export interface IndexedEntry extends IndexedRecord<StoredEntry> {
  readonly level: Level
  readonly timeMs: number
  readonly service: string | undefined
  readonly environment: string | undefined
  readonly version: string | undefined
  readonly release_id: string | undefined
  readonly trace_id: string | undefined
  readonly request_id: string | undefined
  readonly tags: readonly string[] | undefined
  /** Whether error groups count it. */
  readonly isFailure: boolean
  /** The value that the filter `fingerprint` compares. */
  readonly fingerprint: string | undefined
  readonly user: string | undefined
  /** The id under which feedback names the entry. The service interface does not show its field. */
  readonly eventId: string | undefined
  /** The searched texts, in lower case. */
  readonly search: string
}

export interface IndexedRequest extends IndexedRecord<StoredRequestLog> {
  readonly timeMs: number
  readonly method: string
  /** The route pattern; the path if the log has none. */
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

export function indexEntry(record: StoredEntry, bytes = 0): IndexedEntry {
  const { entry } = record
  const search = toSearchText(entry)
  const eventId = entry.metadata?.['event_id']
  return {
    seq: record.seq,
    receivedMs: toReceivedMs(record),
    bytes: bytes + search.length,
    record,
    level: entry.level,
    timeMs: Date.parse(entry.timestamp),
    service: entry.service,
    environment: entry.environment,
    version: entry.version,
    release_id: entry.release_id,
    trace_id: entry.trace?.trace_id,
    request_id: entry.request_id,
    tags: entry.tags,
    isFailure: isFailure(entry),
    fingerprint: findErrorGroup(entry),
    user: entry.user_id ?? entry.user?.id,
    eventId: typeof eventId === 'string' ? eventId : undefined,
    search,
  }
}

function indexRequest(record: StoredRequestLog, bytes: number): IndexedRequest {
  const { request } = record
  return {
    seq: record.seq,
    receivedMs: toReceivedMs(record),
    bytes,
    record,
    timeMs: Date.parse(request.timestamp),
    method: request.method,
    route: request.route ?? request.path,
    status: request.status_code,
    durationMs: request.duration_ms,
    service: request.service,
    environment: request.environment,
  }
}

function indexOther<T extends Stored>(record: T, bytes: number): IndexedRecord<T> {
  return { seq: record.seq, receivedMs: toReceivedMs(record), bytes, record }
}

/** An edited file may have an invalid time: it counts as old. */
function toReceivedMs({ received_at }: Stored): number {
  return Date.parse(received_at) || 0
}

/** U+001F separates the parts, so that no match spans two of them. */
function toSearchText({ message, service, action, error, metadata }: LogEntry): string {
  let text = message
  if (service !== undefined) text += `\u001f${service}`
  if (action !== undefined) text += `\u001f${action}`
  if (error?.type !== undefined) text += `\u001f${error.type}`
  if (error?.message !== undefined) text += `\u001f${error.message}`
  if (error?.stack !== undefined) text += `\u001f${error.stack}`
  if (metadata !== undefined) text += `\u001f${JSON.stringify(metadata)}`
  return text.toLowerCase()
}
