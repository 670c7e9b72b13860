/** The panel beside a view, or over it in a narrow window. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Whether the panel that opens next takes the focus: it was opened by a key. */
let isFocusWanted = false
let panelElement: HTMLElement | null = null

/** Moves the focus to the panel, as soon as it is open. */
export function focusDetail(): void {
  isFocusWanted = panelElement === null
  panelElement?.focus()
}

export function isDetailFocused(): boolean {
  return panelElement?.contains(document.activeElement) === true
}

/** A panel that has the focus gives it back when it closes. */
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
      // Covered elements can only be focused once they are visible again.
      setTimeout(() => before.focus({ preventScroll: true }))
    }
  }, [])
  return (
    <div class="detail-panel" ref={panel} tabIndex={-1}>
      {children}
    </div>
  )
}
