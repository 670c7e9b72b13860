/** Entries of `IngestClient.ingest`: errors, which JSON.stringify would reduce to `{}`, are sent as data. */
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { toPlainBatch } from '../../src/client/plain-data.js'
import { IngestClient } from '../../src/client/index.js'
import type { LogEntryInput } from '../../src/client/index.js'
import { started } from '../service/support.js'

const TIME = '2026-01-31T08:00:00.000Z'
const ENTRY = { level: 'error', message: 'failed', timestamp: TIME } as const

function plain(value: unknown): unknown {
  const { logs } = toPlainBatch({ logs: [{ ...ENTRY, metadata: { value } }] }) as {
    logs: [{ metadata: { value: unknown } }]
  }
  return logs[0].metadata.value
}

describe('a value in the metadata', () => {
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
  const list: unknown[] = [1]
  list.push(list)
  const entry: LogEntryInput = {
    ...ENTRY,
    error,
    metadata: { error: 'own', id: 9_007_199_254_740_993n, list },
    tags: ['a'],
  }
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
      id: '9007199254740993',
      list: [1, '[Circular]'],
    },
  })
  expect(Object.keys(whole?.error ?? {})).toEqual(['type', 'message', 'stack'])
  expect(bare).toMatchObject({ error: { type: 'Error', message: 'x' } })
  expect(bare?.metadata).toBeUndefined()
  expect({ ...entry, error: undefined }).toEqual(before)
  expect(entry.error).toBe(error)
})

test('a getter or a toJSON that throws is marked', () => {
  const fail = (): never => {
    throw new TypeError('no value')
  }
  const holder = Object.defineProperty({ toJson: { toJSON: fail } }, 'a', { enumerable: true, get: fail })
  expect(plain(holder)).toEqual({ toJson: '[unreadable]', a: '[unreadable]' })
})
