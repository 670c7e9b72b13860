/** A file of an earlier layout becomes one of this. */
import { LAYOUT } from './sqlite-layout.js'
import type { Database } from './sqlite-database.js'
import { SqliteWriter } from './sqlite-writer.js'
import type { RecordKind, Records } from './store.js'

/** Records read at once: a file may hold more than memory should. */
const SLICE = 500

/**
 * Layout 1 had `record (seq, kind, bytes, json)` and columns of entries alone, all of which can be made from the JSON.
 * Within a transaction of the caller's: a file that cannot be brought over stays as it was.
 */
export function migrateFrom1(db: Database): void {
  db.exec('alter table record rename to record_1; drop index record_kind; drop table entry')
  db.exec(LAYOUT)
  const writer = new SqliteWriter(db)
  const read = db.prepare('select seq, kind, json from record_1 where seq > ? order by seq limit ?')
  for (let rows = read.all(-1, SLICE); rows.length > 0; rows = read.all(Number(rows.at(-1)?.['seq']), SLICE)) {
    for (const { kind, json } of rows) {
      const record = JSON.parse(String(json)) as Records[RecordKind]
      writer.write(kind as RecordKind, record, String(json))
    }
  }
  db.exec('drop table record_1')
}
