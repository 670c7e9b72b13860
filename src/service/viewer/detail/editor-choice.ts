/** The editor that opens the frames of stacks. */
import { Observable } from '../observable.js'
import { readChoice, storeChoice } from '../stored-choice.js'
import { EDITORS } from './editor.js'
import type { Editor } from './editor.js'

const STORAGE_KEY = 'pino-ingest.editor'

export const EDITOR_NAMES = Object.keys(EDITORS) as Editor[]

export const editor = new Observable<Editor>(readChoice(STORAGE_KEY, EDITOR_NAMES) ?? 'VS Code')

export function setEditor(next: Editor): void {
  editor.set(next)
  storeChoice(STORAGE_KEY, next)
}
