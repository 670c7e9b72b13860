/** Everything in SQLite, by the runtime's own `node:sqlite` (Node 22.13 and later). */
import type { TimeBuckets, TimeRange } from '../analytics/time-buckets.js'
import { parseSeq } from '../ingest/record-ids.js'
import { parseCursor, parseLimit } from '../query/query-filters.js'
import type { EntryFilter, EntryQuery, EqualityFilter, RequestFilter, RouteQuery } from '../query/query-filters.js'
import { ErasureInterval } from './erasure-interval.js'
import { IN_MEMORY, transaction } from './sqlite-database.js'
import type { Database, SqlValue } from './sqlite-database.js'
import { SqliteEntries } from './sqlite-entries.js'
import { compact, deleteAll, releasePages, truncateLog } from './sqlite-erasure.js'
import { openDatabase } from './sqlite-file.js'
import * as ofGroups from './sqlite-groups.js'
import * as ofRequests from './sqlite-requests.js'
import { newestFirst, rowLimit } from './sqlite-rows.js'
import { EntryScan } from './sqlite-scan.js'
import { SqliteWriter } from './sqlite-writer.js'
import { toKindLimits, RECORD_KINDS } from './store.js'
import type { BucketCount, Durations, GroupDetails, GroupSummary, LevelCounts, NewEntries, Page } from './store.js'
import type { PageQuery, RecordKind, Records, RouteDurations, Store, StoredEntry } from './store.js'
import type { StoredRelease, StoreLimits, Tally, TimeWindow, Trend, ValueCounts } from './store.js'

export interface SqliteStoreOptions extends StoreLimits {
  /** Default: in memory. */
  readonly file?: string
}

type Size = { count: number; bytes: number }

/** Tables that have a row for some records beside that in `record`. */
const TABLES_BESIDE = ['entry', 'search', 'request'] as const

export class SqliteStore implements Store {
  readonly kind = 'sqlite'
  readonly #options: SqliteStoreOptions
  readonly #db: Database
  readonly #writer: SqliteWriter
  readonly #scan: EntryScan
  readonly #entries: SqliteEntries
  readonly #erasure = new ErasureInterval()
  #kept: Record<RecordKind, Size>

  /** @throws IngestServiceError `STORE` where the runtime has no `node:sqlite` or the file is not ours. */
  constructor(options: SqliteStoreOptions) {
    this.#options = options
    this.#db = openDatabase(options.file ?? IN_MEMORY)
    this.#writer = new SqliteWriter(this.#db)
    this.#scan = new EntryScan(this.#db)
    this.#entries = new SqliteEntries(this.#db, this.#scan)
    this.#kept = this.#sizes()
  }

  append<K extends RecordKind>(kind: K, records: readonly Records[K][]): void {
    const before = { ...this.#kept[kind] }
    try {
      transaction(this.#db, () => {
        for (const record of records) {
          this.#kept[kind].bytes += this.#writer.write(kind, record)
          this.#kept[kind].count++
        }
        this.#prune(kind)
      })
    } catch (error) {
      this.#kept[kind] = before
      throw error
    }
  }

  list<K extends RecordKind>(kind: K, { limit, cursor }: PageQuery): Page<Records[K]> {
    const most = parseLimit(limit)
    const beforeSeq = Math.min(parseCursor(cursor), Number.MAX_SAFE_INTEGER)
    const sql = 'select json from record where kind = ? and seq < ? order by seq desc limit ?'
    return newestFirst(this.#db.prepare(sql).all(kind, beforeSeq, rowLimit(most)), most)
  }

  entries(query: EntryQuery): Page<StoredEntry> {
    return this.#entries.page(query)
  }

  entriesAfter(seq: number, filter: EntryFilter, limit: number): NewEntries {
    return this.#entries.after(seq, filter, limit)
  }

  counts(filter: EntryFilter): LevelCounts {
    return this.#entries.counts(filter)
  }

  entry(id: string): StoredEntry | undefined {
    const seq = parseSeq(id)
    if (!Number.isSafeInteger(seq)) return undefined
    const found = this.#first<StoredEntry>("select json from record where kind = 'entry' and seq = ?", seq)
    return found?.id === id ? found : undefined
  }

  entryOfEvent(eventId: string): StoredEntry | undefined {
    const [named, own] = [this.#entries.ofEvent(eventId), this.entry(eventId)]
    return named !== undefined && own !== undefined && own.seq > named.seq ? own : (named ?? own)
  }

  releaseOfVersion(version: string): StoredRelease | undefined {
    const where = "kind = 'release' and json_extract(json, '$.release.version') = ?"
    return this.#first(`select json from record where ${where} order by seq desc limit 1`, version)
  }

  timeRange(filter: EntryFilter): TimeRange | undefined {
    return this.#entries.timeRange(filter)
  }

  bucketCounts(filter: EntryFilter, frame: TimeBuckets): BucketCount[] {
    return this.#entries.bucketCounts(filter, frame)
  }

  values(field: EqualityFilter | 'tag', filter: EntryFilter, limit: number): ValueCounts {
    return this.#entries.values(field, filter, limit)
  }

  groupSummaries(filter: EntryFilter): GroupSummary[] {
    return ofGroups.groupHeads(this.#db, this.#scan, filter)
  }

  groupDetails(filter: EntryFilter, heads: readonly GroupSummary[], trend: Trend): GroupDetails[] {
    return ofGroups.groupBodies(this.#db, this.#scan, filter, heads, trend)
  }

  routes(filter: RequestFilter, limit: number): RouteDurations[] {
    return ofRequests.routes(this.#db, filter, limit)
  }

  routeTimeRange(query: RouteQuery): TimeRange | undefined {
    return ofRequests.routeTimeRange(this.#db, query)
  }

  routeDurations(query: RouteQuery, frame: TimeBuckets): Map<number, Durations> {
    return ofRequests.routeDurations(this.#db, query, frame)
  }

  talliesIn(windows: readonly TimeWindow[]): Tally[] {
    return this.#entries.talliesIn(windows)
  }

  talliesOfReleases(): Map<string, Tally> {
    return this.#entries.talliesOfReleases()
  }

  recordCounts(): Record<RecordKind, number> {
    const counts = RECORD_KINDS.map((kind) => [kind, this.#kept[kind].count])
    return Object.fromEntries(counts) as Record<RecordKind, number>
  }

  lastSeq(): number {
    const sql =
      "select max(coalesce((select max(seq) from record), 0), coalesce((select value from state where name = 'last_seq'), 0)) as seq"
    return Number(this.#db.prepare(sql).get()?.['seq'])
  }

  deleteOlder(receivedBeforeMs: number): void {
    this.#remove(receivedBeforeMs)
    releasePages(this.#db)
    if (!this.#erasure.isDue(receivedBeforeMs)) return
    truncateLog(this.#db)
    this.#erasure.erased(receivedBeforeMs)
  }

  clear(): void {
    deleteAll(this.#db, () => {
      this.#rememberSeq()
      for (const table of ['record', ...TABLES_BESIDE]) this.#db.exec(`delete from ${table}`)
    })
    this.#kept = this.#sizes()
    compact(this.#db)
  }

  close(): void {
    this.#db.close()
  }

  #remove(receivedBeforeMs: number): void {
    const gone = this.#sizes('indexed by record_received where received_ms < ?', receivedBeforeMs)
    if (RECORD_KINDS.every((kind) => gone[kind].count === 0)) return
    if (RECORD_KINDS.every((kind) => gone[kind].count === this.#kept[kind].count)) {
      this.clear()
      return
    }
    transaction(this.#db, () => {
      this.#rememberSeq()
      for (const table of TABLES_BESIDE) {
        const old = 'select seq from record where received_ms < ?'
        this.#db.prepare(`delete from ${table} where seq in (${old})`).run(receivedBeforeMs)
      }
      this.#db.prepare('delete from record where received_ms < ?').run(receivedBeforeMs)
    })
    for (const kind of RECORD_KINDS) {
      this.#kept[kind].count -= gone[kind].count
      this.#kept[kind].bytes -= gone[kind].bytes
    }
  }

  /** The record that bore it may go; ids and `seq` go on all the same. */
  #rememberSeq(): void {
    this.#db.prepare("insert or replace into state (name, value) values ('last_seq', ?)").run(this.lastSeq())
  }

  /** The oldest go, as many as it takes; the newest record always stays. */
  #prune(kind: RecordKind): void {
    const kept = this.#kept[kind]
    const { maxCount, maxBytes } = toKindLimits(kind, this.#options)
    if (kept.count <= maxCount && kept.bytes <= maxBytes) return
    const oldest = this.#db.prepare('select seq, bytes from record where kind = ? order by seq limit 500')
    const tables = ['record', ...TABLES_BESIDE]
    const removals = tables.map((table) => this.#db.prepare(`delete from ${table} where seq = ?`))
    while (kept.count > maxCount || (kept.bytes > maxBytes && kept.count > 1)) {
      for (const { seq, bytes } of oldest.all(kind)) {
        if (kept.count <= maxCount && (kept.bytes <= maxBytes || kept.count <= 1)) break
        for (const removal of removals) removal.run(Number(seq))
        kept.count--
        kept.bytes -= Number(bytes)
      }
    }
  }

  #first<T>(sql: string, ...values: SqlValue[]): T | undefined {
    const json = this.#db.prepare(sql).get(...values)?.['json']
    return json === undefined ? undefined : (JSON.parse(String(json)) as T)
  }

  #sizes(those = '', ...values: SqlValue[]): Record<RecordKind, Size> {
    const sizes = Object.fromEntries(RECORD_KINDS.map((kind) => [kind, { count: 0, bytes: 0 }]))
    const sql = `select kind, count(*) as count, sum(bytes) as bytes from record ${those} group by kind`
    for (const { kind, count, bytes } of this.#db.prepare(sql).all(...values)) {
      sizes[String(kind)] = { count: Number(count), bytes: Number(bytes) }
    }
    return sizes as Record<RecordKind, Size>
  }
}
