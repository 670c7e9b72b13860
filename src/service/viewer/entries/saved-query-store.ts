/** Queries that the user has named, stored in the browser for this origin (pure). */
import { Observable } from '../observable.js'
import { pickFilter } from '../view.js'
import type { Filter } from '../view.js'
import { parseSavedQueries } from './saved-query.js'
import type { SavedQuery } from './saved-query.js'

const STORAGE_KEY = 'pino-ingest.queries'
const MAX_SAVED = 100

/** As the browser's `localStorage`. */
interface TextStorage {
  getItem(key: string): string | null
  setItem(key: string, text: string): void
}

export class SavedQueryStore {
  readonly queries = new Observable<readonly SavedQuery[]>([])
  readonly #storage: () => TextStorage
  /** Otherwise the queries are in this tab only. */
  #isStored = true

  /** @param storage throws if the browser forbids it */
  constructor(storage: () => TextStorage) {
    this.#storage = storage
    this.read()
  }

  /** Another tab may have changed them. */
  read(): void {
    try {
      if (this.#isStored) this.queries.set(parseSavedQueries(this.#storage().getItem(STORAGE_KEY)))
    } catch {
      this.#isStored = false
    }
  }

  /** A query of the same name is replaced. @returns false if the browser does not store it: it lasts as long as the tab then */
  save(name: string, filter: Filter): boolean {
    return this.#write(name, [{ name, ...pickFilter(filter) }])
  }

  delete(name: string): boolean {
    return this.#write(name, [])
  }

  #write(name: string, added: readonly SavedQuery[]): boolean {
    this.read()
    const others = this.queries.value.filter((one) => one.name !== name)
    this.queries.set([...added, ...others].slice(0, MAX_SAVED))
    try {
      this.#storage().setItem(STORAGE_KEY, JSON.stringify(this.queries.value))
      this.#isStored = true
    } catch {
      this.#isStored = false
    }
    return this.#isStored
  }
}
