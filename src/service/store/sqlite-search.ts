/** The text search of the database: what was found is remembered while the same text is asked for. */
import type { Database, SqlValue, Statement } from './sqlite-database.js'

/** SQLite takes no longer pattern; `instr` finds the same, more slowly. */
const MAX_PATTERN = 10_000

/**
 * The temporary table `hit` has the `seq` of every entry in which the text stands. A page asks for the list, the
 * counts, the histogram and the values of one text, and again when more has arrived: only the first of them looks
 * through everything, the others at what came since.
 */
export class SqliteSearch {
  readonly #db: Database
  readonly #newest: Statement
  #text: string | undefined
  #seenSeq = 0

  constructor(db: Database) {
    this.#db = db
    db.exec('create temp table hit (seq integer primary key)')
    this.#newest = db.prepare('select coalesce(max(seq), 0) as seq from search')
  }

  /** Brings `hit` up to date. `text` is in lower case. */
  find(text: string): void {
    const newestSeq = Number(this.#newest.get()?.['seq'])
    if (text === this.#text && newestSeq === this.#seenSeq) return
    if (text !== this.#text || newestSeq < this.#seenSeq) this.#forget()
    const [condition, value] = contains(text)
    this.#db.prepare(`insert into hit select seq from search where seq > ? and ${condition}`).run(this.#seenSeq, value)
    this.#db.exec('delete from hit where seq < (select min(seq) from search)')
    this.#text = text
    this.#seenSeq = newestSeq
  }

  #forget(): void {
    this.#db.exec('delete from hit')
    this.#text = undefined
    this.#seenSeq = 0
  }
}

/** Texts are in lower case: that LIKE ignores the case of ASCII makes no difference. */
function contains(text: string): [string, SqlValue] {
  if (text.length > MAX_PATTERN) return ['instr(text, ?) > 0', text]
  return [String.raw`text like ? escape '\'`, `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`]
}
