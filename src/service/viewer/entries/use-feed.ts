/** Provides the feed of the list as state; renders at most every 100 ms. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { get } from '../api.js'
import { live } from '../live/connection.js'
import { EntryFeed } from '../live/entry-feed.js'
import type { FeedSource } from '../live/entry-feed.js'
import type { EntryContext, EntryPage, EntrySummary } from '../../query/api-types.js'
import { createFilterKey, pickFilter } from '../view.js'
import type { View } from '../view.js'
import { paused } from './paused.js'
import { typing } from './typing.js'

const DRAW_INTERVAL_MS = 100

/** Keeps the feed of a paused list while another view is shown. */
let kept: { readonly feed: EntryFeed; readonly key: string } | undefined
/** Renders the component that shows the feed. */
let draw: (() => void) | undefined

function createFeed(): EntryFeed {
  let timer: ReturnType<typeof setTimeout> | undefined
  let drawnMs = -Infinity
  const feed = new EntryFeed({
    page: (parameters, signal) => get<EntryPage<EntrySummary>>('entries', { ...parameters, view: 'summary' }, signal),
    context: (id, parameters, signal) =>
      get<EntryContext>(`entries/${encodeURIComponent(id)}/context`, parameters, signal),
    follow: (source) => live.follow(source),
    changed: () => {
      timer ??= setTimeout(
        () => {
          timer = undefined
          drawnMs = performance.now()
          // Merges when drawing rather than on arrival: a list that was frozen in between must not change.
          feed.tail.merge()
          draw?.()
        },
        Math.max(0, drawnMs + DRAW_INTERVAL_MS - performance.now()),
      )
    },
    later: (ms, call) => {
      const waiting = setTimeout(call, ms)
      return () => clearTimeout(waiting)
    },
    now: () => Date.now(),
    isTyping: () => typing.value,
  })
  return feed
}

/** @returns the feed; renders the component when the feed changes */
export function useFeed(view: View): EntryFeed {
  const [, setVersion] = useState(0)
  const key = sourceKey(view)
  const { feed, isResumed } = useMemo(() => {
    const resumed = kept?.key === key && paused.value ? kept.feed : undefined
    if (resumed === undefined) kept?.feed.close()
    kept = undefined
    return { feed: resumed ?? createFeed(), isResumed: resumed !== undefined }
  }, [])
  const shown = useRef(isResumed ? key : null)
  const current = useRef(key)
  current.current = key
  useEffect(() => {
    draw = () => setVersion((old) => old + 1)
    return () => {
      draw = undefined
      if (paused.value) kept = { feed, key: current.current }
      else feed.close()
    }
  }, [])
  useEffect(() => {
    if (shown.current === key && isResumed) feed.resume()
    else feed.show(sourceOf(view))
    if (shown.current !== null && shown.current !== key) live.isEmptied.set(false)
    shown.current = key
  }, [key])
  return feed
}

function sourceOf(view: View): FeedSource {
  return { filter: pickFilter(view), columns: view.columns, around: view.around }
}

function sourceKey(view: View): string {
  return JSON.stringify([createFilterKey(view), view.columns, view.around])
}
