/** Loads a list that grows on demand and stays up to date. Loads it as one page, which makes all rows consistent. */
import { useEffect, useState } from 'preact/hooks'
import type { Parameters } from '../api.js'
import type { Page } from '../../store/stored-record.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'

const FIRST = 50
const STEP = 150
/** Maximum number of items per request, and thus of a view. */
const MAX = 1_000

export interface List<T> {
  /** Undefined until first loaded. */
  readonly items: readonly T[] | undefined
  readonly error: Error | undefined
  /** Shows more items; null if there are no more. */
  readonly more: (() => void) | null
  /** Whether there are more items than the view can show. */
  readonly isCut: boolean
}

export function useList<T>(path: string, parameters: Parameters, version: unknown, first = FIRST): List<T> {
  const [limit, setLimit] = useState(first)
  const { last, since } = useView()
  // A moving start of a sliding window must not reset the length of the list.
  const key = JSON.stringify({ ...parameters, since: last ?? since })
  useEffect(() => setLimit(first), [path, key])
  const { data, error } = useQuery<Page<T>>(path, { ...parameters, limit }, version)
  const hasMore = data !== undefined && data.next !== null
  return {
    items: data?.items,
    error,
    more: hasMore && limit < MAX ? () => setLimit(Math.min(MAX, limit + STEP)) : null,
    isCut: hasMore && limit >= MAX,
  }
}
