/** Choices of the user that the browser stores for this origin. */
import { StoredList } from './stored-list.js'

/** @returns undefined if none of the known values is stored */
export function readChoice<T extends string>(key: string, known: readonly T[]): T | undefined {
  try {
    const stored = localStorage.getItem(key)
    return known.find((value) => value === stored)
  } catch {
    // Storage may be disabled; the default is used then.
    return undefined
  }
}

export function storeChoice(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Storage may be disabled or full; the choice is then lost when the tab closes.
  }
}

/** @param parse returns undefined for an item of another version of the page, which is ignored */
export function openStoredList<T>(key: string, parse: (stored: unknown) => T | undefined): StoredList<T> {
  const list = new StoredList(key, parse, () => localStorage)
  addEventListener('storage', () => list.read())
  return list
}
