/** Measures the content of an element, in real pixels. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { RefObject } from 'preact'

/** @param height assumed until it is known */
export function useSize<T extends Element>(height = 0): { ref: RefObject<T | null>; width: number; height: number } {
  const ref = useRef<T | null>(null)
  const [size, setSize] = useState({ width: 0, height })
  useLayoutEffect(() => {
    if (ref.current === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setSize({ width: Math.floor(entry.contentRect.width), height: entry.contentRect.height })
    })
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return { ref, ...size }
}
