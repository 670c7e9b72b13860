/**
 * Called before one of these buttons is removed with what it removes: the focus goes to the next of them, or to the content.
 * @param peers a selector
 */
export function keepFocus(peers: string): void {
  const find = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(peers)]
  const at = find().indexOf(document.activeElement as HTMLElement)
  // The page is rendered by then.
  setTimeout(() => {
    const left = find()
    if (at !== -1 && document.activeElement === document.body)
      (left[Math.min(at, left.length - 1)] ?? document.querySelector<HTMLElement>('main'))?.focus()
  })
}
