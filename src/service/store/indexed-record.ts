/** Records in memory, beside what queries ask of them: worked out once, when the record is stored (pure). */
import { LazyFacts, toRequestFacts } from '../analytics/record-facts.js'
import type { EntryFacts, RequestFacts } from '../analytics/record-facts.js'
import type { RecordKind, Records, Stored, StoredEntry, StoredRequestLog } from './store.js'

export interface IndexedRecord<T extends Stored> {
  readonly seq: number
  readonly record: T
}

/**
 * All have one form, with every field: entries themselves have hundreds, one for each choice of fields, and reading
 * a field of 100,000 of those takes several times as long.
 */
export interface IndexedEntry extends IndexedRecord<StoredEntry>, EntryFacts {}

export interface IndexedRequest extends IndexedRecord<StoredRequestLog>, RequestFacts {}

/** How each kind is kept. */
export interface IndexedRecords {
  entry: IndexedEntry
  request: IndexedRequest
  feedback: IndexedRecord<Records['feedback']>
  release: IndexedRecord<Records['release']>
  heartbeat: IndexedRecord<Records['heartbeat']>
  rejected: IndexedRecord<Records['rejected']>
}

type Keepers = { readonly [K in RecordKind]: (record: Records[K]) => IndexedRecords[K] }

export const INDEXERS: Keepers = {
  entry: keptEntry,
  request: (record) => ({ seq: record.seq, record, ...toRequestFacts(record.request) }),
  feedback: other,
  release: other,
  heartbeat: other,
  rejected: other,
}

function keptEntry(record: StoredEntry): IndexedEntry {
  const facts = new LazyFacts(record.entry)
  return {
    seq: record.seq,
    record,
    level: facts.level,
    timeMs: facts.timeMs,
    service: facts.service,
    environment: facts.environment,
    version: facts.version,
    release_id: facts.release_id,
    trace_id: facts.trace_id,
    request_id: facts.request_id,
    tags: facts.tags,
    isFailure: facts.isFailure,
    group: facts.group,
    user: facts.user,
    eventId: facts.eventId,
    search: facts.search,
  }
}

function other<T extends Stored>(record: T): IndexedRecord<T> {
  return { seq: record.seq, record }
}

/** V8 keeps a text of Latin-1 alone in a byte a character, every other in two. */
const BEYOND_LATIN_1 = /[\u0100-\uffff]/

/** About what an entry costs beyond its JSON. */
export function countIndexBytes(kept: IndexedRecords[RecordKind]): number {
  if (!('search' in kept)) return 0
  return BEYOND_LATIN_1.test(kept.search) ? 2 * kept.search.length : kept.search.length
}
