/** A clock that also runs in hidden tabs, where browsers slow timers down, to one a minute after five minutes. */
import { useEffect, useState } from 'preact/hooks'

/** The time in milliseconds since the epoch, updated once per interval. */
export function useTick(intervalMs: number): number {
  const [nowMs, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs)
    return () => clearInterval(timer)
  }, [intervalMs])
  return nowMs
}
