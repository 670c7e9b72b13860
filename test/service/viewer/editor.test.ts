/** Links that open a frame in an editor. */
import { expect, test } from 'vitest'
import { createEditorHref } from '../../../src/service/viewer/editor.js'
import type { Editor } from '../../../src/service/viewer/editor.js'

test.each<[string, Editor, string | null]>([
  ['/srv/my app/a#1.ts', 'VS Code', 'vscode://file/srv/my%20app/a%231.ts:12:5'],
  ['/srv/my app/a#1.ts', 'WebStorm', 'webstorm://open?file=/srv/my%20app/a%231.ts&line=12&column=5'],
  ['C:\\app\\a.js', 'Zed', 'zed://file/C:/app/a.js:12:5'],
  ['/srv/ONLINE/COLUMNS/a.ts', 'VS Code', 'vscode://file/srv/ONLINE/COLUMNS/a.ts:12:5'],
  ['node:events', 'VS Code', null],
  ['index.js', 'VS Code', null],
  ['webpack://app/a.js', 'VS Code', null],
])('%s in %s', (file, name, href) => expect(createEditorHref({ file, line: 12, column: 5 }, name)).toBe(href))
