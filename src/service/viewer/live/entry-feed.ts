/** Keeps the rows of the list up to date: first page, stream, and older pages on scrolling. */
import type { EntryContext, EntryPage, EntrySummary, StreamEntries } from '../../query/api-types.js'
import { ApiError } from '../api-error.js'
import { listFilterParameters, formatColumns, NO_FILTER, findWindowStart } from '../view.js'
import type { Filter } from '../view.js'
import type { LiveSource } from './live-stream.js'
import { TailBuffer } from './tail-buffer.js'

const FIRST_ROWS = 200
const PAGE_ROWS = 500
/** Minimum interval of reloads, when entries arrive faster than the page can follow. */
const RELOAD_INTERVAL_MS = 1000
const RETRY_MS = 2000

export interface FeedSource {
  readonly filter: Filter
  readonly muted: readonly string[]
  readonly columns: readonly string[]
  /** Id of an entry. If set, the list shows all entries around it, and does not follow the stream. */
  readonly around: string | null
}

type Parameters = Readonly<Record<string, string | number>>

export interface EntryFeedDependencies {
  page(parameters: Parameters, signal: AbortSignal): Promise<EntryPage<EntrySummary>>
  context(id: string, parameters: Parameters, signal: AbortSignal): Promise<EntryContext>
  follow(source: LiveSource): void
  changed(): void
  /** Calls `call` once after the delay. @returns function that cancels the call */
  later(ms: number, call: () => void): () => void
  now(): number
}

export class EntryFeed {
  readonly tail = new TailBuffer()
  /** False until the first page of this source is loaded. */
  isLoaded = false
  error: Error | undefined
  /** For a list around an entry: cursor of the newer entries, which can be added on top. */
  newer: string | null = null
  readonly #deps: EntryFeedDependencies
  #source: FeedSource = { filter: NO_FILTER, muted: [], columns: [], around: null }
  #controller = new AbortController()
  #isPaging = false
  #loadedMs = -Infinity
  #endReload: (() => void) | undefined
  #endRetry: (() => void) | undefined

  constructor(deps: EntryFeedDependencies) {
    this.#deps = deps
  }

  /** Shows another source, whose rows replace the previous ones once they are loaded. The same source continues after its last entry. */
  show(source: FeedSource): void {
    const isSame = JSON.stringify(source) === JSON.stringify(this.#source)
    this.#source = source
    if (isSame && this.isLoaded) return this.#follow(this.tail.lastSeq)
    this.isLoaded = false
    this.error = undefined
    void this.#load()
    this.#deps.changed()
  }

  /** Loads the rows again, unless they are frozen. */
  refresh(): void {
    if (this.isLoaded && !this.tail.isFrozen) void this.#load()
  }

  freeze(isFrozen: boolean): void {
    this.tail.isFrozen = isFrozen
    if (isFrozen) return
    if (!this.merge() && this.isLoaded) void this.#load()
    this.#deps.changed()
  }

  /** Adds the entries that have arrived to the rows, unless they are frozen. @returns false if the list must be loaded again */
  merge(): boolean {
    return this.tail.merge(this.#startMs())
  }

  /** Loads the next page if these rows are drawn and near the end. */
  need(endRow: number): void {
    const cursor = this.tail.findCursor(endRow)
    if (cursor === undefined) return
    this.#requestPage({ cursor, limit: PAGE_ROWS }, ({ items, next }) =>
      this.tail.addOlder(cursor, items, next !== null),
    )
  }

  /** For a list around an entry: loads newer rows on top. */
  needNewer(): void {
    if (this.newer === null) return
    this.#requestPage({ newer: this.newer, limit: FIRST_ROWS }, ({ items, next }) => {
      this.tail.insert(items)
      this.newer = next
    })
  }

  close(): void {
    this.#begin()
    this.#endReload?.()
    this.#endReload = undefined
    this.isLoaded = false
    this.tail.clear()
  }

  #requestPage(parameters: Parameters, add: (page: EntryPage<EntrySummary>) => void): void {
    if (this.#isPaging || !this.isLoaded) return
    this.#isPaging = true
    const { signal } = this.#controller
    this.#deps.page({ ...this.#parameters(), ...parameters }, signal).then(
      (page) => {
        if (signal.aborted) return
        this.#isPaging = false
        this.error = undefined
        add(page)
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

  #begin(): AbortSignal {
    this.#controller.abort()
    this.#controller = new AbortController()
    this.#endRetry?.()
    this.#isPaging = false
    return this.#controller.signal
  }

  async #load(): Promise<void> {
    const signal = this.#begin()
    this.#loadedMs = this.#deps.now()
    try {
      const page = await this.#readFirst(signal)
      if (signal.aborted) return
      this.newer = page.newer
      this.tail.reset({ items: page.items, hasOlder: page.older !== null, lastSeq: page.lastSeq })
      this.error = undefined
      this.isLoaded = true
      this.#deps.changed()
      this.#follow(page.lastSeq)
    } catch (error) {
      if (signal.aborted) return
      this.#fail(error)
      this.#followAnyway(error)
    }
  }

  async #readFirst(signal: AbortSignal): Promise<EntryContext & { readonly lastSeq: number }> {
    const { around } = this.#source
    const parameters = { ...this.#parameters(), limit: FIRST_ROWS }
    if (around !== null) return { ...(await this.#deps.context(around, parameters, signal)), lastSeq: 0 }
    const { items, next, last_seq: lastSeq } = await this.#deps.page(parameters, signal)
    return { items, newer: null, older: next, lastSeq }
  }

  #follow(after: number): void {
    const source = this.#source
    if (source.around !== null) return this.#deps.follow({ parameters: {} })
    this.#deps.follow({
      parameters: this.#parameters(),
      after,
      onEntries: (entries) => {
        // While another source is loaded, its stream is not open yet.
        if (source === this.#source) this.#take(entries)
      },
      onReset: () => {
        this.tail.clear()
        this.isLoaded = false
        this.#reloadSoon()
      },
    })
  }

  /** After a failure, loads the list once the service is reachable. If the service refuses the filter, follows the stream without it. */
  #followAnyway(error: unknown): void {
    if (error instanceof ApiError && error.status < 500) this.#deps.follow({ parameters: {} })
    else this.#deps.follow({ parameters: this.#parameters(), onOpen: () => void this.#load() })
  }

  #take({ items, skipped }: StreamEntries): void {
    this.tail.push(items, skipped)
    if (this.tail.isTorn) this.#reloadSoon()
    this.#deps.changed()
  }

  /** Loads the list after a reset or missed entries, at most once per `RELOAD_INTERVAL_MS`. */
  #reloadSoon(): void {
    const restMs = Math.max(0, this.#loadedMs + RELOAD_INTERVAL_MS - this.#deps.now())
    this.#endReload ??= this.#deps.later(restMs, () => {
      this.#endReload = undefined
      if (!this.isLoaded || (this.tail.isTorn && !this.tail.isFrozen)) void this.#load()
    })
  }

  #startMs(): number | null {
    return this.#source.around === null ? findWindowStart(this.#source.filter, this.#deps.now()) : null
  }

  /** Parameters of the API. A list around an entry has no filter. */
  #parameters(): Record<string, string> {
    const { filter, muted, around, columns } = this.#source
    const parameters = around === null ? listFilterParameters(filter, this.#deps.now(), muted) : {}
    return columns.length === 0 ? parameters : { ...parameters, columns: formatColumns(columns) }
  }

  #fail(error: unknown): void {
    this.error = error instanceof Error ? error : new Error(String(error))
    this.#deps.changed()
  }
}
