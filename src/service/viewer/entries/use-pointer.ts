/** Detects the pointer over rows and clicks on them. */
import { useEffect, useRef, useState } from 'preact/hooks'

/** Delay before a pointer that left the rows releases them: it may only move along the edge. */
const RELEASE_MS = 600
/** A pointer that moves further selects text instead of clicking. */
const CLICK_PX = 6

/** New entries wait while the user points at a row. Only a mouse or pen counts: a touch screen has no pointer between touches. */
export function usePointerOver() {
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
    onPointerMove: (event: PointerEvent): void => {
      if (event.movementX !== 0 || event.movementY !== 0) enter(event)
    },
    onPointerLeave: (): void => {
      clearTimeout(timer.current)
      timer.current = setTimeout(() => setOver(false), RELEASE_MS)
    },
    release: (): void => {
      clearTimeout(timer.current)
      setOver(false)
    },
  }
}

function rowId({ target }: Event): string | undefined {
  return target instanceof Element ? target.closest<HTMLElement>('[data-entry]')?.dataset['entry'] : undefined
}

/**
 * Detects clicks by pointer events, also those that open a tab (Ctrl, Cmd, middle button): the browser emits no click if a row is
 * rendered again under the pointer.
 */
export function usePress(onChoose: (id: string, isNewTab: boolean) => void) {
  const [isPressed, setPressed] = useState(false)
  const pressed = useRef<{ readonly id: string | undefined; readonly x: number; readonly y: number } | null>(null)
  const end = (): void => {
    pressed.current = null
    setPressed(false)
  }
  return {
    isPressed,
    onPointerDown: (event: PointerEvent): void => {
      if (event.button > 1) return
      // Otherwise the middle button scrolls.
      if (event.button === 1) event.preventDefault()
      pressed.current = { id: rowId(event), x: event.clientX, y: event.clientY }
      setPressed(true)
    },
    onPointerUp: ({ clientX, clientY, button, ctrlKey, metaKey }: PointerEvent): void => {
      const { id, x = 0, y = 0 } = pressed.current ?? {}
      end()
      if (id !== undefined && Math.hypot(clientX - x, clientY - y) < CLICK_PX)
        onChoose(id, button === 1 || ctrlKey || metaKey)
    },
    onPointerCancel: end,
    onPointerLeave: end,
    /** Clicks of screen readers and scripts have no pointer. */
    onClick: (event: MouseEvent): void => {
      const id = rowId(event)
      if (event.detail === 0 && id !== undefined) onChoose(id, false)
    },
  }
}
