/** A list in the browser's storage (pure). */
import { Observable } from './observable.js'

interface TextStorage {
  getItem(key: string): string | null
  setItem(key: string, text: string): void
}

/** A list that the tabs of a browser share. If the browser does not store it, the list is only in this tab. */
export class StoredList<T> extends Observable<readonly T[]> {
  readonly #key: string
  readonly #parse: (stored: unknown) => T | undefined
  readonly #storage: () => TextStorage
  #isStored = true

  /** @param storage returns the storage; throws if the browser forbids it */
  constructor(key: string, parse: (stored: unknown) => T | undefined, storage: () => TextStorage) {
    super([])
    this.#key = key
    this.#parse = parse
    this.#storage = storage
    this.read()
  }

  /** Reads the list again, because another tab may have changed it. */
  read(): void {
    if (!this.#isStored) return
    try {
      const stored: unknown = JSON.parse(this.#storage().getItem(this.#key) ?? '[]')
      this.set(Array.isArray(stored) ? stored.flatMap((item) => this.#parse(item) ?? []) : [])
    } catch {
      this.set([])
    }
  }

  /** @returns whether the browser stores the list */
  change(change: (items: readonly T[]) => readonly T[]): boolean {
    this.read()
    this.set(change(this.value))
    try {
      this.#storage().setItem(this.#key, JSON.stringify(this.value))
      this.#isStored = true
    } catch {
      this.#isStored = false
    }
    return this.#isStored
  }
}
