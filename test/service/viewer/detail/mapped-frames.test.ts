/** Stacks whose compiled places are replaced by the original ones. */
import { expect, test } from 'vitest'
import type { SourcePosition } from '../../../../src/service/query/api-types.js'
import { foldFrames } from '../../../../src/service/viewer/detail/frames.js'
import { listCompiled, mapStack } from '../../../../src/service/viewer/detail/mapped-frames.js'
import { parseStack } from '../../../../src/service/viewer/detail/stack.js'

const TEXT = `Error: no
    at t (/app/dist/a.js:1:10)
    at readable (/app/dist/a.js:1:20)
    at u (file:///app/my%20dist/b.mjs:1:30)
    at x (/app/dist/a.js:1:35)
    at async v (/app/dist/a.js:1:40)
    at w (/app/dist/a.js:1:50)
    at f (/app/node_modules/express/index.js:1:1)
    at g (/app/src/c.ts:1:1)
    at h (node:internal/main.js:1:1)
    at index.js:1:1
    at /app/dist/a.js
    at t (/app/dist/a.js:1:10)`

const original = (file: string, line: number): SourcePosition => ({
  file,
  line,
  column: 2,
  name: null,
})
const ORIGINALS = new Map([
  ['/app/dist/a.js:1:10', original('/app/src/a.ts', 1)],
  ['/app/dist/a.js:1:20', original('/app/src/a.ts', 2)],
  ['/app/my dist/b.mjs:1:30', original('/app/node_modules/qs/lib.ts', 3)],
  ['/app/dist/a.js:1:35', original('/app/src/a.ts', 5)],
  ['/app/dist/a.js:1:40', original('/app/src/a.ts', 4)],
  ['/app/dist/a.js:1:50', null],
])

test("only the application's JavaScript is asked for, each place once", () => {
  expect(listCompiled(parseStack(TEXT))).toEqual([...ORIGINALS.keys()])
  const long = Array.from({ length: 300 }, (_, n) => `    at f (/a.js:1:${n})`).join('\n')
  expect(listCompiled(parseStack(`Error\n${long}`))).toHaveLength(100)
  expect(listCompiled(parseStack('Error\n    at f (C:\\app\\a.cjs:1:2)'))).toEqual(['C:\\app\\a.cjs:1:2'])
})

const frames = mapStack(parseStack(TEXT), ORIGINALS).parts.flatMap(({ items }) =>
  items.filter((item) => item.kind === 'frame'),
)

test('a frame has the original place, and keeps the compiled one', () => {
  expect(frames[0]).toMatchObject({
    file: '/app/src/a.ts',
    line: 1,
    column: 2,
    origin: 'own',
    fn: 't',
    compiled: { file: '/app/dist/a.js', line: 1, column: 10 },
  })
  expect(frames[2]).toMatchObject({ file: '/app/node_modules/qs/lib.ts', compiled: { file: '/app/my dist/b.mjs' } })
})

test('frames without an original place are unchanged', () => {
  expect(frames.slice(5)).toEqual([
    ...(parseStack(TEXT).parts[0]?.items.slice(5, -1) ?? []),
    expect.objectContaining({ file: '/app/src/a.ts' }),
  ])
})

test("a package in the application's bundle is folded", () => {
  const [part] = mapStack(parseStack(TEXT), ORIGINALS).parts
  expect(foldFrames(part?.items ?? []).flatMap((item) => (item.kind === 'folded' ? [item.text] : []))).toEqual([
    '1 frame in qs',
    '1 frame in express',
    '1 frame in Node',
  ])
})
