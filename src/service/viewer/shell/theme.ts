/** The theme: light, dark, or the system's; stored for this origin. */
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
    // Storage may be disabled or full; the theme is then lost when the tab closes.
  }
}

export function restoreTheme(): void {
  let stored: string | null = null
  try {
    stored = localStorage.getItem(STORAGE_KEY)
  } catch {
    // Storage may be disabled; the system's theme is used then.
  }
  const found = THEMES.find((name) => name === stored)
  if (found !== undefined) setTheme(found)
}
