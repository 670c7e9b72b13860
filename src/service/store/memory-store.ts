/** Everything in bounded memory, with an optional journal behind it. */
import type { TimeBuckets, TimeRange } from '../analytics/time-buckets.js'
import { summarizeMembers } from '../analytics/error-group-details.js'
import { tallyWindows } from '../analytics/release-health.js'
import { parseSeq } from '../ingest/record-ids.js'
import { parseCursor, parseLimit } from '../query/query-filters.js'
import type { EntryFilter, EntryQuery, EqualityFilter, RequestFilter, RouteQuery } from '../query/query-filters.js'
import { ErasureInterval } from './erasure-interval.js'
import { Journal, formatJournalLine } from './journal.js'
import { countIndexBytes, INDEXERS } from './indexed-record.js'
import type { IndexedRecord, IndexedEntry, IndexedRecords, IndexedRequest } from './indexed-record.js'
import * as ofEntries from './entry-queries.js'
import * as ofRequests from './request-queries.js'
import { Ring } from './ring.js'
import { toKindLimits, RECORD_KINDS } from './store.js'
import type { BucketCount, Durations, GroupDetails, GroupSummary, LevelCounts, NewEntries, Page } from './store.js'
import type { PageQuery, RecordKind, Records, RouteDurations, Store, Stored, StoredEntry } from './store.js'
import type { StoredRelease, StoreLimits, Tally, TimeWindow, Trend, ValueCounts } from './store.js'

/** The journal is rewritten when it holds twice what is kept and this much more. */
const COMPACT_SLACK_BYTES = 4 << 20

export interface MemoryStoreOptions extends StoreLimits {
  /** The journal; without it nothing outlives the process. */
  readonly file?: string
  /** Bytes beyond twice what is kept before the journal is rewritten. Default 4 MiB. */
  readonly compactSlackBytes?: number
  readonly onProblem: (message: string) => void
}

type Rings = { readonly [K in RecordKind]: Ring<IndexedRecords[K]> }

export class MemoryStore implements Store {
  readonly kind = 'memory'
  readonly #rings: Rings
  readonly #journal: Journal | undefined
  readonly #slackBytes: number
  readonly #erasure = new ErasureInterval()
  #lastSeq = 0
  /** Nothing in the journal was received before. */
  #earliestInFileMs = Infinity
  #forgottenBeforeMs = -Infinity

  /** @throws IngestServiceError `STORE` where the file cannot be used. */
  constructor(options: MemoryStoreOptions) {
    const ring = <K extends RecordKind>(kind: K): Ring<IndexedRecords[K]> => {
      const { maxCount, maxBytes } = toKindLimits(kind, options)
      return new Ring(maxCount, maxBytes)
    }
    this.#rings = {
      entry: ring('entry'),
      request: ring('request'),
      feedback: ring('feedback'),
      release: ring('release'),
      heartbeat: ring('heartbeat'),
      rejected: ring('rejected'),
    }
    this.#slackBytes = options.compactSlackBytes ?? COMPACT_SLACK_BYTES
    if (options.file === undefined) return
    this.#journal = new Journal(options.file, {
      onRecord: (kind, record, bytes) => this.#keep(kind, record as never, bytes),
      onMark: (seq) => this.#seen(seq),
      onProblem: options.onProblem,
    })
    this.#compact()
  }

  append<K extends RecordKind>(kind: K, records: readonly Records[K][], bytes: number): void {
    if (this.#journal === undefined) {
      for (const record of records) this.#keep(kind, record, bytes / records.length)
      return
    }
    let lines = ''
    let total = 0
    for (const record of records) {
      const line = formatJournalLine(kind, record)
      const lineBytes = Buffer.byteLength(line)
      this.#keep(kind, record, lineBytes)
      lines += line
      total += lineBytes
    }
    this.#journal.append(lines, total)
    this.#compact()
  }

  list<K extends RecordKind>(kind: K, { limit, cursor }: PageQuery): Page<Records[K]> {
    return pageOf<Records[K]>(this.#newestFirst(kind, parseCursor(cursor)), parseLimit(limit))
  }

  entries({ limit, cursor, ...filter }: EntryQuery): Page<StoredEntry> {
    const newestFirst = this.#rings.entry.newestFirst(parseCursor(cursor))
    return pageOf(ofEntries.eachMatching(newestFirst, filter), parseLimit(limit))
  }

  entriesAfter(seq: number, filter: EntryFilter, limit: number): NewEntries {
    return ofEntries.entriesAfter(this.#rings.entry.newestFirst(), seq, filter, limit)
  }

  counts(filter: EntryFilter): LevelCounts {
    return ofEntries.countLevels(this.#entries(), filter)
  }

  entry(id: string): StoredEntry | undefined {
    const record = this.#rings.entry.bySeq(parseSeq(id))?.record
    return record?.id === id ? record : undefined
  }

  entryOfEvent(eventId: string): StoredEntry | undefined {
    for (const kept of this.#rings.entry.newestFirst()) {
      if (kept.eventId === eventId || kept.record.id === eventId) return kept.record
    }
    return undefined
  }

  releaseOfVersion(version: string): StoredRelease | undefined {
    for (const { record } of this.#rings.release.newestFirst()) if (record.release.version === version) return record
    return undefined
  }

  timeRange(filter: EntryFilter): TimeRange | undefined {
    return ofEntries.findTimeRange(ofEntries.matching(this.#entries(), filter))
  }

  bucketCounts(filter: EntryFilter, frame: TimeBuckets): Iterable<BucketCount> {
    return ofEntries.countBuckets(this.#entries(), filter, frame)
  }

  values(field: EqualityFilter | 'tag', filter: EntryFilter, limit: number): ValueCounts {
    return ofEntries.countFieldValues(this.#entries(), field, filter, limit)
  }

  groupSummaries(filter: EntryFilter): GroupSummary[] {
    return ofEntries.summarizeGroups(this.#entries(), filter)
  }

  groupDetails(filter: EntryFilter, heads: readonly GroupSummary[], trend: Trend): GroupDetails[] {
    const members = ofEntries.failures(this.#entries(), filter)
    const newest = (seq: number): StoredEntry => (this.#rings.entry.bySeq(seq) as IndexedEntry).record
    return summarizeMembers(heads, members, trend, newest)
  }

  routes(filter: RequestFilter, limit: number): readonly RouteDurations[] {
    return ofRequests.summarizeRoutes(this.#requests(), filter, limit)
  }

  routeTimeRange(query: RouteQuery): TimeRange | undefined {
    return ofRequests.findRouteTimeRange(this.#requests(), query)
  }

  routeDurations(query: RouteQuery, frame: TimeBuckets): ReadonlyMap<number, Durations> {
    return ofRequests.summarizeRouteBuckets(this.#requests(), query, frame)
  }

  talliesIn(windows: readonly TimeWindow[]): readonly Tally[] {
    return tallyWindows(ofEntries.listTimes(this.#entries()), windows)
  }

  talliesOfReleases(): ReadonlyMap<string, Tally> {
    return ofEntries.tallyReleases(this.#entries())
  }

  recordCounts(): Record<RecordKind, number> {
    const counts = RECORD_KINDS.map((kind) => [kind, this.#rings[kind].count])
    return Object.fromEntries(counts) as Record<RecordKind, number>
  }

  lastSeq(): number {
    return this.#lastSeq
  }

  deleteOlder(receivedBeforeMs: number): void {
    for (const kind of RECORD_KINDS) this.#rings[kind].forget(receivedBeforeMs)
    this.#forgottenBeforeMs = receivedBeforeMs
    if (this.#fileHasForgotten() && this.#erasure.isDue(receivedBeforeMs)) {
      this.#rewrite()
      this.#erasure.erased(receivedBeforeMs)
    } else this.#compact()
  }

  clear(): void {
    for (const kind of RECORD_KINDS) this.#rings[kind].clear()
    this.#rewrite()
  }

  close(): void {
    if (this.#fileHasForgotten()) this.#rewrite()
    this.#journal?.close()
  }

  #entries(): readonly IndexedEntry[] {
    return this.#rings.entry.oldestFirst()
  }

  #requests(): readonly IndexedRequest[] {
    return this.#rings.request.oldestFirst()
  }

  #newestFirst<K extends RecordKind>(kind: K, beforeSeq: number): Iterable<IndexedRecord<Records[K]>> {
    return this.#rings[kind].newestFirst(beforeSeq) as Iterable<IndexedRecord<Records[K]>>
  }

  #keep<K extends RecordKind>(kind: K, record: Records[K], bytes: number): void {
    const kept = INDEXERS[kind](record)
    const ring = this.#rings[kind]
    ring.push(kept, bytes + countIndexBytes(kept))
    this.#earliestInFileMs = Math.min(this.#earliestInFileMs, ring.earliestMs)
    this.#seen(record.seq)
  }

  #seen(seq: number): void {
    if (seq > this.#lastSeq) this.#lastSeq = seq
  }

  #compact(): void {
    const journal = this.#journal
    if (journal === undefined) return
    const kept = RECORD_KINDS.reduce((sum, kind) => sum + this.#rings[kind].bytes, 0)
    if (journal.bytes > 2 * kept + this.#slackBytes) this.#rewrite()
  }

  /** Also what went before it was too old, to make room. */
  #fileHasForgotten(): boolean {
    return this.#earliestInFileMs < this.#forgottenBeforeMs
  }

  #rewrite(): void {
    this.#journal?.rewrite(this.#lines(), this.#lastSeq)
    this.#earliestInFileMs = Math.min(...RECORD_KINDS.map((kind) => this.#rings[kind].earliestMs))
  }

  *#lines(): Generator<string> {
    for (const kind of RECORD_KINDS) {
      for (const { record } of this.#rings[kind].oldestFirst()) yield formatJournalLine(kind, record)
    }
  }
}

/** One item more than the limit is looked for, so that the last page says that it is the last. */
function pageOf<T extends Stored>(newestFirst: Iterable<IndexedRecord<T>>, limit: number): Page<T> {
  const items: T[] = []
  for (const { record } of newestFirst) {
    if (items.length === limit) return { items, next: String((items.at(-1) as T).seq) }
    items.push(record)
  }
  return { items, next: null }
}
