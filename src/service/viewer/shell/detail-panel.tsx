/** The panel next to a view, or over it in a narrow window. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Whether the next panel to open gets the focus, because a key opened it. */
let isFocusWanted = false
let panelElement: HTMLElement | null = null

/** Moves the focus to the panel once it is open. */
export function focusDetail(): void {
  isFocusWanted = panelElement === null
  panelElement?.focus()
}

export function isDetailFocused(): boolean {
  return panelElement?.contains(document.activeElement) === true
}

/** The panel. If it has the focus when it closes, it returns the focus. */
export function DetailPanel({ children }: { children: ComponentChildren }) {
  const panel = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = panel.current
    const before = document.activeElement
    panelElement = element
    if (isFocusWanted || matchMedia('(max-width: 900px)').matches) element?.focus()
    isFocusWanted = false
    return () => {
      panelElement = null
      if (element?.contains(document.activeElement) !== true || !(before instanceof HTMLElement)) return
      // Waits until covered elements are visible again and can be focused.
      setTimeout(() => before.focus({ preventScroll: true }))
    }
  }, [])
  return (
    <div class="detail-panel" ref={panel} tabIndex={-1}>
      {children}
    </div>
  )
}
