/** Provides the current time in milliseconds since the epoch. */
import { useEffect, useState } from 'preact/hooks'

/** @param runsHidden whether it also runs in a hidden tab, where browsers slow timers down, to one a minute after five minutes */
export function useNow(intervalMs = 1_000, runsHidden = false): number {
  const [nowMs, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => {
      if (runsHidden || !document.hidden) setNow(Date.now())
    }, intervalMs)
    return () => clearInterval(timer)
  }, [intervalMs, runsHidden])
  return nowMs
}
