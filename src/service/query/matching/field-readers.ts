/** Readers for the fields of indexed records (pure). */
import type { IndexedEntry, IndexedRequest } from '../../store/indexed-record.js'
import { findRecordReader, createOwnReader, REQUEST_READERS } from './record-readers.js'
import type { FieldReader, Readers } from './record-readers.js'

/** Several times faster than reading the record, because all indexed entries share one hidden class. */
const INDEXED_ENTRY_READERS: Readers<IndexedEntry> = {
  level: ({ level }) => level,
  service: ({ service }) => service,
  status: ({ status }) => status,
  duration: ({ requestMs }) => requestMs,
  route: ({ route }) => route,
  user: ({ users }) => users,
  trace_id: ({ trace_id }) => trace_id,
  request_id: ({ request_id }) => request_id,
  timestamp: ({ timeMs }) => timeMs,
  tag: ({ tags }) => tags,
  environment: ({ environment }) => environment,
  version: ({ version }) => version,
  release_id: ({ release_id }) => release_id,
  fingerprint: ({ fingerprint }) => fingerprint,
  seq: ({ seq }) => seq,
}

const INDEXED_REQUEST_READERS: Readers<IndexedRequest> = {
  method: ({ method }) => method,
  route: ({ route }) => route,
  status: ({ status }) => status,
  duration: ({ durationMs }) => durationMs,
  service: ({ service }) => service,
  environment: ({ environment }) => environment,
  timestamp: ({ timeMs }) => timeMs,
  seq: ({ seq }) => seq,
}

/** @param name resolved @param timesAsText read times as text instead of milliseconds */
export function findEntryReader(name: string, timesAsText = false): FieldReader<IndexedEntry> {
  const indexed = createOwnReader(INDEXED_ENTRY_READERS, name)
  if (indexed !== undefined && !(timesAsText && name === 'timestamp')) return indexed
  const read = findRecordReader(name)
  return ({ record }) => read(record)
}

/** @param name resolved @param timesAsText read times as text instead of milliseconds */
export function findRequestReader(name: string, timesAsText = false): FieldReader<IndexedRequest> {
  const indexed = createOwnReader(INDEXED_REQUEST_READERS, name)
  if (indexed !== undefined && !(timesAsText && name === 'timestamp')) return indexed
  const read = createOwnReader(REQUEST_READERS, name)
  return read === undefined ? () => undefined : ({ record }) => read(record)
}

/** Whether the indexed record has the field. @param name resolved */
export function isIndexedEntryField(name: string): boolean {
  return Object.hasOwn(INDEXED_ENTRY_READERS, name)
}

/** @param name resolved */
export function isIndexedRequestField(name: string): boolean {
  return Object.hasOwn(INDEXED_REQUEST_READERS, name)
}
