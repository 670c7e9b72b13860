/** A button with a menu (WAI-ARIA Authoring Practices, menu button). */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { RefObject } from 'preact'

export type MenuItem =
  | { readonly label: string; readonly href: string }
  | { readonly label: string; readonly run: () => void }

interface MenuButtonProps {
  /** Label for screen readers: `Actions for Path`. */
  readonly name: string
  /** Called when the menu is opened. */
  readonly items: () => readonly MenuItem[]
}

export function MenuButton({ name, items }: MenuButtonProps) {
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        ref={button}
        type="button"
        class="menu-button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={name}
        title="Filter, exclude, column, copy"
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          setOpen(true)
        }}
      >
        ⋯
      </button>
      {isOpen && <Menu name={name} button={button} items={items()} onClose={() => setOpen(false)} />}
    </>
  )
}

interface MenuProps {
  readonly name: string
  readonly button: RefObject<HTMLButtonElement | null>
  readonly items: readonly MenuItem[]
  readonly onClose: () => void
}

const GAP_PX = 4

/** A menu in the top layer, because the panel would clip it. */
function Menu({ name, button, items, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null)
  /** Position of the button when the menu opened. */
  const opened = useRef({ top: 0, left: 0 })
  useLayoutEffect(() => {
    const [element, anchor] = [menu.current, button.current]
    if (element === null || anchor === null) return
    element.showPopover()
    const place = anchor.getBoundingClientRect()
    opened.current = place
    placeBeside(element, place)
    element.querySelector<HTMLElement>('[role=menuitem]')?.focus()
  }, [])
  useEffect(() => {
    const closeOutside = ({ target }: Event): void => {
      if (!(target instanceof Node)) return
      if (menu.current?.contains(target) !== true && button.current?.contains(target) !== true) onClose()
    }
    // The menu does not move with its button. The event of a scroll that ended before the menu opened can arrive late.
    const closeMoved = (): void => {
      const place = button.current?.getBoundingClientRect()
      if (place?.top !== opened.current.top || place.left !== opened.current.left) close()
    }
    addEventListener('pointerdown', closeOutside)
    addEventListener('focusin', closeOutside)
    addEventListener('scroll', closeMoved, true)
    addEventListener('resize', onClose)
    return () => {
      removeEventListener('pointerdown', closeOutside)
      removeEventListener('focusin', closeOutside)
      removeEventListener('scroll', closeMoved, true)
      removeEventListener('resize', onClose)
    }
  }, [])

  const close = (): void => {
    button.current?.focus({ preventScroll: true })
    onClose()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    // Disables the page's keyboard commands in the menu.
    event.stopPropagation()
    const all = [...(menu.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])]
    const at = all.findIndex((item) => item === document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (to !== undefined) all.at(to === all.length ? 0 : to)?.focus()
    else if (event.key === 'Escape') close()
    else if (event.key === ' ') all[at]?.click()
    else if (event.key === 'Tab') return close()
    else return
    event.preventDefault()
  }
  return (
    <div ref={menu} class="menu" popover="manual" role="menu" aria-label={name} onKeyDown={onKeyDown}>
      {items.map((item) =>
        'href' in item ? (
          <a key={item.label} role="menuitem" tabIndex={-1} href={item.href} onClick={close}>
            {item.label}
          </a>
        ) : (
          <button
            key={item.label}
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={() => {
              close()
              item.run()
            }}
          >
            {item.label}
          </button>
        ),
      )}
    </div>
  )
}

/** Places the menu below the button if there is room, else above; always within the window. */
function placeBeside(element: HTMLElement, { left, right, top, bottom }: DOMRect): void {
  const { offsetWidth: width, offsetHeight: height } = element
  const isBelow = bottom + GAP_PX + height <= innerHeight || top < height
  const x = left + width <= innerWidth ? left : right - width
  const y = isBelow ? bottom + GAP_PX : top - GAP_PX - height
  element.style.left = `${Math.max(GAP_PX, Math.min(x, innerWidth - width - GAP_PX))}px`
  element.style.top = `${Math.max(GAP_PX, Math.min(y, innerHeight - height - GAP_PX))}px`
}
