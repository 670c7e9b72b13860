/** The entry of a response gets the request fields from the entry of its request. */
import { expect, test } from 'vitest'
import { piped } from './create-pipeline.js'

interface Named {
  readonly id?: string
  readonly url?: string
  readonly pid?: number
}

const begun = ({ id = 'req-1', url = '/orders/7?a=b', pid = 1 }: Named = {}): object => ({
  pid,
  reqId: id,
  req: { method: 'GET', url, host: 'shop:80', remoteAddress: '10.0.0.1', remotePort: 1 },
  msg: 'incoming request',
})
const ended = ({ id = 'req-1', pid = 1 }: Named = {}): object => ({
  pid,
  reqId: id,
  res: { statusCode: 200 },
  responseTime: 2.5,
  msg: 'request completed',
})
const failed = { type: 'Error', message: 'boom', stack: 'Error: boom\n    at f (/app/a.js:1:2)' }

const JOINED = {
  method: 'GET',
  url: '/orders/7?a=b',
  path: '/orders/7',
  ip: '10.0.0.1',
  status_code: 200,
  duration_ms: 2.5,
}

test('has method, URL, path, address, host and route', async () => {
  const { write, arrived } = await piped()
  write(
    { ...begun(), route: '/orders/:id' },
    { reqId: 'req-1', msg: 'inside' },
    { reqId: 'req-1', res: { statusCode: 400 }, err: failed, msg: 'boom' },
    ended(),
    ended(),
  )
  const [, inside, error, end, again] = await arrived()
  expect(inside?.request).toBeUndefined()
  expect(error).toMatchObject({ request: { method: 'GET', path: '/orders/7', status_code: 400 }, request_id: 'req-1' })
  expect(end).toMatchObject({
    message: 'request completed',
    request: JOINED,
    metadata: { route: '/orders/:id', req: { host: 'shop:80' } },
  })
  // A request ends only once.
  expect(again?.request).toEqual({ status_code: 200, duration_ms: 2.5 })
})

test('works if the first entry of the request is not sent', async () => {
  const below = await piped({ sendLevel: 'warn' })
  below.write(begun(), { ...ended(), level: 50, err: failed, msg: 'request errored' })
  expect(await below.arrived()).toMatchObject([{ message: 'request errored', request: JOINED }])
  const sampled = await piped({ sample: { info: 0 } })
  sampled.write(begun(), { ...ended(), level: 40 })
  expect(await sampled.arrived()).toMatchObject([{ request: JOINED }])
  expect(sampled.pipeline.snapshot).toMatchObject({ received: 2, accepted: 1, filtered: 1, balances: true })
})

test('a response below the sent level ends its request', async () => {
  const { write, arrived } = await piped({ sendLevel: 'warn' })
  write(begun(), ended(), { ...ended(), level: 40 })
  expect((await arrived())[0]?.request).not.toHaveProperty('method')
})

test('separates processes with the same ids in one pipe', async () => {
  const { write, arrived } = await piped()
  write(begun({ url: '/a' }), begun({ url: '/b', pid: 2 }), ended(), ended({ pid: 2 }))
  expect((await arrived()).slice(2).map(({ request }) => request?.path)).toEqual(['/a', '/b'])
  const alike = await piped()
  alike.write(begun({ url: '/a' }), begun({ url: '/b' }), ended())
  expect((await alike.arrived()).at(-1)?.request).not.toHaveProperty('path')
})

test('adds only fields that may be sent', async () => {
  const { write, arrived } = await piped({ scrub: { patterns: ['email'] } })
  const headers = { cookie: 'sid=SECRET', authorization: 'Bearer SECRET' }
  write(
    {
      reqId: 'r',
      req: { method: 'GET', url: '/x?token=SECRET&mail=jane@example.com', headers, body: 'SECRET' },
      msg: 'incoming request',
    },
    ended({ id: 'r' }),
  )
  const [begin, end] = await arrived()
  expect(end?.request).toMatchObject({ method: 'GET', path: '/x' })
  expect(end?.request?.url).toBe(begin?.request?.url)
  expect(JSON.stringify(end)).not.toMatch(/SECRET|jane@/)
})

test('supports configured names, and an error with breadcrumbs', async () => {
  const { write, arrived } = await piped({
    pino: { customAttributeKeys: { req: 'q', res: 's', responseTime: 'took', reqId: 'rid', err: 'fault' } },
  })
  write(
    { rid: 1, q: { method: 'put', url: '/x', remotePort: 1 }, msg: 'begins' },
    { rid: 1, level: 20, msg: 'a step' },
    { rid: 1, level: 50, s: { statusCode: 500 }, fault: { message: 'm' }, took: 7, msg: 'ends' },
  )
  expect((await arrived()).at(-1)).toMatchObject({
    request_id: '1',
    request: { method: 'PUT', path: '/x', status_code: 500, duration_ms: 7 },
    error: { message: 'm' },
    metadata: { q: { remotePort: 1 } },
    breadcrumbs: [{ message: 'begins' }, { message: 'a step' }],
  })
})

test('the id of a scope does not hide that of the framework', async () => {
  const { write, arrived } = await piped()
  write(begun(), { ...ended(), request_id: 'scope' })
  expect((await arrived())[1]).toMatchObject({ request_id: 'scope', request: JOINED, metadata: { reqId: 'req-1' } })
})
