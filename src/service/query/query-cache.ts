/** Caches query results until records are stored or deleted, because the page repeats its queries. */
const MAX_RESULTS = 32
/** A relative time such as `-10m`, or another text that looks like one. */
const MAY_BE_RELATIVE = /\d(?:ms|s|m|min|h)\b/

export class QueryCache {
  readonly #readRevision: () => number
  readonly #results = new Map<string, unknown>()
  #revision = -1

  constructor(readRevision: () => number) {
    this.#readRevision = readRevision
  }

  /** Returns the cached result, or computes it. Errors are not cached. @param query must be JSON */
  get<T>(name: string, query: unknown, compute: () => T): T {
    const revision = this.#readRevision()
    if (revision !== this.#revision) this.#results.clear()
    this.#revision = revision
    const text = JSON.stringify(query)
    // A relative time is another one a second later.
    const second = MAY_BE_RELATIVE.test(text) ? Math.floor(Date.now() / 1000) : ''
    const key = `${name} ${text} ${second}`
    if (this.#results.has(key)) return this.#results.get(key) as T
    const result = compute()
    if (this.#results.size >= MAX_RESULTS) this.#results.delete(this.#results.keys().next().value as string)
    this.#results.set(key, result)
    return result
  }
}
