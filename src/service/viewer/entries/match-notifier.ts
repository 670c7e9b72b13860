/** Finds new entries that match saved queries (pure). */
import type { Arrivals, EntrySummary } from '../../query/api-types.js'
import { createFilterKey, listFilterParameters } from '../view.js'
import type { SavedQuery } from './saved-query.js'

/** Minimum interval between two reports of one query; the later one has the sum. */
export const QUIET_MS = 10_000

/** New entries of one query. */
export interface Match {
  readonly query: SavedQuery
  readonly count: number
  /** The last one that arrived. */
  readonly newest: EntrySummary
}

export interface MatchNotifierDependencies {
  readArrivals(parameters: Readonly<Record<string, string | number>>): Promise<Arrivals>
  report(match: Match): void
  now(): number
}

export class MatchNotifier {
  readonly #deps: MatchNotifierDependencies
  /** By name and filter: the last `seq` that is reported, the run of the service, and when the query may be reported again. */
  #progress = new Map<string, { readonly after: number; readonly run: string; readonly nextMs: number }>()
  #isChecking = false

  constructor(deps: MatchNotifierDependencies) {
    this.#deps = deps
  }

  /** Reports what has arrived since the previous check with this query. The first check reports nothing. */
  async check(queries: readonly SavedQuery[]): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    const keys = new Map(queries.map((query) => [`${query.name} ${createFilterKey(query)}`, query]))
    this.#progress = new Map([...this.#progress].filter(([key]) => keys.has(key)))
    for (const [key, query] of keys) {
      await this.#checkOne(key, query).catch(() => {
        // The service is unreachable, or refuses the query, as the list shows. The next check begins at the same `seq`.
      })
    }
    this.#isChecking = false
  }

  async #checkOne(key: string, query: SavedQuery): Promise<void> {
    const { readArrivals, report, now } = this.#deps
    const { nextMs = 0, ...known } = this.#progress.get(key) ?? {}
    if (now() < nextMs) return
    const filter = listFilterParameters(query, now())
    const { items, skipped, last_seq: after, run } = await readArrivals({ ...filter, ...known, limit: 1 })
    const [newest] = items
    this.#progress.set(key, { after, run, nextMs: newest === undefined ? 0 : now() + QUIET_MS })
    if (newest !== undefined) report({ query, count: items.length + skipped, newest })
  }
}
