/** Choices of the user that the browser stores for this origin. */

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
