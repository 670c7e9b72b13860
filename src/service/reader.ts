/** Typed reading of what is stored, the same in-process and over HTTP. */
import type { EntryFilter, EntryQuery } from './queries.js'
import type { LevelCounts, Page, PageQuery, RecordKind, Records, Store } from './store/store.js'
import type { StoredEntry, StoredFeedback } from './store/store.js'

/** One entry with the feedback that names its `metadata.event_id` or its id, oldest first. */
export interface EntryWithFeedback extends StoredEntry {
  readonly feedback: readonly StoredFeedback[]
}

export class Reader {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  entries(query: EntryQuery): Page<StoredEntry> {
    return this.#store.entries(query)
  }

  counts(filter: EntryFilter): LevelCounts {
    return this.#store.counts(filter)
  }

  list<K extends RecordKind>(kind: K, page: PageQuery): Page<Records[K]> {
    return this.#store.list(kind, page)
  }

  entry(id: string): EntryWithFeedback | undefined {
    const found = this.#store.entry(id)
    if (found === undefined) return undefined
    const ids = [found.id, found.entry.metadata?.['event_id']]
    const all = this.#store.list('feedback', { limit: Infinity }).items
    return { ...found, feedback: all.filter(({ feedback }) => ids.includes(feedback.event_id)).toReversed() }
  }
}
