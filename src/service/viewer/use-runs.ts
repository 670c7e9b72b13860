/** The runs of stored entries, loaded again when an entry of another run arrives. */
import type { EntrySummary, RunSummary } from '../query/api-types.js'
import { Observable } from './observable.js'
import { useObservable } from './use-observable.js'
import { useQuery } from './use-query.js'

const NONE: readonly RunSummary[] = []
const known = new Set<string>()
/** Number of runs among the entries that have arrived. */
export const runCount = new Observable(0)

export function noticeRuns(entries: readonly EntrySummary[]): void {
  for (const { run } of entries) if (run !== undefined) known.add(run)
  runCount.set(known.size)
}

export function useRuns(): readonly RunSummary[] {
  const version = useObservable(runCount)
  return useQuery<{ readonly items: readonly RunSummary[] }>('runs', {}, version).data?.items ?? NONE
}
