/** Text lines that belong together become one. */
import { expect, test } from 'vitest'
import { inspect } from 'node:util'
import { createReader, createRing, createUnwrapper } from './create-ring.js'

function blocksOf(...texts: readonly string[]): string[] {
  const blocks: string[] = []
  const ring = createRing()
  const joiner = createUnwrapper(ring, ({ text }) => blocks.push(text))
  const reader = createReader(joiner.add, { ring })
  for (const text of texts) reader.write(text)
  reader.end()
  joiner.end()
  return blocks
}

const HEADERS = {
  headers: { 'set-cookie': ['sid=s3cret; HttpOnly', 'theme=dark; Path=/; SameSite=Lax; Max-Age=31536000'] },
}
const STACK = 'TypeError: no\n    at a (/app/a.js:1:1)\n    at b (/app/b.js:2:2) {\n  code: 4\n}'

test.each([
  ['an object as console.log prints it', inspect(HEADERS)],
  ['an object after a text', `sent ${inspect(HEADERS, { compact: false })}`],
  ['indented JSON', JSON.stringify(HEADERS, null, 2)],
  ['a wrapped list', inspect(['Host', 'localhost', 'Cookie', `sid=${'s'.repeat(80)}`, 'Accept', '*/*', 'A', 'b'])],
  ['a stack trace', STACK],
  ['a block with a line of white space', 'a\n  b\n   \n  c'],
])('%s', (_, block) => {
  expect(blocksOf(`{"a":1}\n${block}\nafter\n`)).toEqual(['{"a":1}', block, 'after'])
  expect(blocksOf(block)).toEqual([block])
  expect(blocksOf(...`${block}\r\n{"level":30}\r\n`.split(/(?<=[^])/))).toEqual([block, '{"level":30}'])
})

test.each([
  ['records', ['{"a":1}', '{"b":2}', '{"c":3}']],
  ['a record and an indented block', ['{"a":1}', '  at b\n    at c', '  at d', '{"e":1}']],
  ['records between text', ['a\n  b', '{"c":1}', 'd\n  e']],
  ['a record that was cut and an indented line', ['{"a":"b', '  c']],
  ['a bracket that closes another block', ['  a {', '}']],
])('%s stay apart', (_, lines) => expect(blocksOf(`${lines.join('\n')}\n`)).toEqual(lines))

test('beyond a limit only deeper lines are joined, so a value stays with its name', () => {
  const members = Array.from({ length: 30_000 }, (_, n) => `  "m${n}": {\n    "v": ${n}\n  },`)
  const blocks = blocksOf(`{\n${members.join('\n')}\n}\n`)
  expect(blocks[0]?.split('\n')).toHaveLength(10_000)
  for (const block of blocks.slice(2, -1)) expect(block).toMatch(/^ {2}"m\d+": \{\n {4}"v": \d+\n {2}\},$/)
  const long = blocksOf(`a\n${`  ${'b'.repeat(1_000)}\n`.repeat(3_000)}`)
  expect(long.length).toBeGreaterThan(1_500)
  expect(long[0]?.length).toBeLessThan(1_100_000)
})

test('a block of many small texts does not take quadratic time', () => {
  expect(blocksOf('a\n', ...Array.from({ length: 9_000 }, () => ['  b', 'c\n']).flat())).toHaveLength(1)
})
