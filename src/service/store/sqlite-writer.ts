/** Puts records into the tables; what queries need of them is worked out here, as by the store in memory. */
import { LazyFacts, toRequestFacts } from '../analytics/record-facts.js'
import { levelCode } from '../analytics/level-counts.js'
import { EQUALITY_NAMES } from '../query/query-filters.js'
import type { Database, Statement } from './sqlite-database.js'
import type { RecordKind, Records, StoredEntry, StoredRequestLog } from './store.js'

const ENTRY_COLUMNS = ['level', 'time_ms', 'is_failure', 'fingerprint', 'event_id', ...EQUALITY_NAMES, 'user', 'tags']
const REQUEST_COLUMNS = ['time_ms', 'status', 'ms', 'method', 'route', 'service', 'environment']

export class SqliteWriter {
  readonly #record: Statement
  readonly #entry: Statement
  readonly #search: Statement
  readonly #request: Statement

  constructor(db: Database) {
    const insert = (table: string, columns: readonly string[]): Statement => {
      const marks = columns.map(() => ', ?').join('')
      return db.prepare(`insert into ${table} (seq, ${columns.join(', ')}) values (?${marks})`)
    }
    this.#record = insert('record', ['kind', 'bytes', 'received_ms', 'json'])
    this.#entry = insert('entry', ENTRY_COLUMNS)
    this.#search = insert('search', ['text'])
    this.#request = insert('request', REQUEST_COLUMNS)
  }

  /** About the bytes that it takes: the record's JSON and the text for searching. */
  write<K extends RecordKind>(kind: K, record: Records[K], json = JSON.stringify(record)): number {
    const bytes = Buffer.byteLength(json) + this.#writeFacts(kind, record)
    this.#record.run(record.seq, kind, bytes, Date.parse(record.received_at), json)
    return bytes
  }

  #writeFacts<K extends RecordKind>(kind: K, record: Records[K]): number {
    if (kind === 'entry') return this.#writeEntry(record as StoredEntry)
    if (kind === 'request') this.#writeRequest(record as StoredRequestLog)
    return 0
  }

  #writeEntry({ seq, entry }: StoredEntry): number {
    const facts = new LazyFacts(entry)
    const { level, timeMs, isFailure, group = null, eventId = null, user = null, tags = [], search } = facts
    const names = EQUALITY_NAMES.map((name) => facts[name] ?? null)
    const more = [...names, user, tags.length === 0 ? null : JSON.stringify(tags)]
    this.#entry.run(seq, levelCode(level), timeMs, isFailure ? 1 : 0, group, eventId, ...more)
    this.#search.run(seq, search)
    return Buffer.byteLength(search)
  }

  #writeRequest({ seq, request }: StoredRequestLog): void {
    const { timeMs, status, ms, method, route, service = null, environment = null } = toRequestFacts(request)
    this.#request.run(seq, timeMs, status, String(ms), method, route, service, environment)
  }
}
