/** The theme: light, dark, or the system's; stored for this origin. */
import { Observable } from '../observable.js'
import { readChoice, storeChoice } from '../stored-choice.js'

export const THEMES = ['system', 'light', 'dark'] as const

export type Theme = (typeof THEMES)[number]

const STORAGE_KEY = 'pino-ingest.theme'

export const theme = new Observable<Theme>('system')

export function setTheme(next: Theme): void {
  theme.set(next)
  document.documentElement.dataset['theme'] = next
  storeChoice(STORAGE_KEY, next)
}

export function restoreTheme(): void {
  const found = readChoice(STORAGE_KEY, THEMES)
  if (found !== undefined) setTheme(found)
}
