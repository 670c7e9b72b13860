import { describe, expect, test } from 'vitest'
import { HttpFailure } from '../../src/client/http-types.js'
import type { Http, HttpReply, HttpRequestInit } from '../../src/client/http-types.js'
import { createIngestSender } from '../../src/delivery/ingest-sender.js'
import type { Batch } from '../../src/batch/batch.js'
import { FakeClock } from '../fake-clock.js'

const BODY = '{"batch_id":"b","logs":[{"message":"äöü"}]}'

interface Call {
  readonly path: string
  readonly body: Uint8Array
  readonly init: HttpRequestInit | undefined
}

function setup(reply: Partial<HttpReply> | Error) {
  const calls: Call[] = []
  const http: Pick<Http, 'post'> = {
    post: (path, body, init) => {
      calls.push({ path, body: body as Uint8Array, init })
      if (reply instanceof Error) return Promise.reject(reply)
      return Promise.resolve({ status: 200, headers: {}, text: '', truncated: false, ...reply })
    },
  }
  const sender = createIngestSender({ http, clock: new FakeClock(Date.UTC(2025, 0, 1)) })
  const signal = new AbortController().signal
  const batch: Batch = { batchId: 'b', count: 10, highestSeverity: 1, body: Buffer.from(BODY) }
  return { calls, signal, send: (count = 10) => sender.send({ ...batch, count }, signal) }
}

function item(index: number) {
  return { index, code: 'VALIDATION_ERROR', field: 'level', message: 'invalid level' }
}

function result(
  accepted: number,
  rejected: number,
  errors = Array.from({ length: rejected }, (_, index) => item(index)),
) {
  return JSON.stringify({ accepted, message: 'done', rejected, errors })
}

/** Counts that cannot be those of 10 entries. */
const IMPOSSIBLE: [accepted: number, rejected: number, errors: ReturnType<typeof item>[]][] = [
  [0, 0, []],
  [0, 1000, []],
  [10, 10, []],
  [10, 1, []],
  [5, 100, []],
  [11, 1, []],
  [11, 0, [item(1)]],
  [0, 0, [item(5000)]],
  [9, 1, [item(10)]],
]

describe('the request', () => {
  test('is one POST of the unchanged body, with the signal', async () => {
    const { calls, send, signal } = setup({ text: result(10, 0) })
    await send()
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject({ path: '/ingest', init: { signal } })
    expect(Buffer.from(calls[0]?.body ?? []).toString()).toBe(BODY)
  })
})

describe('2xx', () => {
  test('with an ingest result is delivered', async () => {
    expect(await setup({ text: result(10, 0) }).send()).toEqual({
      kind: 'delivered',
      accepted: 10,
      rejected: [],
      status: 200,
    })
    expect(await setup({ status: 202, text: result(10, 0) }).send()).toMatchObject({ kind: 'delivered', accepted: 10 })
  })

  test('the same reply is applied to batches of different sizes', async () => {
    const { send } = setup({ text: result(8, 0, [item(9)]) })
    expect(await send(5)).toMatchObject({ kind: 'endpoint-rejected', status: 200 })
    expect(await send(10)).toEqual({ kind: 'delivered', accepted: 8, rejected: [item(9)], status: 200 })
    expect(await send(20)).toMatchObject({ kind: 'delivered', accepted: 8 })
  })

  test('names the rejected entries', async () => {
    const outcome = await setup({ text: result(8, 2) }).send()
    expect(outcome).toEqual({ kind: 'delivered', accepted: 8, rejected: [item(0), item(1)], status: 200 })
  })

  test('counts an entry with two errors once, and ignores an error without a position', async () => {
    const text = result(9, 1, [item(4), { ...item(4), field: 'message' }, item(-1)])
    const rejected = [item(4), { ...item(4), field: 'message' }]
    expect(await setup({ text }).send()).toEqual({ kind: 'delivered', accepted: 9, rejected, status: 200 })
  })

  test('uses the larger number of rejected entries', async () => {
    expect(await setup({ text: result(7, 3, []) }).send()).toMatchObject({ accepted: 7 })
    expect(await setup({ text: result(10, 0, [item(1)]) }).send()).toMatchObject({ accepted: 9 })
    expect(await setup({ text: result(0, 9, []) }).send()).toMatchObject({ accepted: 0 })
  })

  test('that counts fewer entries than were sent: the missing ones are rejected', async () => {
    expect(await setup({ text: result(6, 0, []) }).send()).toMatchObject({
      kind: 'delivered',
      accepted: 6,
      rejected: [],
    })
  })

  test.each(IMPOSSIBLE)(
    'that counts %i accepted and %i rejected of 10, errors %j, is no success',
    async (...counts) => {
      const outcome = await setup({ text: result(...counts) }).send()
      expect(outcome).toMatchObject({ kind: 'endpoint-rejected', status: 200, reason: expect.stringContaining('10') })
    },
  )

  test('that accepts more entries than were sent, and rejects none, is delivered, but marked unreadable', async () => {
    for (const accepted of [11, 1000]) {
      expect(await setup({ text: result(accepted, 0) }).send()).toEqual({
        kind: 'delivered',
        accepted: 10,
        rejected: [],
        status: 200,
        unreadable: true,
      })
    }
  })

  test('without a body, or with an object without `accepted`, is delivered, but marked unreadable', async () => {
    for (const [status, text] of [
      [200, ''],
      [204, ''],
      [205, ' \n'],
      [200, '{"status":"ok"}'],
    ] as const) {
      expect(await setup({ status, text }).send()).toEqual({
        kind: 'delivered',
        accepted: 10,
        rejected: [],
        status,
        unreadable: true,
      })
    }
  })

  test.each(['<html>', 'OK', '[]', 'null', '"ok"', '{"accepted":"all","rejected":0}', '{"accepted":10,"rejected":0'])(
    'with %s comes from another program: the batch is kept as for a 404',
    async (text) => {
      const headers = { 'content-type': 'text/html' }
      expect(await setup({ text, headers }).send()).toEqual({
        kind: 'endpoint-rejected',
        status: 200,
        reason: `status 200, text/html: ${text}`,
      })
    },
  )

  test('that is too long is judged by its beginning: a truncated result counts as delivered', async () => {
    const text = result(0, 10, [item(0)]).slice(0, -9)
    expect(await setup({ text, truncated: true }).send()).toEqual({
      kind: 'delivered',
      accepted: 10,
      rejected: [],
      status: 200,
      unreadable: true,
    })
    expect(await setup({ text: '<html>', truncated: true }).send()).toMatchObject({
      kind: 'endpoint-rejected',
      status: 200,
    })
  })
})

describe('refused content', () => {
  test('a 422 with accepted entries is delivered, since a retry would duplicate them', async () => {
    const outcome = await setup({ status: 422, text: result(9, 1) }).send()
    expect(outcome).toEqual({ kind: 'delivered', accepted: 9, rejected: [item(0)], status: 422 })
    expect(await setup({ status: 422, text: result(7, 0) }).send()).toMatchObject({ kind: 'delivered', accepted: 7 })
  })

  test('a 422 that accepts more entries than were sent, and rejects none, is delivered, but marked unreadable', async () => {
    expect(await setup({ status: 422, text: result(11, 0) }).send()).toEqual({
      kind: 'delivered',
      accepted: 10,
      rejected: [],
      status: 422,
      unreadable: true,
    })
  })

  test.each(IMPOSSIBLE)(
    'a 422 that counts %i accepted and %i rejected of 10, errors %j, settles nothing',
    async (...counts) => {
      const outcome = await setup({ status: 422, text: result(...counts) }).send()
      expect(outcome).toMatchObject({ kind: 'endpoint-rejected', status: 422 })
    },
  )

  test('a 422 without accepted entries names the rejected ones', async () => {
    const outcome = await setup({ status: 422, text: result(0, 1, [item(3)]) }).send()
    expect(outcome).toMatchObject({ kind: 'refused', status: 422, rejected: [item(3)] })
  })

  test('a 422 of the framework names the entries by position', async () => {
    const detail = [{ loc: ['body', 'logs', 2, 'message'], msg: 'field required', type: 'value_error.missing' }]
    const outcome = await setup({ status: 422, text: JSON.stringify({ detail }) }).send()
    expect(outcome).toMatchObject({
      kind: 'refused',
      rejected: [{ index: 2, field: 'message', message: 'field required' }],
    })
  })

  test('a `loc` outside the entries is a misconfiguration, unless another one names an entry', async () => {
    const elsewhere = { loc: ['body', 'batch_id'], msg: 'field required', type: 'value_error.missing' }
    expect(await setup({ status: 422, text: JSON.stringify({ detail: [elsewhere] }) }).send()).toEqual({
      kind: 'endpoint-rejected',
      status: 422,
      reason: 'status 422: body.batch_id: field required',
    })
    const both = [elsewhere, { ...elsewhere, loc: ['body', 'logs', 2, 'level'] }]
    expect(await setup({ status: 422, text: JSON.stringify({ detail: both }) }).send()).toMatchObject({
      kind: 'refused',
      rejected: [{ index: 2 }],
    })
    for (const loc of [['body'], ['body', 'logs'], ['body', 17]]) {
      const outcome = await setup({ status: 422, text: JSON.stringify({ detail: [{ ...elsewhere, loc }] }) }).send()
      expect(outcome).toMatchObject({ kind: 'refused', rejected: [] })
    }
  })

  test.each([400, 413, 422])('%i without a named entry is refused with the reason', async (status) => {
    const outcome = await setup({ status, text: 'not like this' }).send()
    expect(outcome).toMatchObject({
      kind: 'refused',
      status,
      rejected: [],
      reason: expect.stringContaining(`${status}`),
    })
  })
})

describe('not now', () => {
  test('429 with Retry-After in seconds, 503 with a date', async () => {
    const limited = await setup({ status: 429, headers: { 'retry-after': '3' } }).send()
    expect(limited).toMatchObject({ kind: 'retryable', status: 429, retryAfterMs: 3000 })
    // Without a Date header the date is relative to the clock, which is at midnight.
    const headers = { 'retry-after': 'Wed, 01 Jan 2025 00:00:07 GMT' }
    expect(await setup({ status: 503, headers }).send()).toMatchObject({
      kind: 'retryable',
      status: 503,
      retryAfterMs: 7000,
    })
  })

  test.each([408, 425, 500, 502, 504])('%i; a timeout or a gateway may have stored the batch', async (status) => {
    const outcome = await setup({ status }).send()
    const cause = [408, 502, 504].includes(status) ? 'mayBeStored' : 'mayConcernContent'
    expect(outcome).toMatchObject({ kind: 'retryable', status, [cause]: true })
    expect(outcome).not.toHaveProperty('retryAfterMs')
  })

  test.each(['network', 'timeout', 'aborted'] as const)('%s', async (kind) => {
    expect(await setup(new HttpFailure(kind, `why: ${kind}`)).send()).toEqual({
      kind: 'retryable',
      reason: `why: ${kind}`,
      ...(kind === 'timeout' && { mayBeStored: true }),
    })
  })

  test.each(['descriptors', 'client'] as const)('a failure of this process has its own remedy: %s', async (kind) => {
    expect(await setup(new HttpFailure(kind, 'why', 'do this')).send()).toEqual({
      kind: 'retryable',
      reason: 'why; do this',
      processFailure: kind,
    })
  })

  test('an unexpected error keeps the batch, too', async () => {
    expect(await setup(new TypeError('bug')).send()).toEqual({ kind: 'retryable', reason: 'bug' })
  })
})

test.each([301, 302, 307, 308, 401, 403, 404, 405])('%i is a misconfiguration', async (status) => {
  expect(await setup({ status, text: 'no' }).send()).toMatchObject({ kind: 'endpoint-rejected', status })
})
