/** Provides the feed of the list as state; renders at most every 100 ms. */
import { useEffect } from 'preact/hooks'
import { hasField } from '../../query/language/index.js'
import { get } from '../api.js'
import { live } from '../live/connection.js'
import { EntryFeed } from '../live/entry-feed.js'
import type { EntryContext, EntryPage, EntrySummary } from '../../query/api-types.js'
import { mutes } from '../mutes.js'
import { Observable } from '../observable.js'
import { useObservable } from '../use-observable.js'
import { noticeRuns, runCount } from '../use-runs.js'
import type { View } from '../view.js'

const DRAW_INTERVAL_MS = 100
/** Interval for removing rows that have left a sliding window. */
const SLIDE_INTERVAL_MS = 1000

/** Whether the list is paused, also while another view is shown. */
export const paused = new Observable(false)

const drawn = new Observable(0)
let timer: ReturnType<typeof setTimeout> | undefined

function drawSoon(): void {
  timer ??= setTimeout(
    () => {
      timer = undefined
      // Merges when drawing rather than on arrival: a list that was frozen in between must not change.
      feed.merge()
      drawn.set(performance.now())
    },
    Math.max(0, drawn.value + DRAW_INTERVAL_MS - performance.now()),
  )
}

const feed = new EntryFeed({
  page: (parameters, signal) => get<EntryPage<EntrySummary>>('entries', { ...parameters, view: 'summary' }, signal),
  context: (id, parameters, signal) =>
    get<EntryContext>(`entries/${encodeURIComponent(id)}/context`, parameters, signal),
  follow: ({ onEntries, ...source }) =>
    live.follow({
      ...source,
      onEntries: (entries) => {
        noticeRuns(entries.items)
        onEntries?.(entries)
      },
    }),
  changed: drawSoon,
  later: (ms, call) => {
    const waiting = setTimeout(call, ms)
    return () => clearTimeout(waiting)
  },
  now: () => Date.now(),
})

/** @returns the feed; renders the component when the feed changes */
export function useFeed({ q, last, since, until, columns, around }: View): EntryFeed {
  useObservable(drawn)
  const source = { filter: { q, chart: null, last, since, until }, muted: useObservable(mutes), columns, around }
  useEffect(() => feed.show(source), [JSON.stringify(source)])
  // A new run can end `run:last` of loaded entries. A frozen list is loaded again once it is released.
  const runs = useObservable(runCount)
  useEffect(() => {
    if (hasField(q, (field) => field === 'run')) feed.refresh()
  }, [runs, feed.tail.isFrozen])
  useEffect(() => {
    if (last === null) return undefined
    const slide = setInterval(drawSoon, SLIDE_INTERVAL_MS)
    return () => clearInterval(slide)
  }, [last])
  useEffect(
    () => () => {
      // A paused list continues when its view is shown again.
      if (!paused.value) feed.close()
    },
    [],
  )
  return feed
}
