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
    const isSatisfied = (): boolean => this.#arrived >= count
    if (!isSatisfied()) await this.#wait(isSatisfied, () => `${this.#arrived} of ${count} entries arrived`, options)
  }

  /** Resolves when a matching entry arrives. */
  waitForMatch(isWanted: EntryPredicate, options: WaitOptions): Promise<void> {
    const describe = (): string => `none of ${this.#arrived} entries matched`
    return this.#wait((entries) => entries.some(isWanted), describe, options)
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
