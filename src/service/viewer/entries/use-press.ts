/** Detects clicks on rows by pointer events, also those that open a tab (Ctrl, Cmd, middle button): the browser emits no click if a row is rendered again under the pointer. */
import { useRef, useState } from 'preact/hooks'

/** A pointer that moves further selects text instead of clicking. */
const CLICK_PX = 6

function rowId({ target }: Event): string | undefined {
  return target instanceof Element ? target.closest<HTMLElement>('[data-entry]')?.dataset['entry'] : undefined
}

export function usePress(onClick: (id: string, isNewTab: boolean) => void) {
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
        onClick(id, button === 1 || ctrlKey || metaKey)
    },
    onPointerCancel: end,
    onPointerLeave: end,
  }
}
