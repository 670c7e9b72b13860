/**
 * Outcomes of the last searches per record: the page asks for list, counts and histogram of one query, and again whenever entries
 * have arrived.
 */

/** A record as the memo names it. */
export interface MemoKey {
  /** Unique in the process: two services have records of the same `seq`. */
  readonly serial: number
}

/** 1 MiB per search. A store of more records computes some outcomes again. */
const SLOTS = 2 ** 18
const MAX_SEARCHES = 16

const searches = new Map<string, Int32Array>()

/** Frees their memory. Other services of the process compute their outcomes again. */
export function forgetSearches(): void {
  searches.clear()
}

/** @param key the same for the same search of the same kind of record */
export function memoize<R extends MemoKey>(key: string, test: (record: R) => boolean): (record: R) => boolean {
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
