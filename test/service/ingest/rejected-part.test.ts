/** What a rejection says about the rejected entry. */
import { expect, test } from 'vitest'
import { describeRejected } from '../../../src/service/ingest/ingest-replies.js'

const body = {
  logs: [
    { level: 'info', message: 'm' },
    { level: 'trace', message: 'x'.repeat(500), service: 'shop', user: { id: 7 }, tags: [1] },
  ],
}

test('value, message and service, shortened', () => {
  const entry = { message: `${'x'.repeat(199)}…`, service: 'shop' }
  expect(describeRejected(body, ['logs', 1, 'level'])).toEqual({ value: '"trace"', entry })
  expect(describeRejected(body, ['logs', 1, 'user', 'id'])).toEqual({ value: '7', entry })
  expect(describeRejected(body, ['logs', 1, 'tags', 0])).toEqual({ value: '1', entry })
  expect(describeRejected(body, ['logs', 0, 'timestamp'])).toEqual({ entry: { message: 'm' } })
  expect(describeRejected(body, ['logs', 1]).value).toHaveLength(300)
})

test('a value of any depth and size', () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 50_000; depth += 1) deep = [deep]
  const logs = [{ level: deep, message: 'm', tags: Array(100_000).fill('x'.repeat(100)) }]
  expect(describeRejected({ logs }, ['logs', 0, 'level'])).toEqual({ value: '[[[["…"]]]]', entry: { message: 'm' } })
  expect(describeRejected({ logs }, ['logs']).value).toHaveLength(300)
})

test('of other bodies only the value', () => {
  expect(describeRejected({ version: 7 }, ['version'])).toEqual({ value: '7' })
  expect(describeRejected({ logs: 'none' }, ['logs'])).toEqual({ value: '"none"' })
  expect(describeRejected([1], [])).toEqual({})
  expect(describeRejected(undefined, ['logs', 3, 'level'])).toEqual({})
  expect(describeRejected({ logs: [null] }, ['logs', 0, 'constructor', 'name'])).toEqual({})
})
