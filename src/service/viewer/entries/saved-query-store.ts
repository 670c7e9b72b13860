/** Named queries, stored in the browser for this origin (pure). */
import { Observable } from '../observable.js'
import { pickFilter } from '../view.js'
import type { Filter } from '../view.js'
import { parseSavedQueries } from './saved-query.js'
import type { SavedQuery } from './saved-query.js'

const STORAGE_KEY = 'pino-ingest.queries'
const MAX_SAVED = 100

/** Subset of `localStorage`. */
interface TextStorage {
  getItem(key: string): string | null
  setItem(key: string, text: string): void
}

export class SavedQueryStore {
  readonly queries = new Observable<readonly SavedQuery[]>([])
  readonly #storage: () => TextStorage
  /** False if storage failed: the queries are then only in this tab. */
  #isStored = true

  /** @param storage returns the storage; throws if the browser forbids it */
  constructor(storage: () => TextStorage) {
    this.#storage = storage
    this.read()
  }

  /** Reads the queries again, because another tab may have changed them. */
  read(): void {
    try {
      if (this.#isStored) this.queries.set(parseSavedQueries(this.#storage().getItem(STORAGE_KEY)))
    } catch {
      this.#isStored = false
    }
  }

  /** Saves a query; replaces one with the same name. @returns false if storage failed: the query is then lost when the tab closes */
  save(name: string, filter: Filter): boolean {
    return this.#write((queries) => {
      const notify = queries.find((one) => one.name === name)?.notify ?? false
      return [{ name, notify, ...pickFilter(filter) }, ...queries.filter((one) => one.name !== name)]
    })
  }

  setNotify(name: string, notify: boolean): void {
    this.#write((queries) => queries.map((one) => (one.name === name ? { ...one, notify } : one)))
  }

  delete(name: string): void {
    this.#write((queries) => queries.filter((one) => one.name !== name))
  }

  #write(change: (queries: readonly SavedQuery[]) => readonly SavedQuery[]): boolean {
    this.read()
    this.queries.set(change(this.queries.value).slice(0, MAX_SAVED))
    try {
      this.#storage().setItem(STORAGE_KEY, JSON.stringify(this.queries.value))
      this.#isStored = true
    } catch {
      this.#isStored = false
    }
    return this.#isStored
  }
}
