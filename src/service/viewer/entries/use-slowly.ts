/** A throttled value: it changes at most once per interval. The last value is always delivered. */
import { useEffect, useRef, useState } from 'preact/hooks'

export function useSlowly<T>(value: T, intervalMs: number): T {
  const [taken, setTaken] = useState(value)
  const takenMs = useRef(performance.now())
  useEffect(() => {
    const timer = setTimeout(
      () => {
        takenMs.current = performance.now()
        setTaken(value)
      },
      Math.max(0, takenMs.current + intervalMs - performance.now()),
    )
    return () => clearTimeout(timer)
  }, [value])
  return taken
}
