/** The feed of a list as state, rendered at most every 100 ms. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { EntrySummary } from '../../query/api-types.js'
import type { Page } from '../../store/stored-record.js'
import { get } from '../api.js'
import { live } from '../live/connection.js'
import { EntryFeed } from '../live/entry-feed.js'
import { filterKey } from '../view.js'
import type { Filters } from '../view.js'

const DRAW_INTERVAL_MS = 100

/** @returns the feed, and a number that increases when it must be rendered */
export function useFeed(filters: Filters): readonly [feed: EntryFeed, version: number] {
  const [version, setVersion] = useState(0)
  const [feed, end] = useMemo(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let drawnMs = -Infinity
    const draw = (): void => {
      timer = undefined
      drawnMs = performance.now()
      setVersion((old) => old + 1)
    }
    const made = new EntryFeed({
      page: (wanted, cursor, limit, signal) =>
        get<Page<EntrySummary>>('entries', { ...wanted, view: 'summary', limit, cursor }, signal),
      follow: (source) => live.follow(source),
      changed: () => {
        timer ??= setTimeout(draw, Math.max(0, drawnMs + DRAW_INTERVAL_MS - performance.now()))
      },
      later: (ms, call) => {
        const waiting = setTimeout(call, ms)
        return () => clearTimeout(waiting)
      },
    })
    return [
      made,
      () => {
        clearTimeout(timer)
        made.close()
      },
    ]
  }, [])
  useEffect(() => end, [])
  useEffect(() => feed.show(filters), [filterKey(filters)])
  return [feed, version]
}
