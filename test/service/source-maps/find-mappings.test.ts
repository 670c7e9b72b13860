/** Mappings, compared with Node's own reader of source maps. */
import { SourceMap } from 'node:module'
import { transform } from 'esbuild'
import { expect, test } from 'vitest'
import { findMappings } from '../../../src/service/source-maps/find-mappings.js'

const CODE = `export function total(items: readonly { price: number }[], discount = 0): number {
  const sum = items.reduce((all, { price }) => all + price, 0)
  if (sum < discount) throw new RangeError('the discount ' + discount + ' is larger than ' + sum)
  return sum - discount
}

export const first = total([{ price: 1 }])`

test.each([true, false])('every position of compiled code as Node finds it, minified: %s', async (minify) => {
  const { code, map } = await transform(CODE, { loader: 'ts', sourcemap: true, sourcefile: 'a.ts', minify })
  const { mappings } = JSON.parse(map) as { mappings: string }
  const points = code
    .split('\n')
    .flatMap((text, line) => [...Array(text.length + 2).keys()].map((column) => ({ line, column })))
  const node = new SourceMap(JSON.parse(map))
  const expected = points.map(({ line, column }) => {
    const entry = node.findEntry(line, column)
    // Node also returns the last mapping of an earlier line.
    if (!('originalSource' in entry) || entry.generatedLine !== line) return null
    return [entry.originalLine, entry.originalColumn]
  })
  const found = findMappings(mappings, points.toReversed()).toReversed()
  expect(found.map((one) => one && [one.line, one.column])).toEqual(expected)
  expect(expected.filter((one) => one !== null).length).toBeGreaterThan(100)
})

test.each([
  ['nothing', '', [null]],
  ['a later column only', 'IAAA', [null]],
  ['code without a source', 'AAAA,C', [null]],
  ['an earlier line only', 'AAAA;', [{ source: 0, line: 0, column: 0, name: undefined }]],
])('%s', (_, mappings, expected) => expect(findMappings(mappings, [{ line: 0, column: 2 }])).toEqual(expected))

test('a mapping without a name does not have the name of the one before', () => {
  const points = [0, 1].map((column) => ({ line: 0, column }))
  expect(findMappings('AAAAC,CAAC', points).map((one) => one?.name)).toEqual([1, undefined])
})

test.each(['AA!A', 'AAAAAA', 'ÄAAA'])('%s is refused', (mappings) => {
  expect(() => findMappings(mappings, [{ line: 9, column: 0 }])).toThrow('invalid')
})
