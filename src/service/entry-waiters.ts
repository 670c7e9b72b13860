/** Implements `waitForEntries()`: callers that wait for entries to arrive. */
import { readTimeoutMs } from '../shared/argument-checks.js'
import { IngestServiceError } from './ingest-service-error.js'
import type { StoredEntry } from './store/stored-record.js'

/** Options of `waitForEntries()`. */
export interface WaitOptions {
  /** Time limit in milliseconds. Default 5000. */
  readonly timeoutMs?: number
}

/** Whether an entry is one that the caller waits for. */
export type EntryPredicate = (entry: StoredEntry) => boolean

interface Waiter {
  readonly isSatisfied: (entries: readonly StoredEntry[]) => boolean
  readonly settle: (error?: IngestServiceError) => void
}

export class EntryWaiters {
  readonly #waiters = new Set<Waiter>()
  #arrived: number

  constructor(arrived: number) {
    this.#arrived = arrived
  }

  /** Number of entries stored at startup plus those accepted since; after a reset, those accepted since the reset. */
  get arrived(): number {
    return this.#arrived
  }

  entriesStored(entries: readonly StoredEntry[]): void {
    this.#arrived += entries.length
    for (const waiter of this.#waiters) if (waiter.isSatisfied(entries)) waiter.settle()
  }

  reset(): void {
    this.#arrived = 0
  }

  close(): void {
    const error = new IngestServiceError('CLOSED', 'the service was closed during waitForEntries()')
    for (const waiter of this.#waiters) waiter.settle(error)
  }

  /** Resolves when `count` entries have arrived. */
  async waitForCount(count: number, options: WaitOptions): Promise<void> {
    if (this.#arrived >= count) return
    await this.#wait(
      () => this.#arrived >= count,
      () => `${this.#arrived} of ${count} entries arrived`,
      options,
    )
  }

  /** Resolves when a matching entry arrives. */
  waitForMatch(isWanted: EntryPredicate, options: WaitOptions): Promise<void> {
    return this.#wait(
      (entries) => entries.some(isWanted),
      () => `none of ${this.#arrived} entries matched`,
      options,
    )
  }

  #wait(
    isSatisfied: Waiter['isSatisfied'],
    describe: () => string,
    { timeoutMs: given = 5000 }: WaitOptions,
  ): Promise<void> {
    const timeoutMs = readTimeoutMs('timeoutMs of waitForEntries()', given)
    return new Promise((resolve, reject) => {
      const settle = (error?: IngestServiceError): void => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
        if (error === undefined) resolve()
        else reject(error)
      }
      const waiter: Waiter = { isSatisfied, settle }
      const timer = setTimeout(() => {
        settle(new IngestServiceError('TIMEOUT', `${describe()} within ${timeoutMs} ms`))
      }, timeoutMs)
      this.#waiters.add(waiter)
    })
  }
}
