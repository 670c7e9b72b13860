/** A database as the rooms of the store see it. */

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

/** Numbers are bound as floating point: where SQL must divide them as integers they are cast. */
export type SqlValue = string | number | null

export const IN_MEMORY = ':memory:'

/** All of it or nothing. */
export function transaction(db: Database, work: () => void): void {
  db.exec('begin')
  try {
    work()
    db.exec('commit')
  } catch (error) {
    try {
      db.exec('rollback')
    } catch {
      // Some failures, as a full disk, have ended it already; the first error is the one to tell.
    }
    throw error
  }
}
