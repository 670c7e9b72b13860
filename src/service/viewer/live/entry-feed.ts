/** Keeps the rows of the list up to date: first page, stream, sliding window, and more pages on scrolling. */
import type { EntryContext, EntryPage, EntrySummary, StreamEntries } from '../../query/api-types.js'
import { ApiError } from '../api-error.js'
import { createFilterKey, listFilterParameters, formatColumns, NO_FILTER, findWindowStart } from '../view.js'
import type { Filter } from '../view.js'
import type { LiveSource } from './live-stream.js'
import { PAGE_ROWS, TailBuffer } from './tail-buffer.js'
import type { Wanted } from './tail-buffer.js'

const FIRST_ROWS = 200
/** Minimum interval of reloads, when entries arrive faster than the page can follow. */
const RELOAD_INTERVAL_MS = 1000
/** Delay before retrying a failed page. */
const RETRY_MS = 2000
/** Interval in which an empty result is loaded again while the query is typed. */
const TYPING_RETRY_MS = 300
/** Interval for removing rows that have left a sliding window. */
const SLIDE_INTERVAL_MS = 1000

/** Selects the entries that the list shows. */
export interface FeedSource {
  readonly filter: Filter
  /** Additional fields of each entry. */
  readonly columns: readonly string[]
  /** Id of an entry. If set, the list shows all entries around it, and does not follow the stream. */
  readonly around: string | null
}

type Parameters = Readonly<Record<string, string | number>>

export interface EntryFeedDependencies {
  page(parameters: Parameters, signal: AbortSignal): Promise<EntryPage<EntrySummary>>
  context(id: string, parameters: Parameters, signal: AbortSignal): Promise<EntryContext>
  follow(source: LiveSource): void
  /** Requests a render of the list. */
  changed(): void
  /** Calls `call` once after the delay. @returns function that cancels the call */
  later(ms: number, call: () => void): () => void
  now(): number
  /** Whether an empty result may be that of a query that is still typed; the previous rows then stay. */
  isTyping(): boolean
}

export class EntryFeed {
  readonly tail = new TailBuffer()
  readonly #deps: EntryFeedDependencies
  #source: FeedSource = { filter: NO_FILTER, columns: [], around: null }
  #controller = new AbortController()
  #isPaging = false
  #isLoaded = false
  #error: Error | undefined
  #newer: string | null = null
  #addedOnTop = 0
  #endReload: (() => void) | undefined
  #endRetry: (() => void) | undefined
  #endCalm: (() => void) | undefined
  #endSlide: (() => void) | undefined
  #isResetAgain = false

  constructor(deps: EntryFeedDependencies) {
    this.#deps = deps
  }

  /** False until the first page of this source is loaded. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  get error(): Error | undefined {
    return this.#error
  }

  /** For a list around an entry: whether newer entries can be added on top. */
  get hasNewer(): boolean {
    return this.#newer !== null && this.tail.firstLoaded === 0
  }

  /** Returns the number of rows added on top since the last call. */
  takeAddedOnTop(): number {
    const added = this.#addedOnTop
    this.#addedOnTop = 0
    return added
  }

  /** Shows another source. The previous rows stay until its rows are loaded; if only the columns differ, they stay. */
  show(source: FeedSource): void {
    const { filter, around, columns } = this.#source
    const isSame = around === source.around && createFilterKey(filter) === createFilterKey(source.filter)
    this.#source = source
    if (isSame && this.#isLoaded && (this.tail.isFrozen || this.tail.merge())) return this.#showColumns(columns)
    this.#isLoaded = false
    this.#error = undefined
    void this.#load(false)
    this.#deps.changed()
  }

  /** Resumes the stream after the last entry, without loading the list again. */
  resume(): void {
    if (!this.#isLoaded) void this.#load(false)
    else this.#follow(this.tail.lastSeq)
  }

  /** Loads the rows again, unless they are frozen. */
  refresh(): void {
    if (this.#isLoaded && !this.tail.isFrozen && this.#source.around === null) void this.#load(true)
  }

  freeze(): void {
    this.tail.freeze()
  }

  release(): void {
    if (this.#isLoaded) this.tail.slide(this.#startMs())
    if (!this.tail.release() && this.#isLoaded) void this.#load(true)
    this.#deps.changed()
  }

  /** Loads the missing pages for these rows. */
  need(first: number, last: number): void {
    const wanted = this.tail.wanted(first, last)
    if (wanted !== undefined && this.#isLoaded) this.#requestPage(wanted)
  }

  /** For a list around an entry: loads newer rows on top. */
  needNewer(): void {
    if (this.#newer !== null) this.#requestPage({ kind: 'newer', cursor: this.#newer, limit: FIRST_ROWS }, true)
  }

  close(): void {
    this.#controller.abort()
    this.#endReload?.()
    this.#endRetry?.()
    this.#endCalm?.()
    this.#endSlide?.()
  }

  #requestPage(wanted: Wanted, isOnTop = false): void {
    if (this.#isPaging) return
    this.#isPaging = true
    const { signal } = this.#controller
    const cursor = wanted.kind === 'older' ? { cursor: wanted.cursor } : { newer: wanted.cursor }
    this.#deps.page({ ...this.#parameters(), ...cursor, limit: wanted.limit }, signal).then(
      ({ items, next }) => {
        if (signal.aborted) return
        this.#isPaging = false
        this.#error = undefined
        if (wanted.kind === 'older') this.tail.addOlder(wanted.cursor, items, next !== null)
        else if (!isOnTop) this.tail.addNewer(wanted, items)
        else {
          this.tail.addOnTop(items)
          this.#addedOnTop += items.length
          this.#newer = next
        }
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

  #showColumns(previous: readonly string[]): void {
    const signal = this.#begin()
    if (this.#source.around === null) this.#follow(this.tail.lastSeq)
    this.#deps.changed()
    if (this.#source.columns.every((name) => previous.includes(name))) return
    this.#loadColumns(signal).catch((error: unknown) => {
      if (signal.aborted) return
      this.#fail(error)
      this.#endRetry = this.#deps.later(RETRY_MS, () => this.#showColumns([]))
    })
  }

  /** Loads the rows again with the current columns. */
  async #loadColumns(signal: AbortSignal): Promise<void> {
    const { filter, around } = this.#source
    // No window, because frozen rows can be older than the sliding window.
    const all = listFilterParameters(around === null ? { ...filter, last: null } : NO_FILTER, 0)
    for (let cursor = this.tail.cursorAbove(); cursor !== null;) {
      const parameters = { ...all, ...this.#columns(), cursor, limit: PAGE_ROWS }
      const page = await this.#deps.page(parameters, signal)
      if (signal.aborted) return
      cursor = this.tail.replace(page.items) ? page.next : null
      this.#error = undefined
      this.#deps.changed()
    }
  }

  /** Aborts pending requests. */
  #begin(): AbortSignal {
    this.#controller.abort()
    this.#controller = new AbortController()
    this.#endRetry?.()
    this.#isPaging = false
    return this.#controller.signal
  }

  /** Loads the first page. @param isSame whether the source is unchanged and the stream continues */
  async #load(isSame: boolean): Promise<void> {
    const signal = this.#begin()
    this.tail.expectPage()
    const { around } = this.#source
    try {
      if (around === null) await this.#loadNewest(isSame, signal)
      else await this.#loadAround(around, signal)
    } catch (error) {
      if (signal.aborted) return
      this.#fail(error)
      if (!isSame) this.#followAnyway(error)
    }
    if (!signal.aborted) this.#deps.changed()
  }

  async #loadNewest(isSame: boolean, signal: AbortSignal): Promise<void> {
    const page = await this.#deps.page({ ...this.#parameters(), limit: FIRST_ROWS }, signal)
    if (signal.aborted) return
    if (page.items.length === 0 && !isSame && this.tail.length > 0 && this.#deps.isTyping()) {
      this.#endRetry = this.#deps.later(TYPING_RETRY_MS, () => void this.#load(false))
      return
    }
    this.#newer = null
    this.tail.slide(this.#startMs())
    this.tail.reset({ items: page.items, hasOlder: page.next !== null, lastSeq: page.last_seq }, isSame)
    this.#finish()
    if (this.tail.isTorn && !this.tail.isFrozen) this.#reloadSoon()
    if (!isSame) this.#follow(page.last_seq)
  }

  async #loadAround(id: string, signal: AbortSignal): Promise<void> {
    const columns = this.#columns()
    const { items, newer, older } = await this.#deps.context(id, { ...columns, limit: FIRST_ROWS }, signal)
    if (signal.aborted) return
    this.#newer = newer
    this.tail.slide(null)
    this.tail.reset({ items, hasOlder: older !== null, lastSeq: 0 }, false)
    this.#finish()
    this.#deps.follow({ parameters: {} })
  }

  #finish(): void {
    this.#error = undefined
    this.#isLoaded = true
    this.#endSlide?.()
    this.#endSlide = undefined
    if (this.#startMs() !== null) this.#slideLater()
  }

  #slideLater(): void {
    this.#endSlide = this.#deps.later(SLIDE_INTERVAL_MS, () => {
      if (!this.tail.isFrozen) {
        if (this.tail.slide(this.#startMs())) this.#deps.changed()
        if (this.tail.isTorn) this.#reloadSoon()
      }
      this.#slideLater()
    })
  }

  #follow(after: number): void {
    const source = this.#source
    this.#deps.follow({
      parameters: this.#parameters(),
      after,
      onEntries: (entries) => {
        if (source === this.#source) this.#take(entries)
      },
      onReset: () => this.#startOver(),
    })
  }

  /** Loads the list after a reset, at most once per `RELOAD_INTERVAL_MS`. */
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

  /** After a failure, loads the list once the service is reachable. If the service refuses the filter, follows the stream without it. */
  #followAnyway(error: unknown): void {
    if (error instanceof ApiError && error.status < 500) this.#deps.follow({ parameters: {} })
    else this.#deps.follow({ parameters: this.#parameters(), onOpen: () => void this.#load(false) })
  }

  #take({ items, skipped }: StreamEntries): void {
    // Until the first page is loaded, the rows of the previous filter are shown.
    if (!this.#isLoaded) return
    this.tail.push(items, skipped)
    if (this.tail.isTorn && !this.tail.isFrozen) this.#reloadSoon()
    this.#deps.changed()
  }

  #reloadSoon(): void {
    this.#endReload ??= this.#deps.later(RELOAD_INTERVAL_MS, () => {
      this.#endReload = undefined
      if (this.tail.isTorn && !this.tail.isFrozen) void this.#load(true)
    })
  }

  #startMs(): number | null {
    return this.#source.around === null ? findWindowStart(this.#source.filter, this.#deps.now()) : null
  }

  /** Parameters of the API. A list around an entry has no filter. */
  #parameters(): Record<string, string> {
    const { filter, around } = this.#source
    return { ...listFilterParameters(around === null ? filter : NO_FILTER, this.#deps.now()), ...this.#columns() }
  }

  #columns(): { readonly columns?: string } {
    const { columns } = this.#source
    return columns.length === 0 ? {} : { columns: formatColumns(columns) }
  }

  #fail(error: unknown): void {
    this.#error = error instanceof Error ? error : new Error(String(error))
    this.#deps.changed()
  }
}
