/** A button with a panel below it, which the browser closes on Escape and on a click elsewhere. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface PopupProps {
  readonly class?: string | undefined
  readonly label: ComponentChildren
  /** Label for screen readers, if the text is none. */
  readonly name?: string | undefined
  readonly title?: string
  readonly kind: 'listbox' | 'dialog' | 'menu'
  /** Rendered when the panel opens, which focuses the first field, link or button. `close` returns the focus to the button. */
  readonly children: (close: () => void) => ComponentChildren
}

export function Popup({ class: className = 'button picker', label, name, title, kind, children }: PopupProps) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const panel = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const first = panel.current?.querySelector<HTMLElement>('input, a, button') ?? null
    if (first === null) return
    // After a click the panel is not shown yet; the browser then focuses this element.
    first.autofocus = true
    first.focus()
  }, [isOpen])
  return (
    <>
      <button
        type="button"
        class={className}
        popovertarget={id}
        aria-haspopup={kind}
        aria-expanded={isOpen}
        aria-label={name}
        title={title}
        onKeyDown={(event) => {
          if (kind !== 'menu' || event.key !== 'ArrowDown') return
          event.preventDefault()
          event.currentTarget.click()
        }}
      >
        {label}
      </button>
      <div
        id={id}
        ref={panel}
        class={kind === 'menu' ? 'popup' : 'popup options'}
        popover="auto"
        onBeforeToggle={({ newState }) => newState === 'open' && setOpen(true)}
        onToggle={({ newState }) => newState === 'closed' && setOpen(false)}
      >
        {isOpen && children(() => panel.current?.hidePopover())}
      </div>
    </>
  )
}
