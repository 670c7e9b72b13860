/** The answers about entries, asked of the database. */
import { LEVELS } from '../../protocol/log-entry.js'
import type { TimeBuckets, TimeRange } from '../analytics/time-buckets.js'
import { countEach, mostFrequent } from '../analytics/frequency.js'
import { createLevelCounts } from '../analytics/level-counts.js'
import { NO_TALLY, tallyWindows } from '../analytics/release-health.js'
import { parseCursor, parseLimit } from '../query/query-filters.js'
import type { EntryFilter, EntryQuery, EqualityFilter } from '../query/query-filters.js'
import type { EntryRows, Scope } from './sqlite-conditions.js'
import type { Database } from './sqlite-database.js'
import type { EntryScan } from './sqlite-scan.js'
import { eachOf, newestFirst, rowLimit, timeRangeOf } from './sqlite-rows.js'
import type {
  BucketCount,
  LevelCounts,
  NewEntries,
  Page,
  StoredEntry,
  Tally,
  TimeWindow,
  ValueCounts,
} from './store.js'

/** Error and fatal; `LEVELS` rises. 1 or 0. */
const IS_ERROR = `(level >= ${LEVELS.indexOf('error')})`

export class SqliteEntries {
  readonly #db: Database
  readonly #scan: EntryScan

  constructor(db: Database, scan: EntryScan) {
    this.#db = db
    this.#scan = scan
  }

  page({ limit, cursor, ...filter }: EntryQuery): Page<StoredEntry> {
    const beforeSeq = parseCursor(cursor)
    return this.#newest(filter, beforeSeq === Infinity ? {} : { below: beforeSeq }, parseLimit(limit))
  }

  after(seq: number, filter: EntryFilter, limit: number): NewEntries {
    const { items, next } = this.#newest(filter, { above: seq }, limit)
    if (next === null) return { items: items.toReversed(), skipped: 0 }
    const [row] = this.#all('select count(*) as n', this.#scan.rows(filter, { above: seq }))
    return { items: items.toReversed(), skipped: Number(row?.['n']) - items.length }
  }

  ofEvent(eventId: string): StoredEntry | undefined {
    const sql = `select json from entry cross join record using (seq) where event_id = ? order by entry.seq desc limit 1`
    const json = this.#db.prepare(sql).get(eventId)?.['json']
    return json === undefined ? undefined : (JSON.parse(String(json)) as StoredEntry)
  }

  counts(filter: EntryFilter): LevelCounts {
    const sums = LEVELS.map((level, code) => `count(*) filter (where level = ${code}) as ${level}`)
    const [row] = this.#all(`select ${sums.join(', ')}, count(*) as total`, this.#scan.rows(filter))
    return { ...createLevelCounts(), ...row }
  }

  timeRange(filter: EntryFilter): TimeRange | undefined {
    return timeRangeOf(this.#db, this.#scan.rows(filter))
  }

  bucketCounts(filter: EntryFilter, { sinceMs, stepMs }: TimeBuckets): BucketCount[] {
    const rows = this.#scan.rows(filter)
    const both = `(time_ms - cast(? as integer)) / cast(? as integer) * ${LEVELS.length} + level`
    const each = eachOf<number>(this.#db, both, { ...rows, values: [sinceMs, stepMs, ...rows.values] })
    return [...countEach(each)].map(([at, count]) => ({
      bucket: Math.floor(at / LEVELS.length),
      level: LEVELS[at % LEVELS.length] ?? 'info',
      count,
    }))
  }

  values(field: EqualityFilter | 'tag', filter: EntryFilter, limit: number): ValueCounts {
    const column = field === 'tag' ? 'tags' : field
    const rows = this.#scan.rows(filter, {}, [[`${column} is not null`]])
    const counts = countEach(eachOf<string>(this.#db, column, rows))
    return mostFrequent(field === 'tag' ? countTags(counts) : counts, limit)
  }

  talliesIn(windows: readonly TimeWindow[]): Tally[] {
    const timesMs = (where: string): number[] =>
      eachOf(this.#db, 'time_ms', { sql: `from entry where ${where}`, values: [] })
    return tallyWindows({ allMs: timesMs('true'), errorsMs: timesMs(IS_ERROR) }, windows)
  }

  talliesOfReleases(): Map<string, Tally> {
    const rows = { sql: 'from entry where release_id is not null', values: [] }
    const tallies = new Map<string, Tally>()
    for (const [both, count] of countEach(eachOf<string>(this.#db, `release_id || ${IS_ERROR}`, rows))) {
      const [id, isError] = [both.slice(0, -1), both.endsWith('1')]
      const { entries, errors } = tallies.get(id) ?? NO_TALLY
      tallies.set(id, { entries: entries + count, errors: isError ? errors + count : errors })
    }
    return tallies
  }

  #newest(filter: EntryFilter, scope: Scope, limit: number): Page<StoredEntry> {
    const rows = this.#scan.rows(filter, { ...scope, withRecord: true })
    const found = this.#all('select json', rows, `order by ${rows.seq} desc limit ${rowLimit(limit)}`)
    return newestFirst(found, limit)
  }

  #all(select: string, rows: Pick<EntryRows, 'sql' | 'values'>, rest = ''): Record<string, unknown>[] {
    return this.#db.prepare(`${select} ${rows.sql} ${rest}`).all(...rows.values)
  }
}

/** From counts by the JSON of all tags of an entry: most share theirs with many, so few are taken apart. */
function countTags(counts: ReadonlyMap<string, number>): Map<string, number> {
  const tags = new Map<string, number>()
  for (const [json, count] of counts) {
    for (const tag of new Set(JSON.parse(json) as string[])) tags.set(tag, (tags.get(tag) ?? 0) + count)
  }
  return tags
}
