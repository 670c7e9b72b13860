/** A button that opens a panel below it. A click elsewhere closes the panel. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface PopupProps {
  readonly class?: string
  readonly label: ComponentChildren
  readonly title?: string
  readonly kind: 'listbox' | 'dialog'
  /** Whether anything is selected in the panel. */
  readonly isSet?: boolean
  /** `close` returns the focus to the button unless called with false. */
  readonly children: (close: (isBack?: boolean) => void) => ComponentChildren
}

export function Popup({ class: className = '', label, title, kind, isSet = false, children }: PopupProps) {
  const [isOpen, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const close = (isBack = true): void => {
    setOpen(false)
    if (isBack) button.current?.focus()
  }
  useEffect(() => {
    if (!isOpen) return undefined
    const onPointerDown = (event: PointerEvent): void => {
      if (event.target instanceof Node && box.current?.contains(event.target) !== true) setOpen(false)
    }
    // Handles keys after the panel and before the page, wherever the focus is.
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      event.preventDefault()
      close()
    }
    addEventListener('pointerdown', onPointerDown)
    document.addEventListener('keydown', onKeyDown)
    return () => {
      removeEventListener('pointerdown', onPointerDown)
      document.removeEventListener('keydown', onKeyDown)
    }
  }, [isOpen])
  return (
    <div class={`picker ${className}`} ref={box}>
      <button
        type="button"
        ref={button}
        class={isSet ? 'button on' : 'button'}
        aria-haspopup={kind}
        aria-expanded={isOpen}
        title={title}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
      </button>
      {isOpen && <div class="options">{children(close)}</div>}
    </div>
  )
}
