/** Whether the list holds still: new entries wait while one reads or aims at a row. */
import { useEffect, useRef, useState } from 'preact/hooks'

/** A pointer that leaves the rows on its way along the edge does not release them at once. */
const RELEASE_MS = 600

/** Since a touch screen has no pointer between touches, only a mouse or pen over the rows counts. */
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
    // After a release the next movement holds the list again.
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
