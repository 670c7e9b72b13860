/** Links that open a frame in an editor. */
import { expect, test } from 'vitest'
import { createEditorHref } from '../../../../src/service/viewer/detail/editor.js'

test('an absolute path, encoded', () => {
  const frame = { file: '/srv/my app/a#1.ts', line: 12, column: 5 }
  expect(createEditorHref(frame, 'VS Code')).toBe('vscode://file/srv/my%20app/a%231.ts:12:5')
  expect(createEditorHref(frame, 'WebStorm')).toBe('webstorm://open?file=/srv/my%20app/a%231.ts&line=12&column=5')
  expect(createEditorHref({ file: 'C:\\app\\a.js', line: 1, column: null }, 'Zed')).toBe('zed://file/C:/app/a.js:1:1')
})

test('a path with the words of the address', () => {
  const frame = { file: '/srv/ONLINE/COLUMNS/a.ts', line: 12, column: 5 }
  expect(createEditorHref(frame, 'VS Code')).toBe('vscode://file/srv/ONLINE/COLUMNS/a.ts:12:5')
})

test.each(['node:events', 'index.js', '<anonymous>', 'webpack://app/a.js'])('%s has none', (file) => {
  expect(createEditorHref({ file, line: 1, column: 1 }, 'VS Code')).toBeNull()
})
