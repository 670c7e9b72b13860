/**
 * Caches the outcomes of recent searches per record. The page requests list, counts and histogram of the same query, and repeats them
 * when entries arrive.
 */

/** Identifies a record in the cache. */
export interface MemoKey {
  /** Unique in the process; an edited journal can have a `seq` twice. */
  readonly serial: number
}

/** 1 MiB per search. With more records than slots, some outcomes are computed again. */
const SLOTS = 2 ** 18
const MAX_SEARCHES = 16

export class MatchMemo {
  readonly #searches = new Map<string, Int32Array>()

  /** @param key identifies the search and the kind of record */
  memoize<R extends MemoKey>(key: string, test: (record: R) => boolean): (record: R) => boolean {
    const searches = this.#searches
    const outcomes = searches.get(key) ?? new Int32Array(SLOTS)
    searches.delete(key)
    searches.set(key, outcomes)
    if (searches.size > MAX_SEARCHES) searches.delete(searches.keys().next().value as string)
    return (record) => {
      const slot = record.serial & (SLOTS - 1)
      const missed = (record.serial << 1) | 0
      const known = outcomes[slot] as number
      if ((known | 1) === (missed | 1)) return known !== missed
      const matches = test(record)
      outcomes[slot] = matches ? missed | 1 : missed
      return matches
    }
  }

  clear(): void {
    this.#searches.clear()
  }
}
