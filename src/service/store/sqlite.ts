/** Everything in SQLite, by the runtime's own `node:sqlite` (Node 22.13 and later). */
import type { Level } from '../../protocol/entry.js'
import { checkFilter, cursorSeq, EQUALITY_FILTERS, eventIdOf, limitOf, searchText } from '../queries.js'
import type { CheckedFilter, EntryFilter, EntryQuery } from '../queries.js'
import { FIELDS, IN_MEMORY, openDatabase } from './sqlite-file.js'
import type { Database, SqlValue, Statement } from './sqlite-file.js'
import { limitsOf, RECORD_KINDS } from './store.js'
import type { LevelCounts, Page, PageQuery, RecordKind, Records, Store, StoredEntry } from './store.js'
import type { StoredRelease, StoreLimits } from './store.js'

export interface SqliteStoreOptions extends StoreLimits {
  /** Default: in memory. */
  readonly file?: string
}

export class SqliteStore implements Store {
  readonly kind = 'sqlite'
  readonly #options: SqliteStoreOptions
  readonly #db: Database
  readonly #insertRecord: Statement
  readonly #insertEntry: Statement
  readonly #kept: Record<RecordKind, { count: number; bytes: number }>

  /** @throws IngestServiceError `STORE` where the runtime has no `node:sqlite` or the file is not ours. */
  constructor(options: SqliteStoreOptions) {
    this.#options = options
    this.#db = openDatabase(options.file ?? IN_MEMORY)
    this.#insertRecord = this.#db.prepare('insert into record (seq, kind, bytes, json) values (?, ?, ?, ?)')
    const columns = ['seq', 'id', 'level', 'time_ms', 'event_id', ...FIELDS, 'search']
    const marks = columns.map(() => '?').join(', ')
    this.#insertEntry = this.#db.prepare(`insert into entry (${columns.join(', ')}) values (${marks})`)
    this.#kept = this.#countKept()
  }

  append<K extends RecordKind>(kind: K, records: readonly Records[K][]): void {
    this.#transaction(() => {
      for (const record of records) {
        const json = JSON.stringify(record)
        const bytes = Buffer.byteLength(json)
        this.#insertRecord.run(record.seq, kind, bytes, json)
        if (kind === 'entry') this.#index(record as StoredEntry)
        this.#kept[kind].count++
        this.#kept[kind].bytes += bytes
      }
      this.#prune(kind)
    })
  }

  list<K extends RecordKind>(kind: K, { limit, cursor }: PageQuery): Page<Records[K]> {
    const where = 'kind = ? and seq < ?'
    return this.#page<Records[K]>('record', where, [kind, before(cursor)], limitOf(limit))
  }

  entries({ limit, cursor, ...filter }: EntryQuery): Page<StoredEntry> {
    const { where, values } = conditions(checkFilter(filter))
    const sql = ['seq < ?', ...where].join(' and ')
    return this.#page<StoredEntry>('entry join record using (seq)', sql, [before(cursor), ...values], limitOf(limit))
  }

  counts(filter: EntryFilter): LevelCounts {
    const { where, values } = conditions(checkFilter(filter))
    const counts: Record<Level | 'total', number> = { debug: 0, info: 0, warn: 0, error: 0, fatal: 0, total: 0 }
    const sql = `select level, count(*) as n from entry join record using (seq)
      where ${['true', ...where].join(' and ')} group by level`
    for (const { level, n } of this.#db.prepare(sql).all(...values)) {
      counts[level as Level] = n as number
      counts.total += n as number
    }
    return counts
  }

  entry(id: string): StoredEntry | undefined {
    return this.#newestEntry('id = ?', id)
  }

  entryOfEvent(eventId: string): StoredEntry | undefined {
    return this.#newestEntry('id = ? or event_id = ?', eventId, eventId)
  }

  releaseOfVersion(version: string): StoredRelease | undefined {
    const where = "kind = 'release' and json_extract(json, '$.release.version') = ?"
    return this.#page<StoredRelease>('record', where, [version], 1).items[0]
  }

  lastSeq(): number {
    return (this.#db.prepare('select max(seq) as seq from record').get()?.['seq'] as number | null) ?? 0
  }

  clear(): void {
    this.#transaction(() => this.#db.exec('delete from record; delete from entry'))
    for (const kind of RECORD_KINDS) this.#kept[kind] = { count: 0, bytes: 0 }
  }

  close(): void {
    this.#db.close()
  }

  #index({ seq, id, entry }: StoredEntry): void {
    const fields = FIELDS.map((name) => EQUALITY_FILTERS[name](entry) ?? null)
    const timeMs = Date.parse(entry.timestamp)
    this.#insertEntry.run(seq, id, entry.level, timeMs, eventIdOf(entry) ?? null, ...fields, searchText(entry))
  }

  /** The oldest go, as many as it takes; the newest record always stays. */
  #prune(kind: RecordKind): void {
    const kept = this.#kept[kind]
    const { maxCount, maxBytes } = limitsOf(kind, this.#options)
    if (kept.count <= maxCount && kept.bytes <= maxBytes) return
    const oldest = this.#db.prepare('select seq, bytes from record where kind = ? order by seq limit 500')
    const remove = this.#db.prepare('delete from record where kind = ? and seq <= ?')
    const removeEntry = this.#db.prepare('delete from entry where seq <= ?')
    while (kept.count > maxCount || (kept.bytes > maxBytes && kept.count > 1)) {
      let last = 0
      for (const row of oldest.all(kind)) {
        if (kept.count <= maxCount && (kept.bytes <= maxBytes || kept.count <= 1)) break
        last = row['seq'] as number
        kept.count--
        kept.bytes -= row['bytes'] as number
      }
      remove.run(kind, last)
      if (kind === 'entry') removeEntry.run(last)
    }
  }

  #newestEntry(where: string, ...values: SqlValue[]): StoredEntry | undefined {
    return this.#page<StoredEntry>('entry join record using (seq)', `(${where})`, values, 1).items[0]
  }

  /** One row more than the limit is asked for, so that the last page says that it is the last. */
  #page<T extends { seq: number }>(from: string, where: string, values: SqlValue[], limit: number): Page<T> {
    const sql = `select json from ${from} where ${where} order by seq desc limit ?`
    const rows = this.#db.prepare(sql).all(...values, limit === Infinity ? -1 : limit + 1)
    const items = rows.slice(0, limit).map((row) => JSON.parse(row['json'] as string) as T)
    return { items, next: rows.length > limit ? String((items.at(-1) as T).seq) : null }
  }

  #countKept(): Record<RecordKind, { count: number; bytes: number }> {
    const none = RECORD_KINDS.map((kind) => [kind, { count: 0, bytes: 0 }] as const)
    const kept = Object.fromEntries(none) as Record<RecordKind, { count: number; bytes: number }>
    const sql = 'select kind, count(*) as count, sum(bytes) as bytes from record group by kind'
    for (const { kind, count, bytes } of this.#db.prepare(sql).all()) {
      kept[kind as RecordKind] = { count: count as number, bytes: bytes as number }
    }
    return kept
  }

  #transaction(work: () => void): void {
    this.#db.exec('begin')
    try {
      work()
      this.#db.exec('commit')
    } catch (error) {
      this.#db.exec('rollback')
      throw error
    }
  }
}

function before(cursor: string | undefined): number {
  return Math.min(cursorSeq(cursor), Number.MAX_SAFE_INTEGER)
}

function conditions(filter: CheckedFilter): { where: string[]; values: SqlValue[] } {
  const where: string[] = []
  const values: SqlValue[] = []
  const add = (sql: string, ...more: SqlValue[]): void => {
    where.push(sql)
    values.push(...more)
  }
  if (filter.levels !== undefined) add(`level in (${filter.levels.map(() => '?').join(', ')})`, ...filter.levels)
  // The names are those of the table, never the caller's text.
  for (const [name, value] of filter.equals) add(`${name} = ?`, value)
  if (filter.tag !== undefined) {
    add("exists (select 1 from json_each(record.json, '$.entry.tags') where value = ?)", filter.tag)
  }
  if (filter.sinceMs !== undefined) add('time_ms >= ?', filter.sinceMs)
  if (filter.untilMs !== undefined) add('time_ms < ?', filter.untilMs)
  if (filter.text !== undefined) add('instr(search, ?) > 0', filter.text)
  return { where, values }
}
