/** A click anywhere in a row follows the row's link. Keyboard and screen readers use the link itself. */

/** For the table's body. Text can still be selected, and links and buttons in the row keep working. */
export function followRow({ target, ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): void {
  if (!(target instanceof Element) || target.closest('a, button') !== null || getSelection()?.isCollapsed === false)
    return
  const link = target.closest('tr')?.querySelector<HTMLElement>('a[data-line]')
  // The keys for next and previous continue from here.
  link?.focus({ preventScroll: true })
  link?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey, altKey }))
}
