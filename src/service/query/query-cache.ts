/** Caches query results for a second, or until records are stored or deleted, because the page repeats its queries. */
const MAX_RESULTS = 32

export class QueryCache {
  readonly #readRevision: () => string
  readonly #results = new Map<string, unknown>()
  #revision = ''

  constructor(readRevision: () => string) {
    this.#readRevision = readRevision
  }

  /** Returns the cached result, or computes it. Errors are not cached. @param query must be JSON */
  get<T>(name: string, query: unknown, compute: () => T): T {
    const revision = this.#readRevision()
    if (revision !== this.#revision) this.#results.clear()
    this.#revision = revision
    const key = `${name} ${JSON.stringify(query)}`
    if (this.#results.has(key)) return this.#results.get(key) as T
    const result = compute()
    if (this.#results.size >= MAX_RESULTS) this.#results.delete(this.#results.keys().next().value as string)
    this.#results.set(key, result)
    return result
  }
}
