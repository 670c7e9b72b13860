/** Measures the width of an element, for drawing in real pixels. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { RefObject } from 'preact'

export function useWidth<T extends Element>(): { ref: RefObject<T | null>; width: number } {
  const ref = useRef<T | null>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = ref.current
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}
