/** Which entries are finished requests, their fields, and joined requests, with entries written by hand. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RequestLogExtractor } from '../../src/request-logs/request-log-extractor.js'
import { FakeClock } from '../fake-clock.js'
import { RequestJoiner } from '../../src/request-logs/request-joiner.js'
import { anyLine, createMappingOptions } from '../record/record-lines.js'
import { modelRuns } from '../model-runs.js'
import { TAG, taker } from './extract-lines.js'

const REQUEST = {
  method: 'GET',
  url: '/users/7?a=b',
  path: '/users/7',
  status_code: 200,
  duration_ms: 3.5,
  ip: '10.0.0.1',
  user_agent: 'x',
}

function entry(over: object = {}, request: object = REQUEST): string {
  return JSON.stringify({
    level: 'info',
    message: 'request completed',
    timestamp: '2026-01-31T08:00:00.123Z',
    request_id: 'req-1',
    request,
    ...over,
  })
}

describe('one entry', () => {
  test('with all fields of a request log, in the order of the interface', () => {
    const { log } = taker().take(
      entry({ service: 'api', environment: 'prod', metadata: { hostname: 'web-1', res: { route: '/users/:id' } } }),
    )
    expect(JSON.stringify(log)).toBe(
      '{"method":"GET","path":"/users/7","status_code":200,"duration_ms":3.5,' +
        `"request_id":"${TAG}-req-1","timestamp":"2026-01-31T08:00:00.123Z","route":"/users/:id","host":"web-1","service":"api","environment":"prod"}`,
    )
  })

  test.each<object>([
    { method: undefined },
    { path: undefined },
    { status_code: undefined },
    { status_code: 99 },
    { status_code: 200.5 },
    { duration_ms: undefined },
    { duration_ms: '3' },
  ])('%j is not a finished request', (request) => {
    expect(taker().take(entry({}, { ...REQUEST, ...request }))).toMatchObject({ log: undefined, isCovered: false })
  })

  test.each(['', 'x', 'null', '"x"', '{', '{"request":{}}', '{"request":[1]}', '{"metadata":{"request":{}}}'])(
    '%s is not a request, and causes no error',
    (json) => {
      expect(taker().take(json)).toEqual({ log: undefined, rank: 0, isCovered: false })
    },
  )

  test('ignores numbers out of the range of JSON', () => {
    for (const number of ['1e400', '-1e400']) expect(taker().take(entry().replace('3.5', number)).log).toBeUndefined()
    expect(taker().take(entry().replace('3.5', '123456789012345678901234567890')).log?.duration_ms).toBe(
      1.2345678901234568e29,
    )
    expect(taker().take(entry().replace(':200,', ':12345678901234567890,')).log).toBeUndefined()
  })

  test('a clock set back does not cause a negative duration', () => {
    expect(taker().take(entry({}, { ...REQUEST, duration_ms: -12 })).log?.duration_ms).toBe(0)
  })

  test('uses the current time without a valid time', () => {
    for (const timestamp of [undefined, 'yesterday', 5, '2026-02-31T25:00:00Z', '']) {
      expect(taker(new FakeClock(Date.UTC(2026, 5, 1))).take(entry({ timestamp })).log?.timestamp).toBe(
        '2026-06-01T00:00:00.000Z',
      )
    }
  })

  test('sanitizes text for every store', () => {
    const { log } = taker().take(
      entry({ request_id: 'a\ud800\0b', metadata: { hostname: '\0' } }, { ...REQUEST, path: '/\udfff\0x' }),
    )
    expect(log).toMatchObject({ path: '/\ufffdx', request_id: `${TAG}-a\ufffdb` })
    expect(log).not.toHaveProperty('host')
  })

  test.each([
    [200, 1],
    [400, 2],
    [500, 3],
    [599, 3],
  ])('status %i ranks %i', (status_code, rank) => {
    expect(taker().take(entry({}, { ...REQUEST, status_code })).rank).toBe(rank)
  })
})

describe('the route', () => {
  test.each<[string | undefined, object]>([
    ['/a/:id', { res: { route: '/a/:id' } }],
    ['/a/:id', { req: { route: '/a/:id' } }],
    ['/a/:id', { req: { route: { path: '/a/:id', stack: [], methods: {} } } }],
    ['/a/:id', { route: '/a/:id' }],
    ['/a/:id', { req: { routeOptions: { url: '/a/:id' } } }],
    ['/a/:id', { req: { routerPath: '/a/:id' } }],
    ['/files/*', { req: { route: '/files/*' } }],
    ['/api/{*path}', { req: { route: '/api/{*path}' } }],
    ['/{id*2}', { req: { route: '/{id*2}' } }],
    ['/:id(\\d+)', { req: { route: '/:id(\\d+)' } }],
    ['/b', { res: { route: '/*' }, req: { route: '/b' } }],
    ['/res', { req: { route: '/req' }, res: { route: '/res' }, route: '/loose' }],
    ['/req', { req: { route: '/req' }, route: 'BER-JFK' }],
    ['/b', { route: 'BER-JFK', req: { routeOptions: { url: '/b' } } }],
    [undefined, { route: 'BER-JFK' }],
    [undefined, { route: { path: ['/a', '/b'] } }],
    [undefined, { req: '/a' }],
  ])('%s of %j', (route, metadata) => {
    expect(taker().take(entry({ metadata })).log?.route).toBe(route)
  })

  test.each(['/*', '**', '*splat', '/{*path}', '{/*splat}', '/{any*}', '/(.*)', '/:path(.*)', '/:rest+', '/*/'])(
    '%s matches every path, and is not a route',
    (route) => {
      expect(taker().take(entry({ metadata: { req: { route } } })).log).not.toHaveProperty('route')
    },
  )
})

describe('the id', () => {
  test.each(['req-1', '1', 'checkout-service-req-1a', 'worker_request_2147483647'])(
    '%s may occur in any process',
    (id) => {
      expect(taker().take(entry({ request_id: id })).log?.request_id).toBe(`${TAG}-${id}`)
    },
  )

  test.each([
    '0b7c7a52-6a1e-4b1f-9a55-5b2d1c6f0a01',
    'req_01HX3N8Z4T9M2K5Q7R1V6W0Y3B',
    '1-5759e988-bd862e3fe1be46a994272793',
    '00f067aa0ba902b7',
  ])('%s is unique', (id) => {
    expect(taker().take(entry({ request_id: id })).log?.request_id).toBe(id)
  })

  test('is generated if missing, different in two processes', () => {
    expect(taker().take(entry({ request_id: undefined })).log?.request_id).toBe('minted-0123456789')
    const ids = [1, 2].flatMap(() => {
      const clock = new FakeClock()
      const mapping = createMappingOptions()
      const logs = new RequestLogExtractor({ clock, joiner: new RequestJoiner({ clock, ...mapping }), ...mapping })
      return [entry(), entry({ request_id: undefined })].map(
        (one) => (JSON.parse(logs.extract(one).json ?? '{}') as { request_id: string }).request_id,
      )
    })
    expect(ids[0]).toMatch(/^[0-9a-f]{12}-req-1$/)
    expect(ids[1]).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(ids).size).toBe(4)
  })
})

const FIRST = entry(
  { message: 'incoming request', metadata: { req: { host: 'h', remotePort: 1, route: '/users/:id' } } },
  { method: 'GET', url: '/users/7', path: '/users/7' },
)
const SECOND = entry({ service: 'api' }, { status_code: 201, duration_ms: 2 })

describe('two halves', () => {
  test('become one request log, once', () => {
    const { take } = taker()
    expect(take(FIRST)).toEqual({ log: undefined, rank: 0, isCovered: true })
    expect(take(SECOND)).toMatchObject({
      log: { method: 'GET', path: '/users/7', status_code: 201, route: '/users/:id', service: 'api' },
      isCovered: true,
    })
    expect(take(SECOND)).toEqual({ log: undefined, rank: 0, isCovered: false })
    take(FIRST)
    expect(take(SECOND).log).toBeDefined()
  })

  test('are ignored if the second comes alone or has another id', () => {
    const { take } = taker()
    expect(take(SECOND).log).toBeUndefined()
    take(FIRST)
    expect(take(SECOND.replace('req-1', 'req-2')).log).toBeUndefined()
    expect(take(SECOND.replace('"request_id":"req-1",', '')).log).toBeUndefined()
    expect(take(SECOND).log).toBeDefined()
  })

  test('are not ended by records logged between them', () => {
    const { take } = taker()
    take(FIRST)
    // Fastify's own record of an error has a status and no duration.
    expect(
      take(
        entry({ level: 'error', error: { message: 'boom' } }, { method: 'GET', path: '/users/7', status_code: 500 }),
      ),
    ).toMatchObject({ log: undefined, isCovered: false })
    // A request that the application sends and logs is a request of its own.
    expect(take(entry({}, { ...REQUEST, method: 'POST', path: '/upstream' })).log?.path).toBe('/upstream')
    // A request that has only started does not replace the other.
    expect(take(entry({ message: 'calls' }, { method: 'PUT', path: '/upstream' }))).toMatchObject({
      log: undefined,
      isCovered: false,
    })
    expect(take(SECOND).log).toMatchObject({ method: 'GET', path: '/users/7' })
  })

  test('do not give their id to another request logged between them', () => {
    for (const id of ['req-1', '0b7c7a52-6a1e-4b1f-9a55-5b2d1c6f0a01']) {
      const { take } = taker()
      take(FIRST.replace('req-1', id))
      const other = take(entry({ request_id: id }, { ...REQUEST, method: 'POST', path: '/upstream' })).log?.request_id
      expect([other, take(SECOND.replace('req-1', id)).log?.request_id]).toEqual([
        'minted-0123456789',
        id === 'req-1' ? `${TAG}-req-1` : id,
      ])
    }
  })

  test('are ended by a complete record after the first', () => {
    const { take } = taker()
    take(FIRST)
    expect(take(entry()).log).toBeDefined()
    expect(take(SECOND).log).toBeUndefined()
  })

  test('are not joined if two open requests have the id', () => {
    const { take } = taker()
    take(FIRST)
    take(FIRST.replaceAll('/users/7', '/users/8'))
    expect(take(SECOND).log).toBeUndefined()
    expect(take(SECOND).log).toBeUndefined()
    take(FIRST)
    expect(take(SECOND).log?.path).toBe('/users/7')
  })

  test('are not joined by an id that several requests may share', () => {
    const { line } = taker()
    const start = { level: 30, time: 1, pid: 1, correlationId: 'c', req: { method: 'GET', url: '/a' } }
    line(JSON.stringify({ ...start, msg: 'incoming request' }))
    const end = { level: 30, time: 2, pid: 1, correlationId: 'c', res: { statusCode: 200 }, responseTime: 1 }
    expect(line(JSON.stringify({ ...end, msg: 'request completed' })).log).toBeUndefined()
  })

  test('another response leaves the request open', () => {
    const { take } = taker()
    take(FIRST)
    expect(take(SECOND.replace('request completed', 'upstream answered')).log).toBeUndefined()
    expect(take(SECOND).log?.path).toBe('/users/7')
    take(FIRST)
    expect(take(SECOND.replace('request completed', 'request errored')).log?.path).toBe('/users/7')
  })
})

describe('under `only`', () => {
  test.each<[boolean, object]>([
    [true, {}],
    [true, { level: 'warn' }],
    [true, { notify: false }],
    [false, { level: 'error' }],
    [false, { level: 'fatal' }],
    [false, { error: { message: 'boom' } }],
    [false, { notify: true }],
  ])('covered: %s for %j', (isCovered, over) => {
    const { take } = taker()
    expect(take(entry(over))).toMatchObject({ log: { path: '/users/7' }, isCovered })
    expect(take(JSON.stringify({ ...(JSON.parse(FIRST) as object), ...over })).isCovered).toBe(isCovered)
  })

  test('Fastify\'s "request errored" is both', () => {
    const { take } = taker()
    take(FIRST)
    expect(take(SECOND.replace('"level":"info"', '"level":"error","error":{"message":"write EPIPE"}'))).toMatchObject({
      log: { status_code: 201 },
      isCovered: false,
    })
  })
})

describe('any logged lines', () => {
  test('generated lines and entries give valid request logs or none', () => {
    const { line, take } = taker()
    let logs = 0
    fc.assert(
      fc.property(anyLine, (one) => void (logs += line(one).log === undefined ? 0 : 1)),
      { numRuns: modelRuns(200, 20_000) },
    )
    const loose = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('req-1', '/a', 'GET', 'incoming request', '\ud800', '\0') },
      { weight: 1, arbitrary: fc.jsonValue() },
    )
    const number = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(200, 404, 500, 1.5, -1) }, fc.double(), loose)
    const members = (keys: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<object> =>
      fc.record(Object.fromEntries(keys.split(' ').map((key) => [key, value])))
    const loggedRequest = fc.tuple(members('method path', loose), members('status_code duration_ms', number))
    const entries = fc.tuple(
      members('level message timestamp request_id service environment notify error', loose),
      fc.oneof({ weight: 9, arbitrary: loggedRequest.map(([one, other]) => ({ ...one, ...other })) }, loose),
      fc.oneof(members('hostname route req res', loose), loose),
    )
    fc.assert(
      fc.property(entries, ([fields, request, metadata]) => {
        if (take(JSON.stringify({ ...fields, request, metadata })).log !== undefined) logs += 1
      }),
      { numRuns: modelRuns(600, 20_000) },
    )
    expect(logs).toBeGreaterThan(10)
  })
})
