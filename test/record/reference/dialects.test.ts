/** Records of other log formats: lines written by their loggers, and their names in every form. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BreadcrumbFactory } from '../../../src/breadcrumbs/breadcrumb-factory.js'
import type { JsonObject, LogEntry } from '../../../src/protocol/log-entry.js'
import { Mapper } from '../../../src/record/mapper.js'
import { DIALECT_KEYS } from '../../../src/record/reference/dialects.js'
import { Redactor } from '../../../src/redaction/redactor.js'
import { createMappingOptions } from '../record-lines.js'
import { createRing } from '../create-ring.js'
import type { CorpusRecord } from '../record-lines.js'
import { faults } from '../valid-entry.js'
import { modelRuns } from '../../model-runs.js'
import { entryWith, jsonWith, mapLine } from '../map-line.js'

const options = createMappingOptions()
const lines = new Map(
  readFileSync(new URL('../../fixtures/dialect-records.ndjson', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CorpusRecord)
    .map(({ label, raw }) => [label, raw]),
)

function jsonOf(line: string): string {
  const json = JSON.stringify(entryWith(line))
  expect(faults(json, options.maxEntryBytes)).toEqual([])
  return json
}

function entryOf(record: object): LogEntry {
  return JSON.parse(jsonOf(JSON.stringify(record))) as LogEntry
}

/** Distinguishes an absent member in `toMatchObject`. */
const ABSENT = { metadata: undefined, service: undefined }
const NO_METADATA = { metadata: undefined }
const OTEL = { severityText: 'INFO' }
const ECS = { 'ecs.version': '8.10.0' }
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const boom = { type: 'TypeError', message: 'boom', stack: expect.stringMatching(/^TypeError: boom\n +at /) as string }
const orders = { service: 'orders', version: '1.4.0' }

describe('lines written by the loggers', () => {
  const expected: Readonly<Record<string, object>> = {
    'ECS warn': { ...orders, level: 'warn', environment: 'production', user_id: 'u1' },
    'ECS error': { ...orders, level: 'error', message: 'failed', error: boom, source: '/app/src/orders.js:13:30' },
    'ECS convertErr false': { level: 'error', error: boom },
    'ECS fatal, name': { level: 'fatal', service: 'orders', metadata: { name: 'orders-log' } },
    'ECS dotted': {
      user: { id: 'u-1', email: 'a@example.org' },
      trace: { trace_id: TRACE, span_id: SPAN },
      perf: { duration_ms: 1.234567 },
      tags: ['x', 'y'],
      metadata: { labels: { a: 'b' } },
    },
    'ECS nested': {
      user: { id: 'u-1', name: 'Ann' },
      trace: { trace_id: TRACE, span_id: 'b7ad6b7169203331' },
      action: 'order-placed',
      perf: { duration_ms: 1.234567 },
      source: 'orders.js:12',
      metadata: { transaction: { id: SPAN }, event: { outcome: 'success' }, log: { origin: { function: 'place' } } },
    },
    'ECS pino-http completed': {
      request: {
        method: 'GET',
        path: '/orders/7',
        status_code: 200,
        duration_ms: 4,
        ip: '127.0.0.1',
        user_agent: 'node',
      },
      request_id: '1',
      trace: { trace_id: TRACE, parent_span_id: SPAN },
      metadata: { http: { response: { body: { bytes: 8 } } } },
    },
    'ECS pino-http errored': {
      request: { path: '/bad', status_code: 500, duration_ms: 0 },
      error: { type: 'Error', stack: expect.stringContaining('at onResFinished') as string },
    },
    'GCP trace': { ...orders, level: 'debug', timestamp: '2026-11-22T19:40:32.698Z' },
    'GCP error': { ...orders, level: 'error', error: boom, timestamp: '2026-11-22T19:40:32.698Z' },
    'GCP httpRequest': {
      request: {
        method: 'GET',
        url: 'https://shop.example/orders/7?x=1',
        path: '/orders/7',
        status_code: 200,
        duration_ms: 123,
        ip: '192.0.2.1',
        user_agent: 'curl/8',
      },
      metadata: { httpRequest: { referer: 'https://r.example/', responseSize: '12' } },
    },
    'OpenTelemetry instrumentation-pino': {
      request: { method: 'GET' },
      trace: { trace_id: '25742718d3ff2ab748164b7d7b9351c0', span_id: '0444d574ad2acb93' },
    },
    'bunyan error': { level: 'error', error: boom },
    'bunyan request': { request: { method: 'GET', url: '/a?b=1', status_code: 200 }, metadata: { latency: 3 } },
    'winston silly': { level: 'debug', metadata: { level: 'silly' } },
    'winston error': { level: 'error', message: 'boom', error: boom, service: 'orders' },
    'winston name': {
      service: undefined,
      error: { type: 'PaymentError', message: 'card declined' },
      metadata: { error: { code: 'E_CARD', cause: {} } },
    },
    'winston logstash error': { level: 'error', message: 'boom', error: boom, service: 'orders', ...NO_METADATA },
    'winston colors': { level: 'info', ...NO_METADATA },
    'winston ECS message and error': { error: { type: 'PayError' }, metadata: { error: { code: 'E_PAY' } } },
    'winston syslog emerg': { level: 'fatal', metadata: { level: 'emerg' } },
  }

  test.each(Object.entries(expected))('%s', (label, entry) => {
    expect({ ...ABSENT, ...(JSON.parse(jsonOf(lines.get(label) as string)) as LogEntry) }).toMatchObject(entry)
  })

  test.each([...lines])('sends no header or body of %s', (_, raw) => {
    expect(jsonOf(raw)).not.toMatch(/secret-token|sid=1|x-powered-by|accept-|etag|HTTP\/1\.1 200/i)
  })

  test('a breadcrumb has their level, message and time', () => {
    const breadcrumb = (label: string): unknown =>
      JSON.parse(new BreadcrumbFactory(options, createRing(), () => 0).parse(lines.get(label) as string))
    expect(breadcrumb('ECS warn')).toMatchObject({
      level: 'warn',
      message: 'low stock',
      timestamp: '2026-11-22T19:40:32.174Z',
    })
    expect(breadcrumb('GCP error')).toMatchObject({
      type: 'error',
      level: 'error',
      timestamp: '2026-11-22T19:40:32.698Z',
      data: { error_type: 'TypeError' },
    })
  })
})

describe('names in every form', () => {
  const cases: [string, JsonObject[], object][] = [
    ['level', [{ 'log.level': 'error' }, { log: { level: 'error' } }, { severityText: 'Error' }], { level: 'error' }],
    [
      'severity number',
      [{ severityNumber: 17 }, { severity_number: '17' }, { SeverityNumber: 17 }],
      { level: 'error' },
    ],
    [
      'a finer severity',
      [{ severityNumber: 14 }, { severityText: 'WARN2' }],
      { level: 'warn', metadata: { level: 'WARN2' } },
    ],
    [
      'severity of another case',
      [{ severityText: 'Information' }, { severityNumber: 'SEVERITY_NUMBER_INFO' }],
      { level: 'info' },
    ],
    [
      'unknown text next to a number',
      [{ severityText: 'odd', severityNumber: 21 }],
      { level: 'fatal', metadata: { severityText: 'odd' } },
    ],
    [
      'time',
      [
        { timestamp: { seconds: 1795376432, nanos: 645999999 } },
        { timestamp: { seconds: '1795376432', nanos: 645000000 } },
        { timestampSeconds: 1795376432, timestampNanos: 645000000 },
        { timestampSeconds: '1795376432', timestampNanos: '645000000' },
        { timeUnixNano: '1795376432645000000' },
        { observedTimestamp: 1795376432645, timeUnixNano: '0' },
        { Timestamp: '1795376432645000000' },
        { time: '2026-11-22T19:40:32.645Z' },
      ],
      { timestamp: '2026-11-22T19:40:32.645Z' },
    ],
    [
      'error',
      [
        { error: { type: 'TypeError', message: 'boom', stack_trace: 'TypeError: boom\n    at f (/app/a.js:1:2)' } },
        {
          'error.type': 'TypeError',
          'error.message': 'boom',
          'error.stack_trace': 'TypeError: boom\n    at f (/app/a.js:1:2)',
        },
        {
          'exception.type': 'TypeError',
          exception: { message: 'boom', stacktrace: 'TypeError: boom\n    at f (/app/a.js:1:2)' },
        },
        { stack_trace: 'TypeError: boom\n    at f (/app/a.js:1:2)' },
        { exception: 'TypeError: boom\n    at f (/app/a.js:1:2)' },
        {
          '@type': 'type.googleapis.com/google.devtools.clouderrorreporting.v1beta1.ReportedErrorEvent',
          message: 'TypeError: boom\n    at f (/app/a.js:1:2)',
        },
        { stack: 'TypeError: boom\n    at f (/app/a.js:1:2)' },
      ],
      { error: boom, source: '/app/a.js:1:2' },
    ],
    [
      'trace',
      [
        { 'trace.id': TRACE, 'span.id': SPAN },
        { trace: { id: TRACE }, span: { id: SPAN } },
        { 'trace.id': TRACE, 'transaction.id': SPAN },
        { 'logging.googleapis.com/trace': `projects/p/traces/${TRACE}`, 'logging.googleapis.com/spanId': SPAN },
        { 'logging.googleapis.com/trace': TRACE, 'logging.googleapis.com/spanId': SPAN },
        { TraceId: TRACE, SpanId: SPAN },
        { ...OTEL, traceId: TRACE, spanId: SPAN },
      ],
      { trace: { trace_id: TRACE, span_id: SPAN } },
    ],
    [
      'traceparent',
      [
        { traceparent: `00-${TRACE}-${SPAN}-01` },
        { http: { request: { headers: { traceparent: `00-${TRACE}-${SPAN}-01` } } } },
      ],
      { trace: { trace_id: TRACE, parent_span_id: SPAN }, ...NO_METADATA },
    ],
    [
      'request',
      [
        {
          http: { request: { method: 'GET' }, response: { status_code: 404 } },
          url: { path: '/a', query: 'b=1' },
          client: { ip: '::1' },
          user_agent: { original: 'ua' },
        },
        {
          'http.request.method': 'GET',
          'http.response.status_code': 404,
          'url.path': '/a',
          'url.query': 'b=1',
          'client.address': '::1',
          'user_agent.original': 'ua',
        },
        {
          http: { 'request.method': 'GET', response: { status_code: '404' } },
          'url.full': '/a?b=1',
          'client.ip': '::1',
          http_: 1,
          'http.user_agent': 'ua',
        },
        {
          'http.method': 'GET',
          'http.target': '/a?b=1',
          'http.status_code': 404,
          'http.client_ip': '::1',
          'http.user_agent': 'ua',
        },
        { httpRequest: { requestMethod: 'GET', requestUrl: '/a?b=1', status: 404, remoteIp: '::1', userAgent: 'ua' } },
        {
          'logging.googleapis.com/http_request': {
            requestMethod: 'GET',
            requestUrl: '/a?b=1',
            status: '404',
            remoteIp: '::1',
            userAgent: 'ua',
          },
        },
        {
          ...OTEL,
          attributes: {
            'http.request.method': 'GET',
            'http.response.status_code': 404,
            url: { path: '/a', query: 'b=1' },
            client: { address: '::1' },
            'user_agent.original': 'ua',
          },
        },
        {
          req: { method: 'GET', url: '/a?b=1' },
          http: { response: { status_code: 404 } },
          client: { ip: '::1' },
          user_agent: { original: 'ua' },
        },
      ],
      { request: { method: 'GET', url: '/a?b=1', path: '/a', status_code: 404, ip: '::1', user_agent: 'ua' } },
    ],
    [
      'duration',
      [
        { ...ECS, 'event.duration': 12_345_678 },
        { ecs: { version: '1.6.0' }, event: { duration: '12345678' } },
        { httpRequest: { latency: '0.012345678s' } },
        { httpRequest: { latency: { nanos: 12_345_678 } } },
      ],
      { perf: { duration_ms: 12.345678 } },
    ],
    [
      'identity',
      [
        { 'service.name': 's', 'service.version': '2', 'service.environment': 'e' },
        { ...ECS, service: { name: 's', version: '2', environment: 'e' } },
        { serviceContext: { service: 's', version: '2' }, deployment: { environment: { name: 'e' } } },
        { ...OTEL, resource: { 'service.name': 's', 'service.version': '2', 'deployment.environment': 'e' } },
        {
          ...OTEL,
          resource: {
            attributes: { 'service.name': 's', service: { version: '2' }, 'deployment.environment.name': 'e' },
          },
        },
        {
          severityNumber: 9,
          resource: {
            attributes: [
              { key: 'service.name', value: { stringValue: 's' } },
              { key: 'service.version', value: { stringValue: '2' } },
              { key: 'deployment.environment.name', value: { stringValue: 'e' } },
            ],
          },
        },
      ],
      { service: 's', version: '2', environment: 'e' },
    ],
    [
      'user and session',
      [
        { 'user.id': 'u', 'session.id': 's' },
        { 'enduser.id': 'u', 'session.id': 's' },
        { enduser: { id: 'u' }, ...OTEL, session: { id: 's' } },
      ],
      { user: { id: 'u' }, session_id: 's' },
    ],
    [
      'body',
      [
        { ...OTEL, body: 'text' },
        { SeverityNumber: 9, Body: 'text' },
        { severity_text: 'INFO', body: { stringValue: 'text' } },
      ],
      { message: 'text' },
    ],
    [
      'source',
      [
        { 'logging.googleapis.com/sourceLocation': { file: 'a.js', line: '7' } },
        { 'log.origin.file.name': 'a.js', 'log.origin.file.line': 7 },
        { log: { origin: { file: { name: 'a.js', line: 7 } } } },
        { 'code.file.path': 'a.js', 'code.line.number': 7 },
        { 'code.filepath': 'a.js', 'code.lineno': 7 },
        { src: { file: 'a.js', line: 7 } },
      ],
      { source: 'a.js:7' },
    ],
    [
      'route, process and host',
      [
        { 'http.route': '/a/:id', 'process.pid': 7, 'host.name': 'h' },
        { ...ECS, http: { route: '/a/:id' }, process: { pid: 7 }, host: { hostname: 'h' } },
      ],
      { metadata: { route: '/a/:id', pid: 7, hostname: 'h' } },
    ],
  ]

  test.each(
    cases.flatMap(([name, records, entry]) =>
      records.map((record) => [name, JSON.stringify(record), record, entry] as const),
    ),
  )('%s: %s', (_name, _json, record, entry) => {
    expect({ ...ABSENT, ...entryOf(record) }).toMatchObject(entry)
  })
})

describe('values that do not belong to a format are kept', () => {
  test.each<JsonObject>([
    { url: '/x', host: 'h', client: 'acme', event: 'paid', body: 'text', http: 'ok', session: 's', resource: 'r' },
    { url: { path: '/x' }, client: { ip: '::1' }, event: { duration: 5, action: 'paid' }, service_: { name: 's' } },
    { session: { id: 's', cart: 1 }, host: { name: 'h' }, process: { pid: 1 }, transaction: { id: 'pay-1' } },
    { 'event.duration': 5, 'transaction.id': 'pay-1', body: { stringValue: 'text' }, attributes: { 'user.id': 'u' } },
    { http: { port: 80, method: 'GET' }, code: { file: { name: 'a' } }, context: { user: 'u' }, deployment: 'blue' },
  ])('%j', (metadata) => {
    expect(entryOf({ level: 30, time: 1_795_376_432_645, msg: 'm', ...metadata })).toEqual({
      level: 'info',
      message: 'm',
      timestamp: '2026-11-22T19:40:32.645Z',
      metadata,
    })
  })

  test.each<JsonObject>([
    { 'http.request.method': 5, 'http.response.status_code': 'ok', 'url.full': ['/'], 'client.ip': null },
    { 'trace.id': {}, 'service.name': 7, 'user.id': [1], 'exception.type': true, severityNumber: 25 },
    { 'logging.googleapis.com/trace': 'projects/p', httpRequest: { latency: '5', status: 1.5 }, traceparent: 'x' },
    { timestamp: { seconds: 1e18, nanos: 1 }, timestampSeconds: 'x', 'log.level': 'gold', severityText: '' },
  ])('keeps a value of another type: %j', (metadata) => {
    expect(entryOf({ level: 30, time: 1_795_376_432_645, msg: 'm', ...metadata }).metadata).toEqual(metadata)
  })

  test("the record's own fields win, and the other value is kept", () => {
    expect(
      entryOf({
        level: 30,
        'log.level': 'error',
        service: 'a',
        'service.name': 'b',
        trace_id: 't',
        'trace.id': 'u',
        reqId: 1,
        'http.request.id': '2',
      }),
    ).toMatchObject({
      level: 'info',
      service: 'a',
      trace: { trace_id: 't' },
      request_id: '1',
      metadata: { 'log.level': 'error', 'service.name': 'b', 'trace.id': 'u', 'http.request.id': '2' },
    })
  })

  test.each<JsonObject>([
    { 'http.request.method': 'POST', 'http.response.status_code': 502 },
    { httpRequest: { requestUrl: 'https://api.test/pay', status: 502 } },
  ])('does not mistake a request sent by the application for the handled one: %j', (metadata) => {
    expect(
      entryOf({ level: 30, time: 1, msg: 'm', req: { method: 'GET', url: '/orders/7' }, ...metadata }),
    ).toMatchObject({
      request: { method: 'GET', url: '/orders/7', path: '/orders/7' },
      metadata,
    })
  })

  test('uses level and time of ECS in an ECS record', () => {
    expect(
      entryOf({
        'log.level': 'error',
        '@timestamp': '2026-11-22T19:40:32.173Z',
        ...ECS,
        level: 3,
        time: 35,
        message: 'm',
      }),
    ).toMatchObject({ level: 'error', timestamp: '2026-11-22T19:40:32.173Z', metadata: { level: 3, time: 35 } })
  })
})

describe('does not send headers and bodies', () => {
  const parts: JsonObject[] = [
    {
      http: {
        request: { headers: { a: 'SECRET' }, body: { content: 'SECRET', bytes: 5 } },
        response: { headers: { b: 'SECRET' }, body: 'SECRET' },
      },
    },
    {
      'http.request.headers.a': 'SECRET',
      'http.response.headers': { b: 'SECRET' },
      'http.request.body.content': 'SECRET',
      'http.request.body.bytes': 5,
    },
    {
      'http.request.header.x-a': ['SECRET'],
      'http.response.header': { b: ['SECRET'] },
      'http.request.body.card': 'SECRET',
    },
    {
      http: {
        'request.body': { card: 'SECRET', bytes: 5 },
        'response.headers': 'SECRET',
        request: { 'body.content': 'SECRET' },
      },
    },
    {
      ...OTEL,
      attributes: { 'http.request.header.x-a': ['SECRET'], http: { request: { body: { content: 'SECRET' } } } },
    },
    {
      severityNumber: 9,
      attributes: [{ key: 'http.request.header.x-a', value: { arrayValue: { values: [{ stringValue: 'SECRET' }] } } }],
    },
  ]
  test.each(parts)('%j', (members) => {
    const json = jsonOf(JSON.stringify({ level: 30, time: 1_795_376_432_645, msg: 'm', ...members }))
    expect(json).not.toContain('SECRET')
    if (JSON.stringify(members).includes('bytes')) expect(json).toContain('bytes":5')
  })
})

test('an integer beyond the precision of a double is not the query of a URL', () => {
  const line = '{"level":30,"http.request.method":"GET","url.path":"/a","url.query":12345678901234567}'
  expect(jsonWith(line)).toContain('"metadata":{"url.query":12345678901234567}')
})

describe('secrets', () => {
  const redactor = new Redactor({ patterns: [], keys: ['token'] })
  test.each<JsonObject>([
    {
      http: { request: { method: 'GET' } },
      url: { full: 'http://h/a?token=t-4711', query: 'token=t-4711', path: '/a' },
    },
    { 'http.request.method': 'GET', 'url.path': '/a', 'url.query': 'token=t-4711' },
    { httpRequest: { requestUrl: 'https://u:t-4711@h/a?token=t-4711', referer: 'https://h/?token=t-4711' } },
    { http: { request: { headers: { authorization: 'Bearer t-4711', cookie: 't-4711' } } } },
    { ...OTEL, attributes: { 'http.target': '/a?token=t-4711', 'http.request.header.x-api-key': 't-4711' } },
  ])('are removed: %j', (members) => {
    const line = JSON.stringify({ level: 30, time: 1_795_376_432_645, msg: 'm', ...members })
    const json = jsonWith(line, { redactor })
    expect(json).not.toContain('t-4711')
    expect(faults(json, options.maxEntryBytes)).toEqual([])
  })
})

describe('any record', () => {
  const name = fc.constantFrom(
    ...[...DIALECT_KEYS].filter((key) => !/^url\.(?:pass|user)|httpRequest\.(?:headers|body)/.test(key)),
    'ecs.version',
    'severityText',
    'url',
    'event.duration',
    'body',
    'level',
    'time',
    'service',
  )
  let leaf = 0
  const value = fc.oneof(
    fc.constantFrom('INFO', 'GET', '/a?b=1', 200, 17, '8.1.0', SPAN, TRACE, 'x\n    at f (/a.js:1:2)', null, true),
    fc.nat().map(() => `leaf-${(leaf += 1)}`),
    fc.nat().map((): JsonObject => ({ x: [`leaf-${(leaf += 1)}`] })),
  )
  /** The same members with the dots of a name as nested objects, or not. */
  const record = fc
    .array(fc.tuple(name, fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), value), { maxLength: 8 })
    .map((members) => {
      const root: JsonObject = {}
      for (const [path, splits, of] of members) {
        const parts = path.split('.')
        const keys: string[] = []
        for (const [index, part] of parts.entries()) {
          if (index === 0 || splits[index % 6] === true) keys.push(part)
          else keys.push(`${keys.pop()}.${part}`)
        }
        let holder = root
        for (const key of keys.slice(0, -1)) {
          const inner = holder[key]
          holder = (typeof inner === 'object' && inner !== null ? inner : (holder[key] = {})) as JsonObject
        }
        holder[keys.at(-1) as string] = of
      }
      return root
    })

  test('is a valid entry with every text, the same on both paths', () => {
    fc.assert(
      fc.property(record, fc.boolean(), (members, isPino) => {
        const line = JSON.stringify(isPino ? { level: 30, time: 1_795_376_432_645, ...members, msg: 'm' } : members)
        const json = jsonOf(line)
        const unsent = /\b(?:headers|body)\b/
        if (unsent.test(line)) return
        for (const [text] of line.matchAll(/leaf-\d+/g)) expect(json).toContain(text)
      }),
      { numRuns: modelRuns(150, 3_000) },
    )
  })
})

describe('records without a known level', () => {
  const known = '{"level":30,"time":1795376432645,"msg":"m"}'
  const slow = '{"severity":"INFO","msg":"m"}'
  const unknown = '{"lvl":"warn","time":1795376432645,"msg":"m"}'
  const reports = (count: number, line: (index: number) => string): number => {
    let reported = 0
    const mapper = new Mapper(
      options,
      -1,
      () => 0,
      () => (reported += 1),
    )
    for (let index = 0; index < count; index += 1) {
      const text = line(index)

      mapLine(mapper, text)
    }
    return reported
  }

  test.each([
    ['100', 100, () => unknown, 1],
    ['interrupted by the kernel', 300, (index: number) => (index % 100 === 50 ? known : unknown), 0],
    ['interrupted on the reference path', 300, (index: number) => (index % 100 === 50 ? slow : unknown), 0],
    ['text lines do not interrupt', 199, (index: number) => (index % 2 === 0 ? unknown : 'text'), 1],
    ['all known', 500, () => known, 0],
  ])('%s', (_, count, line, expected) => {
    expect(reports(count, line)).toBe(expected)
  })
})

test.each<[object, object]>([
  [{ 'url.password': 'SECRET', 'url.path': '/a' }, {}],
  [{ url: { password: 'SECRET', username: 'SECRET', path: '/a' } }, { metadata: { url: { path: '/a' } } }],
  [{ httpRequest: { requestMethod: 'get', headers: { a: 'SECRET' }, body: 'SECRET' } }, { request: { method: 'GET' } }],
  [{ context: { httpRequest: { body: 'SECRET', x: 1 } } }, { metadata: { context: { httpRequest: { x: 1 } } } }],
  [{ 'context.httpRequest': { body: 'SECRET' } }, {}],
  [{ attributes: { 'http.request.body.content': 'SECRET', a: 1 } }, { metadata: { attributes: { a: 1 } } }],
  [
    { incoming: { method: 'GET', url: '/', headers: { a: 'SECRET' }, body: 'SECRET' } },
    { metadata: { incoming: { method: 'GET', url: '/' } } },
  ],
  [{ table: { headers: { a: 'b' }, rows: 1 } }, { metadata: { table: { headers: { a: 'b' }, rows: 1 } } }],
])('does not send the removed members of %j', (members, expected) => {
  const entry = entryOf({ level: 30, time: 1, msg: 'm', ...members })
  expect(JSON.stringify(entry)).not.toContain('SECRET')
  expect(entry).toMatchObject(expected)
})

test("pino's own time wins over a logged timestamp", () => {
  expect(entryOf({ level: 30, time: 1.7e12, timestamp: { seconds: 1, nanos: 0 }, msg: 'm' })).toMatchObject({
    timestamp: '2023-11-14T22:13:20.000Z',
    metadata: { timestamp: { seconds: 1, nanos: 0 } },
  })
})

test('a status of another format has three digits', () => {
  const record = { level: 30, time: 1, msg: 'm', 'http.request.method': 'post', 'http.response.status_code': 0 }
  expect(entryOf(record)).toMatchObject({ request: { method: 'POST' } })
  expect(entryOf(record).request).not.toHaveProperty('status_code')
})
