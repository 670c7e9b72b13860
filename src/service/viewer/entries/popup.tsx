/** A button that opens a panel below it. The panel closes on a click elsewhere. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface PopupProps {
  readonly class?: string
  readonly label: ComponentChildren
  readonly title?: string
  readonly kind: 'listbox' | 'dialog'
  /** Whether something is chosen in it. */
  readonly isSet?: boolean
  /** `close` gives the focus back to the button unless it is called with false. */
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
    // After the panel's own keys, and before those of the page, wherever the focus is.
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
