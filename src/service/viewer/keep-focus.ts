/**
 * Call before a button removes itself together with its item. Moves the focus to the next such button, or else to the content.
 * @param peers selector of these buttons
 */
export function keepFocus(peers: string): void {
  const find = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(peers)]
  const at = find().indexOf(document.activeElement as HTMLElement)
  // Waits until the page is rendered.
  setTimeout(() => {
    const left = find()
    if (at !== -1 && document.activeElement === document.body)
      (left[Math.min(at, left.length - 1)] ?? document.querySelector<HTMLElement>('main'))?.focus()
  })
}
