/** Converts the filter to API parameters, in the view "entries" without muted entries. Moves a sliding window every few seconds. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { mutes } from './mutes.js'
import { useObservable } from './use-observable.js'
import { useView } from './use-view.js'
import { createFilterKey, listFilterParameters } from './view.js'
import type { Filter } from './view.js'

const SLIDE_MS = 5000
const NONE: readonly string[] = []

export function useFilterParameters(filter: Filter): Record<string, string> {
  const [nowMs, setNowMs] = useState(() => Date.now())
  const all = useObservable(mutes)
  const muted = useView().name === 'entries' ? all : NONE
  const isSliding = filter.last !== null
  const key = createFilterKey(filter)
  useEffect(() => {
    if (!isSliding) return undefined
    setNowMs(Date.now())
    const timer = setInterval(() => {
      if (!document.hidden) setNowMs(Date.now())
    }, SLIDE_MS)
    return () => clearInterval(timer)
  }, [key, isSliding])
  return useMemo(() => listFilterParameters(filter, nowMs, muted), [key, nowMs, muted])
}
