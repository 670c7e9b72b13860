/** Converts the filter to API parameters. Moves a sliding window every few seconds. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { createFilterKey, listFilterParameters } from './view.js'
import type { Filter } from './view.js'

const SLIDE_MS = 5000

export function useFilterParameters(filter: Filter): Record<string, string> {
  const [nowMs, setNowMs] = useState(() => Date.now())
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
  return useMemo(() => listFilterParameters(filter, nowMs), [key, nowMs])
}
