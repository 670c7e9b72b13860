/** Parses the stack formats of V8, pino, the transport and `util.inspect`. */
import { inspect } from 'node:util'
import { runInThisContext } from 'node:vm'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { listMemberStacks, listProperties } from '../../../../src/service/viewer/detail/error-parts.js'
import {
  countOrigin,
  foldFrames,
  isInTitle,
  formatLocation,
  splitFile,
} from '../../../../src/service/viewer/detail/frames.js'
import { parseFrame, parseStack } from '../../../../src/service/viewer/detail/stack.js'

const frame = (line: string) => {
  const parsed = parseFrame(line)
  if (parsed === undefined) return undefined
  const { fn, file, line: at, column, isAsync, origin, packageName } = parsed
  return [isAsync ? `async ${fn}` : fn, file, at, column, packageName ?? origin]
}

test.each([
  ['    at priceOf (/app/src/price.js:42:17)', ['priceOf', '/app/src/price.js', 42, 17, 'own']],
  ['    at /app/src/price.js:42:17', [null, '/app/src/price.js', 42, 17, 'own']],
  ['    at file:///app/src/price.js:42:17', [null, '/app/src/price.js', 42, 17, 'own']],
  ['    at async place (file:///app/src/place.js:1:9)', ['async place', '/app/src/place.js', 1, 9, 'own']],
  ['    at async file:///app/src/main.js:3:1', ['async null', '/app/src/main.js', 3, 1, 'own']],
  ['    at async Promise.all (index 2)', ['async Promise.all', 'index 2', null, null, 'runtime']],
  ['    at new Order (/app/src/order.js:7:3)', ['new Order', '/app/src/order.js', 7, 3, 'own']],
  ['    at Object.<anonymous> (/app/server.js:12:1)', ['Object.<anonymous>', '/app/server.js', 12, 1, 'own']],
  ['    at Array.map (<anonymous>)', ['Array.map', '<anonymous>', null, null, 'runtime']],
  ['    at JSON.parse (native)', ['JSON.parse', 'native', null, null, 'runtime']],
  [
    '    at Layer.handle [as handle_request] (/app/node_modules/express/lib/router/layer.js:95:5)',
    ['Layer.handle [as handle_request]', '/app/node_modules/express/lib/router/layer.js', 95, 5, 'express'],
  ],
  [
    '    at /app/node_modules/.pnpm/a@1.0.0/node_modules/@fastify/middie/index.js:12:4',
    [null, '/app/node_modules/.pnpm/a@1.0.0/node_modules/@fastify/middie/index.js', 12, 4, '@fastify/middie'],
  ],
  [
    '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
    ['process.processTicksAndRejections', 'node:internal/process/task_queues', 95, 5, 'runtime'],
  ],
  ['    at internal/main/run_main_module.js:17:47', [null, 'internal/main/run_main_module.js', 17, 47, 'runtime']],
  ['    at eval (eval at run (/app/src/run.js:4:9), <anonymous>:1:7)', ['eval', '/app/src/run.js', 4, 9, 'own']],
  ['    at C:\\app\\src\\price.js:42:17', [null, 'C:\\app\\src\\price.js', 42, 17, 'own']],
  ['    at f (file:///C:/app/src/price.js:42:17)', ['f', 'C:/app/src/price.js', 42, 17, 'own']],
  ['    at f (C:\\app\\node_modules\\@a\\b\\c.js:1:2)', ['f', 'C:\\app\\node_modules\\@a\\b\\c.js', 1, 2, '@a/b']],
  ['    at f (/app/a (copy)/b.js:1:2)', ['f', '/app/a (copy)/b.js', 1, 2, 'own']],
  ['    at ext:core/01_core.js:166:7', [null, 'ext:core/01_core.js', 166, 7, 'runtime']],
  ['    at f (wasm://wasm/0123:1:2)', ['f', 'wasm://wasm/0123', 1, 2, 'runtime']],
  ['    at f (/app/a.js:1:2) {', ['f', '/app/a.js', 1, 2, 'own']],
  ['Error: at work', undefined],
  [`    at ${'x'.repeat(2_000)}:1:2`, undefined],
])('%s', (line, expected) => expect(frame(line)).toEqual(expected))

describe('a chain', () => {
  test("in pino's format", () => {
    const outer = new Error('outer\nsecond line', { cause: new TypeError('inner') })
    const { stack } = pino.stdSerializers.err(outer)
    const { parts } = parseStack(stack)
    expect(parts.map(({ label, title }) => [label, title])).toEqual([
      [null, 'Error: outer\nsecond line'],
      ['caused by', 'TypeError: inner'],
    ])
    expect(parts.every(({ items }) => items.length > 0 && items.every((item) => item.kind === 'frame'))).toBe(true)
  })

  test("in the format of Node's inspect, without the braces", () => {
    const outer = Object.assign(new Error('outer', { cause: new TypeError('inner') }), { code: 'E_OUTER' })
    const { parts } = parseStack(inspect(outer))
    expect(parts.map(({ label, title }) => [label, title])).toEqual([
      [null, 'Error: outer'],
      ['caused by', 'TypeError: inner'],
    ])
    const texts = parts
      .flatMap(({ items }) => items)
      .flatMap((item) => (item.kind === 'text' ? [item.text.trim()] : []))
    expect(texts).toContain("code: 'E_OUTER',")
    expect(texts.filter((text) => /^[{}[\],]*$/.test(text))).toEqual([])
  })

  test("in the transport's format of an AggregateError", () => {
    const { parts } = parseStack(
      'AggregateError: all\n    at a (/a.js:1:1)\nerror 1 of 2: TypeError: x\n    at b (/b.js:2:2)\nerror 2 of 2: RangeError: y\n    at c (/c.js:3:3)',
    )
    expect(parts.map(({ label, title }) => [label, title])).toEqual([
      [null, 'AggregateError: all'],
      ['error 1 of 2', 'TypeError: x'],
      ['error 2 of 2', 'RangeError: y'],
    ])
  })
})

test('every frame of a real stack is parsed', () => {
  const error = runInThisContext('(function f() { return [0].map(() => new Error("x"))[0] })')() as Error
  const { parts } = parseStack(error.stack ?? '')
  expect(parts).toHaveLength(1)
  expect(parts[0]?.items.length).toBeGreaterThan(2)
  expect(parts[0]?.items.every((item) => item.kind === 'frame')).toBe(true)
})

test('text without a stack is unchanged', () => {
  expect(parseStack('').parts).toEqual([{ label: null, title: '', items: [] }])
  expect(
    parseStack('Error: x\n    at a (/a.js:1:1)\n  ... 4 lines matching cause stack trace ...').parts[0]?.items.at(-1),
  ).toEqual({ kind: 'text', text: '  ... 4 lines matching cause stack trace ...' })
})

test('a stack of 100,000 lines is parsed in part', () => {
  const stack = `Error\n${'    at f (/a.js:1:1)\n'.repeat(100_000)}end`
  const { parts, linesLeftOut } = parseStack(stack)
  expect(parts[0]?.items).toHaveLength(999)
  expect(linesLeftOut).toBe(99_002)
})

test.each([':1'.repeat(480), '('.repeat(960), ')'.repeat(960), `eval at (${'a:1:1('.repeat(150)}`, ' {'.repeat(480)])(
  'hostile lines are parsed: %#',
  (text) => {
    const { parts } = parseStack(`Error\n${`    at f (${text})\n`.repeat(900)}`)
    expect(parts[0]?.items).toHaveLength(900)
  },
)

describe('folding', () => {
  const { parts } = parseStack(
    [
      'Error: x',
      '    at own (/app/a.js:1:1)',
      '    at one (/app/node_modules/express/a.js:1:1)',
      '    at two (/app/node_modules/qs/a.js:1:1)',
      '    at three (node:events:5:1)',
      '    at main (/app/b.js:2:1)',
      '    at Promise.all (index 0)',
    ].join('\n'),
  )
  const items = foldFrames(parts[0]?.items ?? [])

  test('adjacent frames outside the application are folded, with the names of their packages', () => {
    expect(items.map((item) => (item.kind === 'frame' ? item.fn : item.text))).toEqual([
      'own',
      '3 frames in express, qs, Node',
      'main',
      '1 frame in the runtime',
    ])
    expect(items.flatMap((item) => (item.kind === 'folded' ? item.frames : []))).toHaveLength(4)
  })

  test('the number of named packages is limited', () => {
    const many = parseStack(
      `Error\n${['a', 'b', 'c', 'd', 'e'].map((name) => `    at f (/x/node_modules/${name}/i.js:1:1)`).join('\n')}`,
    )
    expect(foldFrames(many.parts[0]?.items ?? [])).toMatchObject([{ text: '5 frames in a, b, c, 2 more' }])
  })

  test('frames are counted by origin', () => {
    expect([countOrigin(parts, 'own'), countOrigin(parts, 'package'), countOrigin(parts, 'runtime')]).toEqual([2, 2, 2])
  })
})

test("a location in the editors' format, and its file split", () => {
  const parsed = parseFrame('    at f (/app/src/a.js:1:2)')
  if (parsed === undefined) throw new Error('not read')
  expect(formatLocation(parsed)).toBe('/app/src/a.js:1:2')
  expect(formatLocation({ ...parsed, line: null, column: null })).toBe('/app/src/a.js')
  expect(splitFile('/app/src/a.js')).toEqual({ directory: '/app/src/', name: 'a.js' })
  expect(splitFile('C:\\a\\b.js')).toEqual({ directory: 'C:\\a\\', name: 'b.js' })
})

test('the first line is shown once', () => {
  expect(isInTitle('TypeError: x', 'TypeError', 'x')).toBe(true)
  expect(isInTitle('Error: outer', 'Error', 'outer: inner')).toBe(true)
  expect(isInTitle('TypeError: other', 'TypeError', 'x')).toBe(false)
  expect(isInTitle('TypeError [E_CODE]: x', 'TypeError', 'x')).toBe(false)
})

test('further properties of an error', () => {
  expect(listProperties({ code: 'E', errno: -1, cause: { a: 1 }, long: 'x'.repeat(600) })).toEqual({
    code: 'E',
    errno: '-1',
  })
  expect(listProperties('text')).toEqual({})
  expect(
    listMemberStacks({ errors: [{ stack: 'Error: a\n    at x' }, { message: 'no stack' }, null, 'text'] }),
  ).toEqual(['Error: a\n    at x'])
  expect(listMemberStacks({ errors: 'text' })).toEqual([])
})
