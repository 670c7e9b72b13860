/** `node:sqlite` where the runtime has it, and the opening of the store's file. */
import { closeSync, constants, fstatSync, lstatSync } from 'node:fs'
import { UnsafeError, checkPrivate, isSameFile, openPrivate } from '../../shared/safe-files.js'
import { ensureFolderOf } from '../../shared/safe-folders.js'
import { IngestServiceError } from '../ingest-service-error.js'
import { IN_MEMORY, transaction } from './sqlite-database.js'
import type { Database } from './sqlite-database.js'
import { APPLICATION_ID, LAYOUT, VERSION } from './sqlite-layout.js'
import { migrateFrom1 } from './sqlite-migration.js'
import { createStoreError } from './store-error.js'

/** What SQLite opens beside the file, by its name. */
const SUFFIXES_BESIDE = ['-journal', '-wal', '-shm']

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
    const checkAgain = file === IN_MEMORY ? undefined : checkFiles(file)
    db = new sqlite.DatabaseSync(file)
    prepareFile(db)
    checkAgain?.()
    return db
  } catch (error) {
    db?.close()
    throw createStoreError(file, error)
  }
}

/**
 * A store holds users' log data: for the owner alone. SQLite opens all files by name, so they are checked before, and again
 * once they are open.
 * @returns the second check @throws as it does: UnsafeError, the system's errors
 */
function checkFiles(file: string): () => void {
  ensureFolderOf(file)
  const checkBeside = (): void => SUFFIXES_BESIDE.forEach((suffix) => checkPrivate(file + suffix))
  checkBeside()
  const fd = openPrivate(file, constants.O_RDWR | constants.O_CREAT)
  const opened = fstatSync(fd, { bigint: true })
  // Before SQLite opens it: to close any descriptor of a file ends the locks that the process has on it.
  closeSync(fd)
  return () => {
    checkBeside()
    if (!isSameFile(opened, lstatSync(file, { bigint: true })))
      throw new UnsafeError(`${file} was exchanged by another process while it was opened`)
  }
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
  throw new Error(
    `its layout has the version ${String(version)}, this service knows 1 to ${VERSION}; name another file`,
  )
}
