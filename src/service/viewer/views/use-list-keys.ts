/** Handles the keys for next and previous in lists of links and buttons: moves the focus, and updates an open detail. */
import type { RefObject } from 'preact'
import { useCommands } from '../commands.js'
import { readView } from '../use-view.js'

/** Attribute for the link or button of a row. */
export const LINE = { 'data-line': '' } as const

export function useListKeys(list: RefObject<HTMLElement | null>): void {
  const step = (by: 1 | -1) => {
    const lines = [...(list.current?.querySelectorAll<HTMLElement>('[data-line]') ?? [])]
    const at = lines.findIndex((line) => line === document.activeElement)
    const next = lines[at === -1 ? 0 : at + by]
    if (next === undefined) return
    next.focus()
    if (readView().entry !== null && next instanceof HTMLAnchorElement) next.click()
  }
  useCommands({ next: () => step(1), previous: () => step(-1) })
}
