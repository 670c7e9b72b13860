/** From a filter to the rows of entries that match it. */
import { parseEntryFilter } from '../query/query-filters.js'
import type { EntryFilter } from '../query/query-filters.js'
import { entryRows } from './sqlite-conditions.js'
import type { Condition, EntryRows, Scope } from './sqlite-conditions.js'
import type { Database } from './sqlite-database.js'
import { SqliteSearch } from './sqlite-search.js'

export class EntryScan {
  readonly #search: SqliteSearch

  constructor(db: Database) {
    this.#search = new SqliteSearch(db)
  }

  /** To be read before the next is asked for: texts share what was found. @throws IngestServiceError `QUERY`. */
  rows(filter: EntryFilter, scope?: Scope, more?: readonly Condition[]): EntryRows {
    const checked = parseEntryFilter(filter)
    if (checked.text !== undefined) this.#search.find(checked.text)
    return entryRows(checked, scope, more)
  }
}
