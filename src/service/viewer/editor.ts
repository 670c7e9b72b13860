/** Links that open a location of a stack in an editor (pure). */

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
  { file, line, column }: { readonly file: string; readonly line: number | null; readonly column: number | null },
  name: Editor,
): string | null {
  const path = file.replaceAll('\\', '/')
  if (!/^(?:\/|[a-z]:\/)/i.test(path)) return null
  const encoded = path.replace(/^\/+/, '').split('/').map(encodeURIComponent).join('/')
  const isQuery = EDITORS[name].includes('?')
  const values: Readonly<Record<string, string>> = {
    FILE: `${isQuery && path.startsWith('/') ? '/' : ''}${encoded.replace('%3A', ':')}`,
    LINE: String(line ?? 1),
    COLUMN: String(column ?? 1),
  }
  // At once, because a path can contain these words.
  return EDITORS[name].replaceAll(/FILE|LINE|COLUMN/g, (place) => values[place] ?? '')
}
