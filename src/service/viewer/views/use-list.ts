/** A list of the API that grows on demand and is updated. It is loaded as one page, so that all rows are of one moment. */
import { useEffect, useState } from 'preact/hooks'
import type { Parameters } from '../api.js'
import type { Page } from '../../store/stored-record.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'

const FIRST = 50
const STEP = 150
/** The most items of one request; the view shows no more. */
const MAX = 1_000

export interface List<T> {
  /** Undefined until they have come for the first time. */
  readonly items: readonly T[] | undefined
  readonly error: Error | undefined
  /** Null where there are no more. */
  readonly more: (() => void) | null
  /** Whether there are more than can be shown. */
  readonly isCut: boolean
}

export function useList<T>(path: string, parameters: Parameters, version: unknown, first = FIRST): List<T> {
  const [limit, setLimit] = useState(first)
  const { last, since } = useView()
  // The start of a sliding window moves all the time: the list stays as long as it is.
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
