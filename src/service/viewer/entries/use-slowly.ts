/** Throttles a value: it changes at most once per interval, and always reaches the last value. */
import { useEffect, useRef, useState } from 'preact/hooks'

export function useSlowly<T>(value: T, intervalMs: number): T {
  const [throttled, setThrottled] = useState(value)
  const takenMs = useRef(performance.now())
  useEffect(() => {
    const timer = setTimeout(
      () => {
        takenMs.current = performance.now()
        setThrottled(value)
      },
      Math.max(0, takenMs.current + intervalMs - performance.now()),
    )
    return () => clearTimeout(timer)
  }, [value])
  return throttled
}
