/** `node:sqlite` where the runtime has it, and the opening of the store's file. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { IngestServiceError } from '../errors.js'
import { IN_MEMORY, transaction } from './sqlite-database.js'
import type { Database } from './sqlite-database.js'
import { APPLICATION_ID, LAYOUT, VERSION } from './sqlite-layout.js'
import { migrateFrom1 } from './sqlite-migration.js'

/** Whether this runtime has `node:sqlite`. */
export function hasSqlite(): boolean {
  return sqliteModule() !== undefined
}

function sqliteModule(): { DatabaseSync: new (file: string) => Database } | undefined {
  // Not an import: that would fail the whole module where the runtime has none.
  const load = process.getBuiltinModule as ((name: string) => unknown) | undefined
  return load?.('node:sqlite') as { DatabaseSync: new (file: string) => Database } | undefined
}

/** @throws IngestServiceError `STORE` where the runtime has no `node:sqlite` or the file is not ours. */
export function openDatabase(file: string): Database {
  const sqlite = sqliteModule()
  if (sqlite === undefined) {
    const message = `store sqlite needs Node 22.13 or later; this is ${process.version}. Use store memory with a dbFile`
    throw new IngestServiceError('STORE', message)
  }
  let db: Database | undefined
  try {
    if (file !== IN_MEMORY) createFile(file)
    db = new sqlite.DatabaseSync(file)
    prepareFile(db)
    return db
  } catch (error) {
    db?.close()
    const reason = error instanceof Error ? error.message : String(error)
    throw new IngestServiceError('STORE', `cannot use the store's file ${file}: ${reason}`, error)
  }
}

/** A store holds users' log data: for the owner alone. */
function createFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true })
  closeSync(openSync(file, 'a', 0o600))
}

function prepareFile(db: Database): void {
  const isEmpty = db.prepare('select count(*) as n from sqlite_master').get()?.['n'] === 0
  const version = isEmpty ? VERSION : versionOf(db)
  // A crash of the process loses nothing; a power failure may lose the newest. The cache holds what queries scan. A
  // checkpoint comes every 4 MiB, which keeps the one append that makes it short. What is deleted is users' data, and is
  // overwritten. `auto_vacuum` must come first: it holds for a file that has nothing yet, others take it on when compacted.
  db.exec(`
    pragma auto_vacuum = incremental; pragma secure_delete = on;
    pragma journal_mode = wal; pragma synchronous = normal; pragma temp_store = memory;
    pragma cache_size = -65536; pragma wal_autocheckpoint = 1000; pragma journal_size_limit = 16777216
  `)
  if (isEmpty) transaction(db, () => db.exec(LAYOUT))
  if (version === 1) transaction(db, () => migrateFrom1(db))
}

function versionOf(db: Database): number {
  const id = db.prepare('pragma application_id').get()?.['application_id']
  const version = db.prepare('pragma user_version').get()?.['user_version']
  if (id !== APPLICATION_ID) throw new Error('it is not a database of this service; name another file')
  if (version === 1 || version === VERSION) return version
  throw new Error(`its layout has the version ${String(version)}, this service knows 1 to ${VERSION}; name another file`)
}
