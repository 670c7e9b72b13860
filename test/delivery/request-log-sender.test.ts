/**
 * Request logs on the wire: the body, the effect of each reply, and all stages with a scripted server and the local
 * service.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { createHttp } from '../../src/client/http.js'
import type { HttpReply, HttpRequestInit } from '../../src/client/http-types.js'
import { systemClock } from '../../src/shared/clock.js'
import { ApiKey } from '../../src/options/api-key.js'
import { createRequestsSender } from '../../src/delivery/request-log-sender.js'
import { createBatchBody } from '../../src/batch/sub-batch.js'
import type { RequestLog } from '../../src/protocol/resources.js'
import type { Batch } from '../../src/batch/batch.js'
import type { Outcome } from '../../src/batch/outcome.js'
import { FakeClock } from '../fake-clock.js'
import { httpServer } from '../client/http-servers.js'
import { setupReal } from './setup.js'
import { requestLog, started } from '../service/support.js'

const BATCH_ID = '6ba7b810-9dad-41d1-80b4-00c04fd430c8'

function logOf(n: number, over: object = {}): RequestLog {
  return { ...requestLog, path: `/n/${n}`, request_id: `id-${n}`, ...over }
}

function batchOf(logs: readonly object[]): Batch {
  return {
    batchId: BATCH_ID,
    count: logs.length,
    highestSeverity: 1,
    body: createBatchBody(
      BATCH_ID,
      logs.map((one) => JSON.stringify(one)),
    ),
  }
}

interface Call {
  readonly path: string
  readonly body: Buffer
  readonly init: HttpRequestInit | undefined
}

async function sent(reply: Partial<HttpReply>, batch: Batch): Promise<{ outcome: Outcome; calls: Call[] }> {
  const calls: Call[] = []
  const sender = createRequestsSender({
    clock: new FakeClock(),
    http: {
      post: (path, body, init) => {
        calls.push({ path, body: Buffer.from(body as Uint8Array), init })
        return Promise.resolve({ status: 200, headers: {}, text: '', truncated: false, ...reply })
      },
    },
  })
  const outcome = await sender.send(batch, new AbortController().signal)
  return { outcome, calls }
}

const TEN = batchOf(Array.from({ length: 10 }, (_, n) => logOf(n)))

describe('the request', () => {
  test('contains only the list, byte for byte, and does not change the batch', async () => {
    const awkward = [logOf(0, { path: '/"logs":[ä😀' }), logOf(1)]
    const batch = batchOf(awkward)
    const before = Buffer.from(batch.body)
    const { calls } = await sent({}, batch)
    expect(calls.map(({ path, body }) => [path, body.toString()])).toEqual([
      ['/ingest/requests', JSON.stringify({ requests: awkward })],
    ])
    expect(Buffer.from(batch.body)).toEqual(before)
  })

  test('is not sent if the body is missing', async () => {
    const { outcome, calls } = await sent({}, { ...TEN, body: Buffer.alloc(0) })
    expect(outcome).toMatchObject({ kind: 'abandoned', reason: expect.stringContaining('bug') })
    expect(calls).toEqual([])
  })
})

function result(accepted: number, rejected: number, indices: readonly number[]): string {
  return JSON.stringify({
    accepted,
    rejected,
    message: 'm',
    errors: indices.map((index) => ({ index, code: 'VALIDATION_ERROR', field: 'path', message: 'bad' })),
  })
}

const detail = (...loc: (string | number)[]): string =>
  JSON.stringify({ detail: [{ loc, msg: 'field required', type: 'value_error.missing' }] })

describe('the reply', () => {
  test.each([
    [200, ''],
    [201, '{}'],
    [202, '"OK"'],
    [204, ''],
    [200, '{"stored":10}'],
    [200, '[]'],
    [200, '{"accepted":"all","rejected":0}'],
  ])('%i %j is a success: any JSON, or nothing', async (status, text) => {
    expect((await sent({ status, text }, TEN)).outcome).toEqual({
      kind: 'delivered',
      accepted: 10,
      rejected: [],
      status,
    })
  })

  test.each(['OK', '<html>', '{"accepted":10'])(
    '200 %j comes from another program: the batch is kept as for a 404',
    async (text) => {
      expect((await sent({ text }, TEN)).outcome).toMatchObject({
        kind: 'endpoint-rejected',
        status: 200,
        reason: expect.stringContaining(text),
      })
    },
  )

  test('an ingest result is used', async () => {
    expect((await sent({ text: result(10, 0, []) }, TEN)).outcome).toEqual({
      kind: 'delivered',
      accepted: 10,
      rejected: [],
      status: 200,
    })
    expect((await sent({ text: result(8, 2, [3, 5]) }, TEN)).outcome).toMatchObject({
      kind: 'delivered',
      accepted: 8,
      rejected: [{ index: 3 }, { index: 5 }],
    })
    expect((await sent({ status: 422, text: result(9, 1, [3]) }, TEN)).outcome).toMatchObject({
      kind: 'delivered',
      accepted: 9,
      status: 422,
    })
    expect((await sent({ status: 422, text: result(0, 1, [3]) }, TEN)).outcome).toMatchObject({
      kind: 'refused',
      rejected: [{ index: 3, field: 'path' }],
      reason: 'status 422: m; requests[3].path: bad',
    })
  })

  test("the framework's form names request logs by their position in `requests`", async () => {
    const text = detail('body', 'requests', 3, 'path')
    expect((await sent({ status: 422, text }, TEN)).outcome).toMatchObject({
      kind: 'refused',
      rejected: [{ index: 3, field: 'path', message: 'field required' }],
    })
    expect((await sent({ status: 422, text: detail('body', 'requests', 10, 'path') }, TEN)).outcome).toMatchObject({
      kind: 'refused',
      rejected: [],
    })
    expect((await sent({ status: 422, text: detail('body', 'requests') }, TEN)).outcome).toMatchObject({
      kind: 'refused',
      rejected: [],
    })
    // The location belongs to another endpoint: no request log is at fault.
    expect((await sent({ status: 422, text: detail('body', 'logs', 3, 'path') }, TEN)).outcome).toMatchObject({
      kind: 'endpoint-rejected',
      status: 422,
    })
  })

  test.each<[number, Outcome['kind']]>([
    [400, 'refused'],
    [413, 'refused'],
    [422, 'refused'],
    [408, 'retryable'],
    [429, 'retryable'],
    [500, 'retryable'],
    [503, 'retryable'],
    [301, 'endpoint-rejected'],
    [401, 'endpoint-rejected'],
    [403, 'endpoint-rejected'],
    [404, 'endpoint-rejected'],
    [405, 'endpoint-rejected'],
  ])('%i: %s, as for entries', async (status, kind) => {
    const { outcome } = await sent({ status, text: 'no', headers: { 'retry-after': '3' } }, TEN)
    expect(outcome).toMatchObject({ kind, status })
    expect('retryAfterMs' in outcome && outcome.retryAfterMs).toBe([429, 503].includes(status) ? 3_000 : false)
  })
})

/** All stages of a pipeline, until the batch is settled. */
async function through(url: string, logs: readonly object[], later: readonly object[] = []) {
  const http = createHttp({ url, apiKey: new ApiKey('k'), requestTimeoutMs: 5_000, maxConnections: 4 })
  onTestFinished(() => http.close())
  const one = setupReal(createRequestsSender({ http, clock: systemClock }))
  one.scheduler.enqueue(batchOf(logs))
  for (const [n, log] of later.entries()) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    one.scheduler.enqueue({ ...batchOf([log]), batchId: `6ba7b810-9dad-41d1-80b4-00c04fd4300${n}` })
  }
  await one.scheduler.flush()
  return one
}

const BAD = [7, 33, 99]
const HUNDRED = Array.from({ length: 100 }, (_, n) => logOf(n))
const badPaths = HUNDRED.map((one, n) => (BAD.includes(n) ? { ...one, path: n } : one))

test('the local service accepts the good ones once, the others become dead letters with its reason', async () => {
  const service = await started({ apiKeys: ['k'] })
  const { account, letters } = await through(service.url, badPaths)
  expect(account).toMatchObject({ accepted: 97, rejected: 3 })
  expect(
    letters
      .map(({ index, status, field, entry }) => [index, status, field, JSON.parse(entry)])
      .toSorted((a, b) => Number(a[0]) - Number(b[0])),
  ).toEqual(BAD.map((n) => [n, 422, 'path', { ...logOf(n), path: n }]))
  const stored = service.requestLogs({ limit: Infinity }).items.map(({ request }) => request)
  expect(stored.toSorted((a, b) => a.path.localeCompare(b.path))).toEqual(
    HUNDRED.filter((_, n) => !BAD.includes(n)).toSorted((a, b) => a.path.localeCompare(b.path)),
  )
})

test('finds the bad ones if the server names none', async () => {
  const taken: RequestLog[] = []
  const server = await httpServer((response, { body }) => {
    const { requests } = JSON.parse(body) as { requests: RequestLog[] }
    const isGood = requests.every(({ path }) => typeof path === 'string')
    if (isGood) taken.push(...requests)
    response.writeHead(isGood ? 201 : 400).end(isGood ? '' : 'bad request')
  })
  const later = Array.from({ length: 9 }, (_, n) => logOf(100 + n))
  const { account, letters } = await through(`${server.origin}/api/v1`, badPaths, later)
  expect(account).toMatchObject({ accepted: 97 + 9, rejected: 3 })
  expect(letters.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(BAD)
  expect(taken.map(({ request_id }) => request_id).toSorted()).toEqual(
    [...HUNDRED.filter((_, n) => !BAD.includes(n)), ...later].map(({ request_id }) => request_id).toSorted(),
  )
  expect(
    server.came.every(({ url, headers }) => url === '/api/v1/ingest/requests' && headers['x-api-key'] === 'k'),
  ).toBe(true)
})

test('retries a failure with the same bytes', async () => {
  let attempts = 0
  const server = await httpServer((response) => {
    attempts += 1
    response.writeHead(attempts < 3 ? 503 : 200).end()
  })
  expect((await through(`${server.origin}/api/v1`, HUNDRED)).account).toMatchObject({ accepted: 100 })
  expect(new Set(server.came.map(({ body }) => body))).toEqual(new Set([JSON.stringify({ requests: HUNDRED })]))
  expect(attempts).toBe(3)
})
