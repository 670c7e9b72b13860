/** `node:sqlite` where the runtime has it, and the layout of the store's file. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { IngestServiceError } from '../errors.js'
import { EQUALITY_FILTERS } from '../queries.js'
import type { EqualityFilter } from '../queries.js'

/** The part of `node:sqlite` used here; the types of Node 20 do not have it. */
export interface Statement {
  run(...values: SqlValue[]): unknown
  get(...values: SqlValue[]): Record<string, unknown> | undefined
  all(...values: SqlValue[]): Record<string, unknown>[]
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

export type SqlValue = string | number | null

export const IN_MEMORY = ':memory:'

/** Columns of `entry` that equality filters compare. */
export const FIELDS = Object.keys(EQUALITY_FILTERS) as EqualityFilter[]

/** Marks the file as ours and gives the layout's version. */
const APPLICATION_ID = 0x70696e67
const VERSION = 1

const LAYOUT = `
  create table record (seq integer primary key, kind text not null, bytes integer not null, json text not null);
  create index record_kind on record (kind, seq);
  create table entry (
    seq integer primary key, id text not null, level text not null, time_ms integer not null, event_id text,
    ${FIELDS.map((name) => `${name} text`).join(', ')}, search text not null
  );
  create index entry_event on entry (event_id);
  create index entry_id on entry (id);
  pragma application_id = ${APPLICATION_ID};
  pragma user_version = ${VERSION};
`

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
  if (!isEmpty) {
    const id = db.prepare('pragma application_id').get()?.['application_id']
    const version = db.prepare('pragma user_version').get()?.['user_version']
    if (id !== APPLICATION_ID || version !== VERSION) {
      throw new Error('it is not a database of this service and version; name another file')
    }
  }
  // A crash of the process loses nothing; a power failure may lose the newest.
  db.exec('pragma journal_mode = wal; pragma synchronous = normal')
  if (isEmpty) db.exec(LAYOUT)
}
