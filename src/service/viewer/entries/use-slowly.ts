/** A value that is taken over at most once in a while; the last one always arrives. */
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
