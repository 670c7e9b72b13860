/**
 * Entries of `IngestClient.ingest`: values that JSON.stringify would reduce to `{}` are sent as data. In a process of its own: Vega-Lite, which
 * draws the charts of the benchmarks, adds a `toJSON` to Set.prototype in the process that unit tests share.
 */
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { toPlainBatch } from '../../src/client/plain-data.js'
import { IngestClient } from '../../src/client/index.js'
import type { LogEntryInput } from '../../src/client/index.js'
import { started } from '../service/support.js'

const TIME = '2026-01-31T08:00:00.000Z'
const ENTRY = { level: 'error', message: 'failed', timestamp: TIME } as const

function plain(value: unknown): unknown {
  const batch = { logs: [{ ...ENTRY, metadata: { value } }] }
  const { logs } = JSON.parse(JSON.stringify(toPlainBatch(batch))) as { logs: [{ metadata: { value: unknown } }] }
  return logs[0].metadata.value
}

const circle: unknown[] = [1]
circle.push({ circle })
const shared = { a: 1 }

describe('a value in the metadata', () => {
  test.each<[string, unknown, unknown]>([
    [
      'a Map',
      new Map<unknown, unknown>([
        ['a', 1],
        [2, new Date(TIME)],
      ]),
      { a: 1, 2: TIME },
    ],
    [
      'a Map whose keys have the same text',
      new Map<unknown, unknown>([
        [1, 'a'],
        ['1', 'b'],
      ]),
      [
        [1, 'a'],
        ['1', 'b'],
      ],
    ],
    ['a Set in a Map in a list', [new Map([['tags', new Set(['x', 'y'])]])], [{ tags: ['x', 'y'] }]],
    ['a Map of another realm', runInNewContext('new Map([["a", new Set([1])]])'), { a: [1] }],
    ['a BigInt', { id: 9_007_199_254_740_993n }, { id: '9007199254740993' }],
    [
      'bytes',
      { bytes: Buffer.from('secret'), typed: new Float64Array(2) },
      { bytes: '[6 bytes]', typed: '[16 bytes]' },
    ],
    ['a cycle', circle, [1, { circle: '[Circular]' }]],
    ['one object twice', [shared, shared], [shared, shared]],
    ['a toJSON', { toJSON: () => new Map([['a', 1]]) }, { a: 1 }],
    ['a URL', new URL('http://127.0.0.1/a'), 'http://127.0.0.1/a'],
    [
      'what JSON omits',
      { a: undefined, b: () => 1, list: [undefined, Symbol('x'), Number.NaN] },
      { list: [null, null, null] },
    ],
    ['a list with a hole', Array.from({ length: 2 }), [null, null]],
    ['a key __proto__', JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ])('%s', (_, value, expected) => {
    expect(plain(value)).toEqual(expected)
  })

  test('an Error: type, message, stack, causes, its own properties', () => {
    const cause = Object.assign(new TypeError('no price'), { code: 'E_PRICE', at: new Map([['line', 7]]) })
    const error = Object.assign(new RangeError('no order', { cause }), { order: 9n })
    expect(plain({ err: error, list: [error] })).toMatchObject({
      err: {
        type: 'RangeError',
        message: 'no order',
        stack: expect.stringContaining('RangeError: no order\n') as string,
        order: '9',
        cause: { type: 'TypeError', message: 'no price', code: 'E_PRICE', at: { line: 7 } },
      },
      list: [{ type: 'RangeError', message: 'no order' }],
    })
  })

  test('an Error that refers to itself, one of another realm, and one with credentials', () => {
    const own = Object.assign(new Error('own'), { self: undefined as unknown })
    own.self = { own }
    expect(plain(own)).toMatchObject({ message: 'own', self: { own: { message: 'own' } } })
    expect(plain(runInNewContext('new RangeError("far")'))).toMatchObject({ type: 'RangeError', message: 'far' })
    const http = Object.assign(new Error('500'), {
      config: { url: '/pay', method: 'post', headers: { authorization: 'secret' } },
    })
    const redis = Object.assign(new Error('WRONGPASS'), { command: { name: 'auth', args: ['secret'] } })
    expect(JSON.stringify([plain(http), plain({ redis })])).not.toContain('secret')
  })
})

test("an Error as the entry's error fills the field; its other properties are in the metadata", async () => {
  const service = await started()
  const client = new IngestClient({ url: service.url, apiKey: 'key' })
  const error = Object.assign(new RangeError('no order', { cause: new TypeError('no price') }), { code: 'E_ORDER' })
  const entry: LogEntryInput = { ...ENTRY, error, metadata: { error: 'own', seen: new Set([1]) }, tags: ['a'] }
  const before = structuredClone({ ...entry, error: undefined })
  await expect(client.ingest({ logs: [entry, { ...ENTRY, error: new Error('x') }] })).resolves.toMatchObject({
    rejected: 0,
  })
  await client.close()
  const [bare, whole] = service.entries().items.map((stored) => stored.entry)
  expect(whole).toMatchObject({
    error: {
      type: 'RangeError',
      message: 'no order',
      stack: expect.stringMatching(/^RangeError: no order\n[^]*\ncaused by: TypeError: no price\n/) as string,
    },
    metadata: {
      error: 'own',
      error_: { code: 'E_ORDER', cause: { type: 'TypeError', message: 'no price' } },
      seen: [1],
    },
  })
  expect(Object.keys(whole?.error ?? {})).toEqual(['type', 'message', 'stack'])
  expect(bare).toMatchObject({ error: { type: 'Error', message: 'x' } })
  expect(bare?.metadata).toBeUndefined()
  expect({ ...entry, error: undefined }).toEqual(before)
  expect(entry.error).toBe(error)
})

test('a getter or a toJSON that throws is INVALID, and nothing is sent', async () => {
  const client = new IngestClient({ url: 'http://127.0.0.1:9/api/v1', apiKey: 'key', maxAttempts: 1 })
  const throwing = [
    Object.defineProperty({}, 'a', { enumerable: true, get: () => readFileSync('/no/such/file') }),
    {
      toJSON: () => {
        throw new TypeError('no JSON')
      },
    },
  ]
  for (const value of throwing)
    await expect(client.ingest({ logs: [{ ...ENTRY, metadata: { value } }] })).rejects.toMatchObject({
      name: 'IngestError',
      code: 'INVALID',
      message: expect.stringContaining('batch cannot be read') as string,
    })
  await client.close()
})
