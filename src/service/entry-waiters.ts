/** Those who wait for entries to arrive. */
import { IngestServiceError } from './ingest-service-error.js'
import type { StoredEntry } from './store/store.js'

export interface WaitOptions {
  /** Default 5000. */
  readonly timeoutMs?: number
}

export type EntryPredicate = (entry: StoredEntry) => boolean

interface Waiter {
  /** True once satisfied. */
  look(fresh: readonly StoredEntry[]): boolean
  fail(error: IngestServiceError): void
}

const DEFAULT_TIMEOUT_MS = 5000

export class EntryWaiters {
  readonly #waiters = new Set<Waiter>()
  #arrived: number

  constructor(arrived: number) {
    this.#arrived = arrived
  }

  /** Entries kept at the start and accepted since, or since the reset. */
  get arrived(): number {
    return this.#arrived
  }

  entriesStored(fresh: readonly StoredEntry[]): void {
    this.#arrived += fresh.length
    for (const waiter of this.#waiters) if (waiter.look(fresh)) this.#waiters.delete(waiter)
  }

  reset(): void {
    this.#arrived = 0
  }

  close(): void {
    const error = new IngestServiceError('CLOSED', 'the service was closed while entries were waited for')
    for (const waiter of this.#waiters) waiter.fail(error)
    this.#waiters.clear()
  }

  /** Resolves when `count` entries have arrived. */
  waitForCount(count: number, options: WaitOptions): Promise<void> {
    if (this.#arrived >= count) return Promise.resolve()
    const describe = (): string => `${this.#arrived} of ${count} entries arrived`
    return this.#wait(() => this.#arrived >= count, describe, options)
  }

  /** Resolves when one of the entries that come from now on satisfies `wanted`. */
  waitForMatch(wanted: EntryPredicate, options: WaitOptions): Promise<void> {
    const describe = (): string => `none of the ${this.#arrived} entries that arrived was the one waited for`
    return this.#wait((fresh) => fresh.some(wanted), describe, options)
  }

  #wait(look: Waiter['look'], describe: () => string, { timeoutMs = DEFAULT_TIMEOUT_MS }: WaitOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter)
        reject(new IngestServiceError('TIMEOUT', `${describe()} within ${timeoutMs} ms`))
      }, timeoutMs)
      const waiter: Waiter = {
        look: (fresh) => {
          if (!look(fresh)) return false
          clearTimeout(timer)
          resolve()
          return true
        },
        fail: (error) => {
          clearTimeout(timer)
          reject(error)
        },
      }
      this.#waiters.add(waiter)
    })
  }
}
