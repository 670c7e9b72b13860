/** Detects a pointer over the rows. New entries wait while the user reads or points at a row. */
import { useEffect, useRef, useState } from 'preact/hooks'

/** Delay before a pointer that left the rows releases them: it may only move along the edge. */
const RELEASE_MS = 600

/** Only a mouse or pen counts, because a touch screen has no pointer between touches. */
export function usePointerOver(): {
  readonly isOver: boolean
  readonly onPointerEnter: (event: PointerEvent) => void
  readonly onPointerMove: (event: PointerEvent) => void
  readonly onPointerLeave: () => void
  readonly release: () => void
} {
  const [isOver, setOver] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const enter = ({ pointerType }: PointerEvent): void => {
    clearTimeout(timer.current)
    if (pointerType !== 'touch') setOver(true)
  }
  return {
    isOver,
    onPointerEnter: enter,
    // After a release, the next movement freezes the list again.
    onPointerMove: (event) => {
      if (event.movementX !== 0 || event.movementY !== 0) enter(event)
    },
    onPointerLeave: () => {
      clearTimeout(timer.current)
      timer.current = setTimeout(() => setOver(false), RELEASE_MS)
    },
    release: () => {
      clearTimeout(timer.current)
      setOver(false)
    },
  }
}
