/** Keeps the rows of the list up to date: first page, stream, and further pages on scrolling. */
import type { EntrySummary, StreamEntries } from '../../query/api-types.js'
import type { Page } from '../../store/stored-record.js'
import { ApiError } from '../api-error.js'
import type { Filters } from '../view.js'
import type { LiveSource } from './live-stream.js'
import { TailBuffer } from './tail-buffer.js'

const FIRST_ROWS = 200
/** If more entries arrive than the page can follow, the list is loaded again at most this often. */
const RELOAD_INTERVAL_MS = 1000
/** Delay before a failed page is requested again. */
const RETRY_MS = 2000

export interface EntryFeedDependencies {
  page(filters: Filters, cursor: string | undefined, limit: number, signal: AbortSignal): Promise<Page<EntrySummary>>
  follow(source: LiveSource): void
  /** The list must be rendered. */
  changed(): void
  /** Calls once after the delay. @returns function that cancels it */
  later(ms: number, call: () => void): () => void
}

export class EntryFeed {
  readonly tail = new TailBuffer()
  readonly #deps: EntryFeedDependencies
  #filters: Filters = {}
  #controller = new AbortController()
  #isPaging = false
  #isLoaded = false
  #error: Error | undefined
  #endReload: (() => void) | undefined
  #endRetry: (() => void) | undefined
  #endCalm: (() => void) | undefined
  #isResetAgain = false

  constructor(deps: EntryFeedDependencies) {
    this.#deps = deps
  }

  /** False until the first page of these filters is loaded. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  get error(): Error | undefined {
    return this.#error
  }

  /** The previous rows stay until those of these filters are loaded. */
  show(filters: Filters): void {
    this.#filters = filters
    this.#isLoaded = false
    void this.#load(false)
  }

  hold(): void {
    this.tail.hold()
  }

  release(): void {
    if (!this.tail.release()) void this.#load(true)
    this.#deps.changed()
  }

  /** Loads the missing pages for these rows. */
  need(first: number, last: number): void {
    const wanted = this.tail.wanted(first, last)
    if (wanted === undefined || this.#isPaging || !this.#isLoaded) return
    this.#isPaging = true
    const { signal } = this.#controller
    this.#deps.page(this.#filters, wanted.cursor, wanted.limit, signal).then(
      ({ items, next }) => {
        if (signal.aborted) return
        this.#isPaging = false
        this.#error = undefined
        if (wanted.kind === 'older') this.tail.addOlder(items, next !== null)
        else this.tail.addNewer(items)
        this.#deps.changed()
      },
      (error: unknown) => {
        if (signal.aborted) return
        this.#fail(error)
        this.#endRetry = this.#deps.later(RETRY_MS, () => {
          this.#isPaging = false
          this.#deps.changed()
        })
      },
    )
  }

  close(): void {
    this.#controller.abort()
    this.#endReload?.()
    this.#endRetry?.()
    this.#endCalm?.()
  }

  /** The first page. `isSame`: it is loaded again while the stream continues. */
  async #load(isSame: boolean): Promise<void> {
    this.#controller.abort()
    this.#controller = new AbortController()
    this.#endRetry?.()
    this.#isPaging = false
    this.tail.expectPage()
    const { signal } = this.#controller
    try {
      const { items, next } = await this.#deps.page(this.#filters, undefined, FIRST_ROWS, signal)
      if (signal.aborted) return
      this.tail.reset(items, next !== null, isSame)
      this.#error = undefined
      this.#isLoaded = true
      if (this.tail.isTorn && !this.tail.isHeld) this.#reloadSoon()
      if (!isSame) this.#follow(items[0]?.seq ?? 0)
    } catch (error) {
      if (signal.aborted) return
      this.#fail(error)
      if (!isSame) this.#followAnyway(error)
    }
    this.#deps.changed()
  }

  #follow(after: number): void {
    const filters = this.#filters
    this.#deps.follow({
      parameters: filters,
      after,
      onEntries: (entries) => {
        if (filters === this.#filters) this.#take(entries)
      },
      onReset: () => this.#startOver(),
    })
  }

  /** Limits page requests during frequent resets. */
  #startOver(): void {
    this.tail.clear()
    this.#isResetAgain = this.#endCalm !== undefined
    if (this.#isResetAgain) return
    void this.#load(false)
    this.#endCalm = this.#deps.later(RELOAD_INTERVAL_MS, () => {
      this.#endCalm = undefined
      if (this.#isResetAgain) this.#startOver()
    })
  }

  /** Loads the list once the service can be reached. Filters that it refuses do not end the stream. */
  #followAnyway(error: unknown): void {
    if (error instanceof ApiError && error.status < 500) this.#deps.follow({ parameters: {} })
    else this.#deps.follow({ parameters: this.#filters, onOpen: () => void this.#load(false) })
  }

  #take({ items, skipped }: StreamEntries): void {
    // Rows of the previous filters may still be shown.
    if (!this.#isLoaded) return
    this.tail.push(items, skipped)
    if (this.tail.isTorn && !this.tail.isHeld) this.#reloadSoon()
    this.#deps.changed()
  }

  #reloadSoon(): void {
    this.#endReload ??= this.#deps.later(RELOAD_INTERVAL_MS, () => {
      this.#endReload = undefined
      if (this.tail.isTorn && !this.tail.isHeld) void this.#load(true)
    })
  }

  #fail(error: unknown): void {
    this.#error = error instanceof Error ? error : new Error(String(error))
    this.#deps.changed()
  }
}
