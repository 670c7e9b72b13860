/** One request, and what each reply means for entries and for request logs; the latter also with real servers. */
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import type { Outcome } from '../../src/batch/outcome.js'
import { createBatchBody } from '../../src/batch/sub-batch.js'
import { createHttp } from '../../src/client/http.js'
import { HttpFailure } from '../../src/client/http-types.js'
import type { Http, HttpReply, HttpRequestInit } from '../../src/client/http-types.js'
import { createIngestSender, createRequestsSender } from '../../src/delivery/ingest-sender.js'
import { ApiKey } from '../../src/options/api-key.js'
import type { RequestLog } from '../../src/protocol/resources.js'
import { systemClock } from '../../src/shared/clock.js'
import { httpServer } from '../client/http-servers.js'
import { FakeClock } from '../fake-clock.js'
import { requestLog, started } from '../service/support.js'
import { setupReal } from './setup.js'

const logOf = (n: number, over: object = {}): object => ({
  ...requestLog,
  path: `/n/${n}`,
  request_id: `id-${n}`,
  ...over,
})

function batchOf(logs: readonly object[], batchId = 'b'): Batch {
  const body = createBatchBody(
    batchId,
    logs.map((one) => JSON.stringify(one)),
  )
  return { batchId, count: logs.length, highestSeverity: 1, body }
}

const TEN = batchOf(Array.from({ length: 10 }, (_, n) => logOf(n)))

interface Call {
  readonly path: string
  readonly body: string
  readonly init: HttpRequestInit | undefined
}

function setup(reply: Partial<HttpReply> | Error, create = createIngestSender) {
  const calls: Call[] = []
  const http: Pick<Http, 'post'> = {
    post: (path, body, init) => {
      calls.push({ path, body: Buffer.from(body as Uint8Array).toString(), init })
      if (reply instanceof Error) return Promise.reject(reply)
      return Promise.resolve({ status: 200, headers: {}, text: '', truncated: false, ...reply })
    },
  }
  const sender = create({ http, clock: new FakeClock(Date.UTC(2025, 0, 1)) })
  const { signal } = new AbortController()
  return { calls, signal, send: (batch: Partial<Batch> = {}) => sender.send({ ...TEN, ...batch }, signal) }
}

/** The outcomes of a batch of ten entries, and of ten request logs. */
const ofEntries = (status: number, text: string, more: Partial<HttpReply> = {}): Promise<Outcome> =>
  setup({ status, text, ...more }).send()
const ofRequests = (status: number, text: string, more: Partial<HttpReply> = {}): Promise<Outcome> =>
  setup({ status, text, ...more }, createRequestsSender).send()

const item = (index: number) => ({ index, code: 'VALIDATION_ERROR', field: 'level', message: 'bad' })
const items = (count: number) => Array.from({ length: count }, (_, index) => item(index))

function result(accepted: number, rejected: number, errors = items(rejected)): string {
  return JSON.stringify({ accepted, message: 'm', rejected, errors })
}

const detail = (...locs: (string | number)[][]): string =>
  JSON.stringify({ detail: locs.map((loc) => ({ loc, msg: 'field required', type: 'value_error.missing' })) })

test('the request is one POST of the unchanged body, with the signal', async () => {
  const { calls, send, signal } = setup({ text: result(10, 0) })
  await send()
  expect(calls).toEqual([{ path: '/ingest', body: Buffer.from(TEN.body).toString(), init: { signal } }])
})

test('request logs: it contains only the list, byte for byte, and does not change the batch', async () => {
  const awkward = [logOf(0, { path: '/"logs":[ä😀' }), logOf(1)]
  const batch = batchOf(awkward)
  const before = Buffer.from(batch.body)
  const { calls, send } = setup({}, createRequestsSender)
  await send(batch)
  expect(calls).toMatchObject([{ path: '/ingest/requests', body: JSON.stringify({ requests: awkward }) }])
  expect(Buffer.from(batch.body)).toEqual(before)
})

test.each([createIngestSender, createRequestsSender])('a batch without its body is not sent (%#)', async (create) => {
  const { calls, send } = setup({}, create)
  expect(await send({ body: Buffer.alloc(0) })).toMatchObject({ kind: 'abandoned' })
  expect(calls).toEqual([])
})

describe('a reply that accepts entries', () => {
  const twice = [item(4), { ...item(4), field: 'message' }]
  test.each<[status: number, text: string, accepted: number, rejected: object[], isUnreadable?: boolean]>([
    [200, result(10, 0), 10, []],
    [202, result(10, 0), 10, []],
    [200, result(8, 2), 8, items(2)],
    // An entry with two errors counts once, and an error without a position is ignored.
    [200, result(9, 1, [...twice, item(-1)]), 9, twice],
    // The larger number of rejected entries is used, and entries that are missing are rejected.
    [200, result(7, 3, []), 7, []],
    [200, result(10, 0, [item(1)]), 9, [item(1)]],
    [200, result(0, 9, []), 0, []],
    [200, result(6, 0), 6, []],
    // A retry of these would duplicate the accepted entries.
    [422, result(9, 1), 9, items(1)],
    [422, result(7, 0), 7, []],
    [200, result(1_000, 0), 10, [], true],
    [422, result(11, 0), 10, [], true],
    [200, '', 10, [], true],
    [204, '', 10, [], true],
    [205, ' \n', 10, [], true],
    [200, '{"status":"ok"}', 10, [], true],
  ])('%i %j', async (status, text, accepted, rejected, isUnreadable) => {
    expect(await ofEntries(status, text)).toEqual({
      kind: 'delivered',
      ...{ status, accepted, rejected },
      ...(isUnreadable && { unreadable: true }),
    })
  })

  test('a reply with the status of an earlier one, and another text, has its own result', async () => {
    const reply = { status: 200, text: result(10, 0) }
    const { send } = setup(reply)
    expect(await send()).toMatchObject({ accepted: 10, rejected: [] })
    reply.text = result(8, 2)
    expect(await send()).toMatchObject({ accepted: 8, rejected: items(2) })
  })

  test('the same reply is applied to batches of different sizes', async () => {
    const { send } = setup({ text: result(8, 0, [item(9)]) })
    expect(await send({ count: 5 })).toMatchObject({ kind: 'endpoint-rejected', status: 200 })
    expect(await send({ count: 10 })).toMatchObject({ kind: 'delivered', accepted: 8, rejected: [item(9)] })
    expect(await send({ count: 20 })).toMatchObject({ kind: 'delivered', accepted: 8 })
  })

  test('a result that is too long is judged by its beginning', async () => {
    const text = result(0, 10, [item(0)]).slice(0, -9)
    const outcome = { kind: 'delivered', accepted: 10, rejected: [], status: 200, unreadable: true }
    expect(await ofEntries(200, text, { truncated: true })).toEqual(outcome)
    expect(await ofEntries(200, '<html>', { truncated: true })).toMatchObject({ kind: 'endpoint-rejected' })
    const reply = { text, truncated: true }
    const { send } = setup(reply)
    expect(await send()).toEqual(outcome)
    reply.truncated = false
    expect(await send()).toMatchObject({ kind: 'endpoint-rejected' })
  })

  test.each([
    [201, '{}'],
    [202, '"OK"'],
    [204, ''],
    [200, '{"stored":10}'],
    [200, '{"accepted":"all","rejected":0}'],
    [200, result(10, 0)],
  ])('request logs: %i %j, which may be any JSON or nothing', async (status, text) => {
    expect(await ofRequests(status, text)).toEqual({ kind: 'delivered', accepted: 10, rejected: [], status })
  })

  test('request logs: an ingest result is used', async () => {
    expect(await ofRequests(200, result(8, 2))).toMatchObject({ kind: 'delivered', accepted: 8, rejected: items(2) })
    expect(await ofRequests(422, result(9, 1))).toMatchObject({ kind: 'delivered', accepted: 9, status: 422 })
  })
})

describe('a reply that is kept as for a wrong URL', () => {
  test.each([
    [0, 0, []],
    [0, 1_000, []],
    [10, 10, []],
    [10, 1, []],
    [11, 1, []],
    [11, 0, [item(1)]],
    [0, 0, [item(5_000)]],
    [9, 1, [item(10)]],
  ])('%i accepted and %i rejected of 10, errors %j', async (...counts) => {
    for (const status of [200, 422])
      expect(await ofEntries(status, result(...counts))).toMatchObject({
        kind: 'endpoint-rejected',
        status,
        reason: expect.stringContaining('10') as string,
      })
  })

  test.each(['<html>', 'OK', '[]', '{"accepted":"all","rejected":0}', '{"accepted":10,"rejected":0'])(
    '200 %s, which comes from another program',
    async (text) => {
      const reason = `status 200, text/html: ${text}`
      const outcome = await ofEntries(200, text, { headers: { 'content-type': 'text/html' } })
      expect(outcome).toEqual({ kind: 'endpoint-rejected', status: 200, reason })
    },
  )

  test.each(['OK', '{"accepted":10'])('request logs: 200 %j, which is not JSON', async (text) => {
    const reason = expect.stringContaining(text) as string
    expect(await ofRequests(200, text)).toMatchObject({ kind: 'endpoint-rejected', status: 200, reason })
  })

  test.each([302, 401, 403, 404, 405])('%i', async (status) => {
    for (const of of [ofEntries, ofRequests])
      expect(await of(status, 'no')).toMatchObject({ kind: 'endpoint-rejected', status })
  })

  test('a 422 whose location is outside the entries, unless another one names an entry', async () => {
    const elsewhere = ['body', 'batch_id']
    expect(await ofEntries(422, detail(elsewhere))).toEqual({
      kind: 'endpoint-rejected',
      status: 422,
      reason: 'status 422: body.batch_id: field required',
    })
    const both = detail(elsewhere, ['body', 'logs', 2, 'level'])
    expect(await ofEntries(422, both)).toMatchObject({ kind: 'refused', rejected: [{ index: 2 }] })
    for (const loc of [['body'], ['body', 'logs'], ['body', 17]])
      expect(await ofEntries(422, detail(loc))).toMatchObject({ kind: 'refused', rejected: [] })
    expect(await ofEntries(413, detail(elsewhere))).toMatchObject({ kind: 'refused' })
    // The location belongs to another endpoint: no request log is at fault.
    expect(await ofRequests(422, detail(['body', 'logs', 3]))).toMatchObject({ kind: 'endpoint-rejected' })
  })
})

describe('a reply that refuses the content', () => {
  test('names the entries', async () => {
    expect(await ofEntries(422, result(0, 1, [item(3)]))).toMatchObject({ kind: 'refused', rejected: [item(3)] })
    expect(await ofRequests(422, result(0, 1, [item(3)]))).toMatchObject({
      kind: 'refused',
      rejected: [item(3)],
      reason: 'status 422: m; requests[3].level: bad',
    })
  })

  test("names them by position in the framework's form", async () => {
    const named = { kind: 'refused', rejected: [{ index: 2, field: 'path', message: 'field required' }] }
    expect(await ofEntries(422, detail(['body', 'logs', 2, 'path']))).toMatchObject(named)
    expect(await ofRequests(422, detail(['body', 'requests', 2, 'path']))).toMatchObject(named)
    const nameless = { kind: 'refused', rejected: [] }
    expect(await ofRequests(422, detail(['body', 'requests', 10, 'path']))).toMatchObject(nameless)
    expect(await ofRequests(422, detail(['body', 'requests']))).toMatchObject(nameless)
  })

  test.each([400, 413, 422])('%i without a named entry', async (status) => {
    const reason = expect.stringContaining(`${status}`) as string
    for (const of of [ofEntries, ofRequests])
      expect(await of(status, 'not like this')).toEqual({ kind: 'refused', status, rejected: [], reason })
  })
})

describe('a failure for now', () => {
  test.each([
    ['3', 3_000],
    // Without a Date header the date is relative to the clock, which is at midnight.
    ['Wed, 01 Jan 2025 00:00:07 GMT', 7_000],
  ])('429 and 503 with Retry-After: %s', async (header, retryAfterMs) => {
    for (const status of [429, 503])
      for (const of of [ofEntries, ofRequests])
        expect(await of(status, '', { headers: { 'retry-after': header } })).toMatchObject({
          kind: 'retryable',
          status,
          retryAfterMs,
        })
  })

  test.each([408, 425, 500, 502, 504])('%i; a timeout or a gateway may have stored the batch', async (status) => {
    const cause = [408, 502, 504].includes(status) ? 'mayBeStored' : 'mayConcernContent'
    const reason = expect.stringContaining(`${status}`) as string
    const headers = { 'retry-after': '3' }
    expect(await ofEntries(status, '', { headers })).toEqual({ kind: 'retryable', status, reason, [cause]: true })
  })

  test.each<[Error, object]>([
    [new HttpFailure('network', 'why'), { reason: 'why' }],
    [new HttpFailure('aborted', 'why'), { reason: 'why' }],
    [new HttpFailure('timeout', 'why'), { reason: 'why', mayBeStored: true }],
    [new HttpFailure('reset', 'why'), { reason: 'why', mayConcernContent: true }],
    [new HttpFailure('descriptors', 'why', 'do this'), { reason: 'why; do this', processFailure: 'descriptors' }],
    [new HttpFailure('client', 'why', 'do this'), { reason: 'why; do this', processFailure: 'client' }],
    [new TypeError('bug'), { reason: 'bug' }],
  ])('no reply: %s (%#)', async (failure, outcome) => {
    expect(await setup(failure).send()).toEqual({ kind: 'retryable', ...outcome })
  })
})

describe('request logs with a real server', () => {
  function schedulerFor(url: string) {
    const http = createHttp({ url, apiKey: new ApiKey('k'), requestTimeoutMs: 5_000, maxConnections: 4 })
    onTestFinished(() => http.close())
    return setupReal(createRequestsSender({ http, clock: systemClock }))
  }

  const BAD = [7, 33, 99]
  const HUNDRED = Array.from({ length: 100 }, (_, n) => logOf(n, BAD.includes(n) ? { path: n } : {}))
  const GOOD = HUNDRED.filter((_, n) => !BAD.includes(n))
  const idsOf = (logs: readonly object[]): unknown[] => (logs as RequestLog[]).map((one) => one.request_id).toSorted()

  test('the local service accepts the good ones once, the others become dead letters with its reason', async () => {
    const service = await started({ apiKeys: ['k'] })
    const { account, letters, scheduler } = schedulerFor(service.url)
    scheduler.enqueue(batchOf(HUNDRED))
    await scheduler.flush()
    expect(account).toMatchObject({ accepted: 97, rejected: 3 })
    expect(
      letters
        .map(({ index, status, field, entry }) => [index, status, field, JSON.parse(entry)])
        .toSorted((a, b) => Number(a[0]) - Number(b[0])),
    ).toEqual(BAD.map((n) => [n, 422, 'path', HUNDRED[n]]))
    const stored = service.requestLogs({ limit: Infinity }).items.map(({ request }) => request)
    expect(idsOf(stored)).toEqual(idsOf(GOOD))
  })

  test('finds the bad ones if the server names none, after failures that are retried with the same bytes', async () => {
    const taken: RequestLog[] = []
    let attempts = 0
    const server = await httpServer((response, { body }) => {
      attempts += 1
      if (attempts < 3) return void response.writeHead(503).end()
      const { requests } = JSON.parse(body) as { requests: RequestLog[] }
      const isGood = requests.every(({ path }) => typeof path === 'string')
      if (isGood) taken.push(...requests)
      response.writeHead(isGood ? 201 : 400).end(isGood ? '' : 'bad request')
    })
    const { account, letters, scheduler } = schedulerFor(`${server.origin}/api/v1`)
    scheduler.enqueue(batchOf(HUNDRED))
    const later: object[] = []
    // An entry is refused for good while others are accepted.
    while (scheduler.pendingEntries > 0) {
      later.push(logOf(100 + later.length))
      scheduler.enqueue(batchOf(later.slice(-1), `later-${later.length}`))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(account).toMatchObject({ accepted: 97 + later.length, rejected: 3 })
    expect(letters.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(BAD)
    expect(idsOf(taken)).toEqual(idsOf([...GOOD, ...later]))
    expect(server.came.slice(0, 2).map(({ body }) => body)).toEqual([
      JSON.stringify({ requests: HUNDRED }),
      JSON.stringify({ requests: HUNDRED }),
    ])
    for (const { url, headers } of server.came)
      expect([url, headers['x-api-key']]).toEqual(['/api/v1/ingest/requests', 'k'])
  })
})
