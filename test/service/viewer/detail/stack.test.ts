/** Parses the stack formats of V8, pino, the transport and `util.inspect`. */
import { inspect } from 'node:util'
import { runInThisContext } from 'node:vm'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import type { SourcePosition } from '../../../../src/service/query/api-types.js'
import { listErrorParts } from '../../../../src/service/viewer/detail/error-parts.js'
import {
  foldFrames,
  formatLocation,
  isInTitle,
  listLocations,
  mapStack,
  parseFrame,
  parseStack,
} from '../../../../src/service/viewer/detail/stack.js'

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
})

test("a location in the editors' format", () => {
  const parsed = parseFrame('    at f (/app/src/a.js:1:2)')
  if (parsed === undefined) throw new Error('not read')
  expect(formatLocation(parsed)).toBe('/app/src/a.js:1:2')
  expect(formatLocation({ ...parsed, line: null, column: null })).toBe('/app/src/a.js')
})

test('the first line is shown once', () => {
  expect(isInTitle('TypeError: x', 'TypeError', 'x')).toBe(true)
  expect(isInTitle('Error: outer', 'Error', 'outer: inner')).toBe(true)
  expect(isInTitle('TypeError: other', 'TypeError', 'x')).toBe(false)
  expect(isInTitle('TypeError [E_CODE]: x', 'TypeError', 'x')).toBe(false)
})

describe('what senders put into `metadata.error`', () => {
  const base = { level: 'error', message: 'failed', timestamp: '2026-01-31T08:00:00.000Z' } as const
  const metadata = {
    orderId: 7,
    req: { query: {}, params: {} },
    error: {
      name: 'GatewayError',
      code: 'E_GATEWAY',
      body: { reason: 'no' },
      long: 'x'.repeat(600),
      cause: {
        type: 'Error',
        message: 'reset',
        code: 'ECONNRESET',
        errno: -104,
        cause: { message: 'x', syscall: 'read' },
      },
      errors: [{ stack: 'Error: a\n    at x' }, { message: 'no stack' }, null, 'text'],
    },
  }
  const parts = listErrorParts({ ...base, error: { type: 'GatewayError' }, metadata })

  test('short properties of the error, of its causes and of its members', () =>
    expect(parts.properties).toEqual([
      { code: 'E_GATEWAY' },
      { code: 'ECONNRESET', errno: -104 },
      { syscall: 'read' },
      {},
      {},
    ]))

  test('the metadata has the rest, without empty objects', () =>
    expect(parts.metadata).toEqual({ orderId: 7, error: { body: { reason: 'no' }, long: 'x'.repeat(600) } }))

  test('without an error, the metadata has it', () =>
    expect(listErrorParts({ ...base, metadata: { error: { code: 1 }, none: [] } })).toEqual({
      properties: [],
      metadata: { error: { code: 1 } },
    }))
})

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

test("the application's compiled files are asked for, each place once, and its first frame", () => {
  expect(listLocations(parseStack(TEXT))).toEqual([...ORIGINALS.keys()])
  const long = Array.from({ length: 300 }, (_, n) => `    at f (/a.js:1:${n})`).join('\n')
  expect(listLocations(parseStack(`Error\n${long}`))).toHaveLength(100)
  expect(listLocations(parseStack('Error\n    at f (C:\\app\\a.cjs:1:2)'))).toEqual(['C:\\app\\a.cjs:1:2'])
  expect(listLocations(parseStack('Error\n    at f (/a.ts:1:2)\n    at g (/b.ts:1:2)'))).toEqual(['/a.ts:1:2'])
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
