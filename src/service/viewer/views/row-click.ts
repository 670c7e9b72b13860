/** Makes a click anywhere in a row follow the row's link. Keyboard and screen readers use the link itself. */

/** Click handler for the table's body. Selecting text, links and buttons in the row still work. */
export function followRow({ target, ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): void {
  if (!(target instanceof Element) || target.closest('a, button') !== null || getSelection()?.isCollapsed === false)
    return
  const link = target.closest('tr')?.querySelector<HTMLElement>('a[data-line]')
  // The keys j and k continue from the focused row.
  link?.focus({ preventScroll: true })
  link?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey, altKey }))
}
