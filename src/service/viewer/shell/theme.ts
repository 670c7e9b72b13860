/** Light, dark, or that of the system; stored for this origin. */
import { Observable } from '../observable.js'

export const THEMES = ['system', 'light', 'dark'] as const

export type Theme = (typeof THEMES)[number]

const STORAGE_KEY = 'pino-ingest.theme'

export const theme = new Observable<Theme>('system')

export function setTheme(next: Theme): void {
  theme.set(next)
  document.documentElement.dataset['theme'] = next
  try {
    localStorage.setItem(STORAGE_KEY, next)
  } catch {
    // Storage may be forbidden or full: the choice then lasts as long as the tab.
  }
}

export function restoreTheme(): void {
  let stored: string | null = null
  try {
    stored = localStorage.getItem(STORAGE_KEY)
  } catch {
    // Storage may be forbidden: then it is as the system has it.
  }
  const found = THEMES.find((name) => name === stored)
  if (found !== undefined) setTheme(found)
}
