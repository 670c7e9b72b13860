/** Readers for the fields of indexed records (pure). */
import type { IndexedEntry, IndexedRequest } from '../../store/indexed-record.js'
import { testEntryTexts, testRequestTexts } from '../../store/record-texts.js'
import { findRecordReader, createOwnReader, REQUEST_READERS } from './record-readers.js'
import type { FieldReader, Readers } from './record-readers.js'

/** `run:last` matches the processes that run now. */
const LAST_RUN = 'last'

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
  run: ({ run }) => (run?.isLast() === true ? [run.id, LAST_RUN] : run?.id),
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

export interface SearchedKind<R> {
  readonly name: string
  readonly indexed: Readers<R>
  readonly findReader: (field: string) => FieldReader<R>
  readonly anyText: (record: R, visit: (text: string) => boolean) => boolean
}

export const ENTRIES: SearchedKind<IndexedEntry> = {
  name: 'entry',
  indexed: INDEXED_ENTRY_READERS,
  findReader: (field) => {
    const read = findRecordReader(field)
    return ({ record }) => read(record)
  },
  anyText: ({ record }, visit) => testEntryTexts(record.entry, visit),
}

export const REQUESTS: SearchedKind<IndexedRequest> = {
  name: 'request',
  indexed: INDEXED_REQUEST_READERS,
  findReader: (field) => {
    const read = createOwnReader(REQUEST_READERS, field)
    return ({ record }) => read?.(record)
  },
  anyText: ({ record }, visit) => testRequestTexts(record.request, visit),
}

/** Whether the indexed record has the field. @param field resolved */
export function isIndexed<R>({ indexed }: SearchedKind<R>, field: string): boolean {
  return Object.hasOwn(indexed, field)
}

/** @param field resolved @param asText read times as text instead of milliseconds, and only the id of a run */
export function findReader<R>(kind: SearchedKind<R>, field: string, asText = false): FieldReader<R> {
  const hasOtherText = asText && (field === 'timestamp' || field === 'run')
  return (hasOtherText ? undefined : createOwnReader(kind.indexed, field)) ?? kind.findReader(field)
}
