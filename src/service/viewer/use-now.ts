/** Provides the current time, with one timer for all components that show relative times. */
import { useEffect, useState } from 'preact/hooks'

const INTERVAL_MS = 1_000

const listeners = new Set<(nowMs: number) => void>()
let timer: ReturnType<typeof setInterval> | undefined

function notify() {
  // Hidden pages need no updates.
  if (document.hidden) return
  const nowMs = Date.now()
  for (const listener of listeners) listener(nowMs)
}

export function useNow(): number {
  const [nowMs, setNow] = useState(Date.now)
  useEffect(() => {
    listeners.add(setNow)
    timer ??= setInterval(notify, INTERVAL_MS)
    return () => {
      listeners.delete(setNow)
      if (listeners.size > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }, [])
  return nowMs
}
