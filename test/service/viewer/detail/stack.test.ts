/** Parses the stack formats of V8, pino, the transport and `util.inspect`. */
import { inspect } from 'node:util'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { listLocations, parseFrame, parseStack } from '../../../../src/service/viewer/detail/stack.js'

const frame = (line: string) => {
  const parsed = parseFrame(line)
  if (parsed === undefined) return undefined
  const { fn, file, line: at, column, isAsync, origin, packageName } = parsed
  return [isAsync ? `async ${fn}` : fn, file, at, column, packageName ?? origin]
}

test.each([
  ['    at priceOf (/app/src/price.js:42:17)', ['priceOf', '/app/src/price.js', 42, 17, 'own']],
  ['    at file:///app/src/price.js:42:17', [null, '/app/src/price.js', 42, 17, 'own']],
  ['    at async place (file:///app/src/place.js:1:9)', ['async place', '/app/src/place.js', 1, 9, 'own']],
  ['    at async Promise.all (index 2)', ['async Promise.all', 'index 2', null, null, 'runtime']],
  ['    at Array.map (<anonymous>)', ['Array.map', '<anonymous>', null, null, 'runtime']],
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
  ['    at eval (eval at run (/app/src/run.js:4:9), <anonymous>:1:7)', ['eval', '/app/src/run.js', 4, 9, 'own']],
  ['    at C:\\app\\src\\price.js:42:17', [null, 'C:\\app\\src\\price.js', 42, 17, 'own']],
  ['    at f (file:///C:/app/src/price.js:42:17)', ['f', 'C:/app/src/price.js', 42, 17, 'own']],
  ['    at f (C:\\app\\node_modules\\@a\\b\\c.js:1:2)', ['f', 'C:\\app\\node_modules\\@a\\b\\c.js', 1, 2, '@a/b']],
  ['    at ext:core/01_core.js:166:7', [null, 'ext:core/01_core.js', 166, 7, 'runtime']],
  ['    at f (/app/a.js:1:2) {', ['f', '/app/a.js', 1, 2, 'own']],
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

test('a stack of 100,000 lines is parsed in part', () => {
  const stack = `Error\n${'    at f (/a.js:1:1)\n'.repeat(100_000)}end`
  const { parts, isCut } = parseStack(stack)
  expect(parts[0]?.items).toHaveLength(999)
  expect(isCut).toBe(true)
})

test.each([':1'.repeat(480), '('.repeat(960), ')'.repeat(960), `eval at (${'a:1:1('.repeat(150)}`, ' {'.repeat(480)])(
  'hostile lines are parsed: %#',
  (text) => {
    const { parts } = parseStack(`Error\n${`    at f (${text})\n`.repeat(900)}`)
    expect(parts[0]?.items).toHaveLength(900)
  },
)

test('at most 100 places of a stack are asked for, each once', () => {
  const long = Array.from({ length: 300 }, (_, n) => `    at f (/a.js:1:${n % 200})`).join('\n')
  expect(new Set(listLocations(parseStack(`Error\n${long}`))).size).toBe(100)
  expect(listLocations(parseStack('Error\n    at f (/a.js:1:2)\n    at f (/a.js:1:2)'))).toEqual(['/a.js:1:2'])
})
