/** A click anywhere in a row is one on the row's link, which stays what keyboard and screen reader know. */

/** Of the table's body. Text can still be selected, and what has a use of its own keeps it. */
export function followRow({ target, ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): void {
  if (!(target instanceof Element) || target.closest('a, button') !== null || getSelection()?.isCollapsed === false)
    return
  const link = target.closest('tr')?.querySelector<HTMLElement>('a[data-line]')
  // The keys for next and previous go on from here.
  link?.focus({ preventScroll: true })
  link?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey, altKey }))
}
