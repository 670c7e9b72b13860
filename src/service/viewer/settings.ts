/** What the user has chosen, stored by the browser for this origin: the theme, and the editor that opens the frames of stacks. */
import { EDITORS } from './editor.js'
import type { Editor } from './editor.js'
import { Observable } from './observable.js'
import { readChoice, storeChoice } from './stored-choice.js'

export const THEMES = ['system', 'light', 'dark'] as const
export const EDITOR_NAMES = Object.keys(EDITORS) as Editor[]

export const theme = createChoice('pino-ingest.theme', THEMES, 'system')
export const editor = createChoice('pino-ingest.editor', EDITOR_NAMES, 'VS Code')

function createChoice<T extends string>(key: string, known: readonly T[], initial: T): Observable<T> {
  const choice = new Observable(readChoice(key, known) ?? initial)
  choice.subscribe((value) => storeChoice(key, value))
  return choice
}

export function followTheme(): void {
  const apply = (): void => {
    document.documentElement.dataset['theme'] = theme.value
  }
  theme.subscribe(apply)
  apply()
}
