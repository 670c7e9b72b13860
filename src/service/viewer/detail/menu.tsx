/** A button with a menu (WAI-ARIA Authoring Practices, menu button). */
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact'
import { Popup } from '../popup.js'

export type MenuItem =
  | { readonly label: string; readonly href: string }
  | { readonly label: string; readonly run: () => void }

interface MenuButtonProps {
  /** Label for screen readers: `Actions for Path`. */
  readonly name: string
  readonly items: () => readonly MenuItem[]
  readonly class?: string | undefined
  readonly children?: ComponentChildren
}

export function MenuButton({ name, items, class: className = 'menu-button', children }: MenuButtonProps) {
  const hasText = children !== undefined
  return (
    <Popup
      class={className}
      // The name contains the visible text (WCAG 2.1, 2.5.3).
      label={hasText ? [<span class="visually-hidden">{name} </span>, children] : '⋯'}
      name={hasText ? undefined : name}
      title="Filter, values, mute, column, copy"
      kind="menu"
    >
      {(close) => (
        <div role="menu" class="menu" aria-label={name} onClick={close} onKeyDown={(event) => onKeyDown(event, close)}>
          {items().map((item) =>
            'href' in item ? (
              <a key={item.label} role="menuitem" tabIndex={-1} href={item.href}>
                {item.label}
              </a>
            ) : (
              <button key={item.label} type="button" role="menuitem" tabIndex={-1} onClick={item.run}>
                {item.label}
              </button>
            ),
          )}
        </div>
      )}
    </Popup>
  )
}

function onKeyDown(event: TargetedKeyboardEvent<HTMLElement>, close: () => void): void {
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=menuitem]')]
  const at = all.findIndex((item) => item === document.activeElement)
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
  // The browser then moves the focus from the button.
  if (event.key === 'Tab') return close()
  if (event.key === ' ') all[at]?.click()
  else if (to === undefined) return
  else all.at(to === all.length ? 0 : to)?.focus()
  event.preventDefault()
}
