/** Links that open a location of a stack in an editor (pure). */
import type { StackFrame } from './stack.js'

/** Addresses by editor; `FILE`, `LINE` and `COLUMN` are replaced. */
export const EDITORS = {
  'VS Code': 'vscode://file/FILE:LINE:COLUMN',
  Cursor: 'cursor://file/FILE:LINE:COLUMN',
  Zed: 'zed://file/FILE:LINE:COLUMN',
  WebStorm: 'webstorm://open?file=FILE&line=LINE&column=COLUMN',
  'IntelliJ IDEA': 'idea://open?file=FILE&line=LINE&column=COLUMN',
} as const

export type Editor = keyof typeof EDITORS

/** Null for a file that is not an absolute path. */
export function createEditorHref(
  { file, line, column }: Pick<StackFrame, 'file' | 'line' | 'column'>,
  name: Editor,
): string | null {
  const path = file.replaceAll('\\', '/')
  if (!/^(?:\/|[a-z]:\/)/i.test(path)) return null
  const encoded = path.replace(/^\/+/, '').split('/').map(encodeURIComponent).join('/').replace('%3A', ':')
  const isQuery = EDITORS[name].includes('?')
  return EDITORS[name]
    .replace('FILE', () => (isQuery && path.startsWith('/') ? `/${encoded}` : encoded))
    .replace('LINE', String(line ?? 1))
    .replace('COLUMN', String(column ?? 1))
}
