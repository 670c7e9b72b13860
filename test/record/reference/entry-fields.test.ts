/** The field table, row by row: records and the resulting fields of the entry, on both paths. */
import { describe, expect, test } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import type { MappingOptions } from '../../../src/record/reference/entry-fields.js'
import { Mapper } from '../../../src/record/mapper.js'
import { RECEIVED_AT, createMappingOptions } from '../record-lines.js'
import { entryWith as entryOf, mapLine } from '../map-line.js'

type Fields = Partial<LogEntry>

const HEAD = { level: 30, time: 1795219732486 }

/** The fields of the entry other than level, timestamp and message. */
function fieldsOf(members: object, over: Partial<MappingOptions> = {}): Fields {
  const { level: _, timestamp: __, message: ___, ...fields } = entryOf({ ...HEAD, ...members, msg: 'm' }, over)
  return fields
}

const CUSTOM = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  35: 'audit',
  25: 'http',
  40: 'warn',
  50: 'error',
  60: 'fatal',
  70: 'disaster',
}

describe('level', () => {
  test.each<[unknown, string, unknown]>([
    [10, 'debug', undefined],
    [30, 'info', undefined],
    [60, 'fatal', undefined],
    [35, 'info', 'audit'],
    [25, 'debug', 'http'],
    [70, 'fatal', 'disaster'],
    [45, 'warn', 45],
    [0, 'info', 0],
    ['debug', 'debug', undefined],
    ['fatal', 'fatal', undefined],
    ['ERROR', 'error', undefined],
    ['Warning', 'warn', undefined],
    ['CRITICAL', 'fatal', undefined],
    ['AUDIT', 'info', 'AUDIT'],
    ['http', 'debug', 'http'],
    ['30', 'info', undefined],
    ['notice', 'info', 'notice'],
    ['emergency', 'fatal', 'emergency'],
    ['nonsense', 'info', 'nonsense'],
    ['', 'info', ''],
    [{ a: 1 }, 'info', { a: 1 }],
    ['__proto__', 'info', '__proto__'],
  ])('%j is %s, in the metadata %j', (level, expected, kept) => {
    const entry = entryOf({ ...HEAD, level, msg: 'm' }, { levels: CUSTOM })
    expect(entry.level).toBe(expected)
    expect(entry.metadata).toEqual(kept === undefined ? undefined : { level: kept })
  })

  test("with custom levels, uses the name if it is one of pino's", () => {
    expect(entryOf({ level: 3, msg: 'm' }, { levels: { 1: 'debug', 2: 'info', 3: 'error' } }).level).toBe('error')
  })

  const SYSLOG = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug']
  const NPM = ['error', 'warn', 'info', 'http', 'verbose', 'debug', 'silly']
  const toTable = (names: readonly string[]): Record<number, string> => ({ ...names })
  test.each<[string, Record<number, string>, string]>([
    ['levels of syslog, descending', toTable(SYSLOG), 'fatal fatal fatal error warn info info debug'],
    ['the same ascending', toTable(SYSLOG.toReversed()), 'debug info info warn error fatal fatal fatal'],
    ['levels of npm', toTable(NPM), 'error warn info debug debug debug debug'],
    [
      "names between pino's, descending",
      toTable(['fatal', 'x', 'warn', 'y', 'debug', 'z']),
      'fatal warn warn debug debug debug',
    ],
    [
      'numbers of their own, ascending',
      { 0: 'default', 100: 'debug', 200: 'info', 300: 'notice', 400: 'high', 500: 'error' },
      'debug debug info info info error',
    ],
    [
      "names next to pino's",
      { ...CUSTOM, 25: 'notice', 35: 'verbose', 45: 'alert', 5: 'silly' },
      'debug debug debug info info info warn fatal error fatal fatal',
    ],
    ["other names with pino's numbers", { 20: 'low', 30: 'middle', 55: 'high' }, 'debug info error'],
    ['other names with other numbers', { 0: 'p0', 1: 'p1', 2: 'p2' }, 'info info info'],
    ['one known name', { 0: 'emerg', 1: 'p1' }, 'fatal info'],
  ])('custom levels: %s', (_table, levels, expected) => {
    const found = Object.keys(levels).map((level) => entryOf({ level: Number(level), msg: 'm' }, { levels }).level)
    expect(found.join(' ')).toBe(expected)
  })

  test.each([
    ['ERROR', 'error'],
    ['DEFAULT', 'info'],
  ])('severity %s is %s', (severity, level) => {
    expect(entryOf({ severity, message: 'm' }).level).toBe(level)
  })

  test('level takes precedence over severity, unless it is not a level', () => {
    expect(entryOf({ level: 50, severity: 'INFO', msg: 'm' })).toMatchObject({
      level: 'error',
      metadata: { severity: 'INFO' },
    })
    expect(entryOf({ level: 'nonsense', severity: 'ERROR', msg: 'm' })).toMatchObject({
      level: 'error',
      metadata: { level: 'nonsense' },
    })
  })

  test.each(['level', '\\u006cevel', 'l\\u0065v\\u0065l', 'le\\u0000vel'])('ignores a later %s', (key) => {
    expect(entryOf(`{"level":20,"time":1795219732486,"a":{"level":40},"${key}":60,"msg":"m"}`).level).toBe('debug')
  })

  test.each<[unknown, number, unknown]>([
    [10, -1, undefined],
    [15, -1, 15],
    [12, -1, 'fine'],
    ['fine', -1, 'fine'],
    [20, 0, undefined],
    [25, 0, 'http'],
    [2, 1, undefined],
  ])('%j has the number %i: below 20 the nearest level is trace, for any name', (level, position, kept) => {
    const line = JSON.stringify({ level, msg: 'm' })
    const options = createMappingOptions({ levels: { ...CUSTOM, 12: 'fine', 2: 'info' } })
    const mapper = new Mapper(options, -1, () => 0)
    const { json, severity } = mapLine(mapper, line)
    const entry = JSON.parse(json) as LogEntry
    expect([severity, entry.level, entry.metadata]).toEqual([
      position,
      position < 1 ? 'debug' : 'info',
      kept === undefined ? undefined : { level: kept },
    ])
    // On both paths if trace is not sent.
    for (const time of [1795219732486, undefined]) {
      const one = JSON.stringify({ level, time, msg: 'm' })
      expect(mapLine(new Mapper(options, 0, () => 0), one).json !== '').toBe(position >= 0)
    }
  })

  test('keeps a later level and a later time, which are logged data', () => {
    const later = (members: string): unknown =>
      entryOf(`{"level":30,"time":1795219732486,"pid":1,${members},"msg":"m"}`).metadata
    expect(later('"level":"x","time":"y"')).toEqual({ pid: 1, level_: 'x', time_: 'y' })
    expect(later('"level":"x","level":60')).toEqual({ pid: 1, level_: 60 })
    expect(later('"time":{"a":1},"level_":2,"level":3')).toEqual({ pid: 1, level_: 2, level__: 3, time_: { a: 1 } })
    expect(later('"level":30,"time":1795219732486')).toEqual({ pid: 1 })
    expect(later('"level":{"cookie":"s"}')).toMatchObject({ level_: {} })
  })

  test('filters lines by the level after mapping', () => {
    const mapper = new Mapper(createMappingOptions({ levels: CUSTOM }), 2, () => 0)
    const shipped = [35, 40, 20, 60]
      .map((level) => JSON.stringify({ level, msg: 'm' }))
      .map((line) => mapLine(mapper, line).json !== '')
    expect(shipped).toEqual([false, true, false, true])
  })
})

describe('message', () => {
  test.each<[string, object, Partial<MappingOptions>, string]>([
    ['text', { msg: 'hello' }, {}, 'hello'],
    ['a number', { msg: 5 }, {}, '5'],
    ['a boolean', { msg: false }, {}, 'false'],
    ['under messageKey', { message: 'hello', msg: 'other' }, { messageKey: 'message' }, 'hello'],
    ["the error's", { err: { type: 'E', message: 'boom', stack: 's' } }, {}, 'boom'],
    ["the request's", { req: { method: 'GET', url: '/a?b=c' }, res: { statusCode: 404 } }, {}, 'GET /a 404'],
    ['none', { a: 1 }, {}, '(no message)'],
    ['null', { msg: null }, {}, '(no message)'],
    ['an object', { msg: { a: 1 } }, {}, '(no message)'],
  ])('%s', (_, members, over, message) => {
    expect(entryOf({ ...HEAD, ...members }, over).message).toBe(message)
  })

  test('keeps a value that is not text in the metadata', () => {
    expect(entryOf({ ...HEAD, msg: { a: 1 } }).metadata).toEqual({ msg: { a: 1 } })
    expect(entryOf({ ...HEAD, msg: null }).metadata).toEqual({ msg: null })
  })

  test('the last of two wins', () => {
    expect(entryOf('{"level":30,"time":1795219732486,"msg":"inner","a":1,"msg":"outer"}')).toMatchObject({
      message: 'outer',
      metadata: { a: 1 },
    })
  })

  test('a line that is not a JSON object is the message, with level info', () => {
    for (const line of ['plain text', 'null', '5', '[1]', '{"a":', '\u001b[31mred']) {
      expect(entryOf(line)).toEqual({ level: 'info', message: line, timestamp: RECEIVED_AT })
    }
  })
})

describe('timestamp', () => {
  test.each<[unknown, string]>([
    [1795219732486, '2026-11-21T00:08:52.486Z'],
    [1795219732.486, '2026-11-21T00:08:52.486Z'],
    [1795219732486123, '2026-11-21T00:08:52.486Z'],
    ['1795219732486123456', '2026-11-21T00:08:52.486Z'],
    [99_999_999_999, '5138-11-16T09:46:39.000Z'],
    [99_999_999_999_999, '5138-11-16T09:46:39.999Z'],
    ['2026-11-21T00:08:52.496Z', '2026-11-21T00:08:52.496Z'],
    ['2026-11-21T00:08:52.496673786Z', '2026-11-21T00:08:52.496Z'],
    ['2026-11-21T02:08:52.496+02:00', '2026-11-21T00:08:52.496Z'],
    ['2026-11-21T00:08:52,496Z', '2026-11-21T00:08:52.496Z'],
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21 00:08z', '2026-11-21T00:08:00.000Z'],
    ['2026-11-21t02:08:52 +0200', '2026-11-21T00:08:52.000Z'],
    ['2026-11-20 22:08:52.4 -02', '2026-11-21T00:08:52.400Z'],
    ['2026-11-20T24:00:00Z', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21T00:08:52', new Date(2026, 10, 21, 0, 8, 52).toISOString()],
    [0, '1970-01-01T00:00:00.000Z'],
  ])('%j is %s', (time, timestamp) => {
    expect(entryOf({ level: 30, time, msg: 'm' })).toEqual({ level: 'info', message: 'm', timestamp })
  })

  test.each([
    'yesterday',
    '',
    '2026-02-30',
    '2026-02-30 00:00',
    '2026-11-21T25:00:00Z',
    '2026-11-21T00:00:00+25:00',
    '21 Nov 2026 00:08:52 GMT',
    null,
    true,
    { a: 1 },
    '999999999999999999999999999999',
    -1e300,
  ])('keeps %j, which is not a time', (time) => {
    expect(entryOf({ level: 30, time, msg: 'm' })).toEqual({
      level: 'info',
      message: 'm',
      timestamp: RECEIVED_AT,
      metadata: { time },
    })
  })

  test('uses @timestamp and timestamp if there is no time', () => {
    expect(entryOf({ level: 30, '@timestamp': '2026-11-21T00:08:52.496Z', msg: 'm' }).timestamp).toBe(
      '2026-11-21T00:08:52.496Z',
    )
    expect(entryOf({ level: 30, time: 'x', timestamp: 1795219732486, msg: 'm' })).toMatchObject({
      timestamp: '2026-11-21T00:08:52.486Z',
      metadata: { time: 'x' },
    })
  })

  test.each([1700000000.123, 1700000000123, 1700000000123456789n, '1700000000.123', '2023-11-14T22:13:20.123Z'])(
    'uses ts, %s, if there is no other time',
    (ts) => {
      const text = typeof ts === 'bigint' ? String(ts) : JSON.stringify(ts)
      const { timestamp, metadata } = entryOf(`{"level":30,"ts":${text},"msg":"m"}`)
      expect({ timestamp, metadata }).toEqual({ timestamp: '2023-11-14T22:13:20.123Z', metadata: undefined })
    },
  )

  test.each<[object, object]>([
    [{ ts: 3 }, { ts: 3 }],
    [{ ts: 5_000_000_000 }, { ts: 5_000_000_000 }],
    [{ ts: '2.5.1' }, { ts: '2.5.1' }],
    [{ ts: { seconds: 1700000000 } }, { ts: { seconds: 1700000000 } }],
    [
      { ts: null, time: 'x' },
      { ts: null, time: 'x' },
    ],
  ])('keeps %j, which is no time', (fields, metadata) => {
    expect(entryOf({ level: 30, ...fields, msg: 'm' })).toMatchObject({ timestamp: RECEIVED_AT, metadata })
  })

  test.each(['time', '@timestamp', 'timestamp'])('keeps ts beside %s', (key) => {
    expect(entryOf({ level: 30, [key]: 1795219732486, ts: 1700000000, msg: 'm' })).toMatchObject({
      timestamp: '2026-11-21T00:08:52.486Z',
      metadata: { ts: 1700000000 },
    })
  })

  test('maps the record of zap', () => {
    const fields = { caller: 'a.go:1', msg: 'x', error: 'e', stacktrace: 'main.f\n\t/a.go:1' }
    expect(entryOf({ level: 'dpanic', ts: 1700000000.123, logger: 'db', ...fields })).toMatchObject({
      level: 'fatal',
      timestamp: '2023-11-14T22:13:20.123Z',
      message: 'x',
      source: 'a.go:1',
      error: { message: 'e' },
      metadata: { logger: 'db', stacktrace: 'main.f\n\t/a.go:1' },
    })
  })

  test.each(['time', '\\u0074ime', 'ti\\u006de'])('ignores a later %s', (key) => {
    expect(entryOf(`{"level":30,"time":1795219732486,"${key}":"1999-01-01T00:00:00.000Z","msg":"m"}`).timestamp).toBe(
      '2026-11-21T00:08:52.486Z',
    )
  })
})

describe('service, environment, version', () => {
  const options = { service: 'option', environment: 'option', version: 'option', fallbackService: 'fallback' }

  test.each<[string, object, Partial<MappingOptions>, Fields]>([
    [
      'the record',
      { service: 'a', environment: 'b', version: 'c' },
      options,
      { service: 'a', environment: 'b', version: 'c' },
    ],
    ['env', { env: 'b' }, {}, { environment: 'b' }],
    ['environment before env', { env: 'x', environment: 'b' }, {}, { environment: 'b', metadata: { env: 'x' } }],
    ['the options', {}, options, { service: 'option', environment: 'option', version: 'option' }],
    [
      'the options before the name',
      { name: 'n' },
      options,
      { service: 'option', environment: 'option', version: 'option', metadata: { name: 'n' } },
    ],
    ['the name before the fallback', { name: 'n' }, { fallbackService: 'fallback' }, { service: 'n' }],
    ['the fallback', {}, { fallbackService: 'fallback' }, { service: 'fallback' }],
    [
      'other types stay',
      { service: { name: 'a' }, environment: 5, version: null },
      options,
      {
        service: 'option',
        environment: 'option',
        version: 'option',
        metadata: { service: { name: 'a' }, environment: 5, version: null },
      },
    ],
  ])('%s', (_, members, over, fields) => expect(fieldsOf(members, over)).toEqual(fields))
})

describe('user', () => {
  test.each<[string, object, Fields]>([
    ['whole', { user: { id: 'u', email: 'e', name: 'n' } }, { user: { id: 'u', email: 'e', name: 'n' } }],
    ['a number id', { user: { id: 7 } }, { user: { id: '7' } }],
    ['the rest', { user: { id: 'u', plan: 'pro' } }, { user: { id: 'u' }, metadata: { user: { plan: 'pro' } } }],
    ['wrong types', { user: { id: { a: 1 }, email: null } }, { metadata: { user: { id: { a: 1 }, email: null } } }],
    ['empty', { user: {} }, { metadata: { user: {} } }],
    ['user_id', { user_id: 'u' }, { user_id: 'u' }],
    ['userId', { userId: 5 }, { user_id: '5' }],
    ['one unusable', { user_id: ['a'], userId: 'b' }, { user_id: 'b', metadata: { user_id: ['a'] } }],
  ])('%s', (_, members, fields) => expect(fieldsOf(members)).toEqual(fields))

  test('keeps the digits of a long id', () => {
    expect(entryOf('{"level":30,"time":1,"user_id":12345678901234567890,"msg":"m"}').user_id).toBe(
      '12345678901234567890',
    )
  })
})

describe('trace', () => {
  const ids = { trace_id: 't', span_id: 's', parent_span_id: 'p' }
  const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

  test.each<[string, object, Fields]>([
    ['OpenTelemetry', ids, { trace: ids }],
    ['with flags', { trace_id: 't', trace_flags: '01' }, { trace: { trace_id: 't' }, metadata: { trace_flags: '01' } }],
    ['an object', { trace: { ...ids, x: 1 } }, { trace: ids, metadata: { trace: { x: 1 } } }],
    [
      'traceparent',
      { req: { headers: { traceparent: TRACEPARENT } } },
      { trace: { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', parent_span_id: '00f067aa0ba902b7' } },
    ],
    [
      'a traceparent of zeros',
      { req: { method: 'GET', headers: { traceparent: TRACEPARENT.replace(/[1-9a-f]/g, '0') } } },
      { request: { method: 'GET' } },
    ],
    [
      'the record before all',
      { ...ids, trace: { trace_id: 'x' }, dd: { trace_id: 'y' } },
      { trace: ids, metadata: { trace: { trace_id: 'x' }, dd: { trace_id: 'y' } } },
    ],
    ['wrong type', { trace: 'x', trace_id: { a: 1 } }, { metadata: { trace: 'x', trace_id: { a: 1 } } }],
  ])('%s', (_, members, fields) => expect(fieldsOf(members)).toEqual(fields))

  const TRACE = '5759e988bd862e3fe1be46a994272793'
  const SPAN = '53995c3f42cd8ad8'
  const HALF = 'e1be46a994272793'
  const XRAY = '1-5759e988-bd862e3fe1be46a994272793'
  const decimal = (hex: string): string => BigInt(`0x${hex}`).toString()
  const callers = { trace: { trace_id: TRACE, parent_span_id: SPAN } }
  const padded = `${'0'.repeat(16)}${HALF}`

  test.each<[string, Record<string, string>, Fields]>([
    ['B3', { b3: `${TRACE}-${SPAN}-1-${HALF}` }, callers],
    ['B3 with 64 bits', { b3: `${HALF}-${SPAN}-d` }, { trace: { trace_id: padded, parent_span_id: SPAN } }],
    ['B3 without ids', { b3: '0' }, {}],
    ['B3 of zeros', { b3: `${'0'.repeat(32)}-${SPAN}-1` }, {}],
    ['several of B3', { 'x-b3-traceid': TRACE, 'x-b3-spanid': SPAN, 'x-b3-parentspanid': HALF }, callers],
    ['X-Ray', { 'x-amzn-trace-id': `Root=${XRAY};Parent=${SPAN};Sampled=1` }, callers],
    [
      'a load balancer',
      { 'x-amzn-trace-id': `Self=1-67891234-12456789abcdef012345678a;Root=${XRAY}` },
      { trace: { trace_id: TRACE } },
    ],
    ['X-Ray without a root', { 'x-amzn-trace-id': `Self=${XRAY}` }, {}],
    [
      'W3C before all others',
      {
        'x-amzn-trace-id': `Root=1-67891234-12456789abcdef012345678a`,
        b3: `${HALF}-${HALF}`,
        traceparent: `00-${TRACE}-${SPAN}-01`,
      },
      callers,
    ],
    ['W3C of a later version', { traceparent: `cc-${TRACE}-${SPAN}-01-more` }, callers],
    ['W3C of no version', { traceparent: `ff-${TRACE}-${SPAN}-01` }, {}],
    ['W3C with other text', { traceparent: `00-${TRACE}-${SPAN}-011` }, {}],
    ['W3C without ids', { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01`, b3: `${TRACE}-${SPAN}` }, callers],
    ['almost the same names', { 'x-b3-traceids': TRACE, 'x-amzn-trace-i': `Root=${XRAY}`, b4: `${TRACE}-${SPAN}` }, {}],
  ])('of the headers of %s', (_, headers, fields) => {
    const { request: _request, ...others } = fieldsOf({ req: { method: 'GET', url: '/', headers } })
    expect(others).toEqual(fields)
    expect(fieldsOf({ 'ecs.version': '8.10.0', http: { request: { method: 'GET', headers } } })).toMatchObject(fields)
  })

  test.each<[string, object, Fields]>([
    ['Datadog', { dd: { trace_id: TRACE, span_id: decimal(SPAN) } }, { trace: { trace_id: TRACE, span_id: SPAN } }],
    [
      'Datadog with 64 bits',
      { dd: { trace_id: decimal(HALF), span_id: '1' } },
      { trace: { trace_id: padded, span_id: '0000000000000001' } },
    ],
    [
      'Datadog, dotted',
      { 'dd.trace_id': decimal(HALF), 'dd.span_id': decimal(SPAN) },
      { trace: { trace_id: padded, span_id: SPAN } },
    ],
    [
      'Datadog with hexadecimal ids',
      { dd: { trace_id: HALF, span_id: SPAN } },
      { trace: { trace_id: padded, span_id: SPAN } },
    ],
    [
      'Datadog and the caller',
      { dd: { trace_id: TRACE, span_id: decimal(SPAN) }, req: { headers: { traceparent: TRACEPARENT } } },
      { trace: { trace_id: TRACE, span_id: SPAN } },
    ],
    [
      'Datadog, without a trace',
      { dd: { service: 'shop', env: 'test', version: '2' } },
      { service: 'shop', environment: 'test', version: '2' },
    ],
    [
      'Datadog, dotted, without a trace',
      { 'dd.service': 'shop', 'dd.env': 'test', 'dd.version': '2' },
      { service: 'shop', environment: 'test', version: '2' },
    ],
    [
      'Datadog, with a service of the record',
      { dd: { service: 'shop', env: 'test' }, service: 'pay', env: 'test' },
      { service: 'pay', environment: 'test', metadata: { dd: { service: 'shop' } } },
    ],
    [
      'Datadog, with other texts',
      { dd: { trace_id: '0', span_id: 'x', a: 1 } },
      { metadata: { dd: { trace_id: '0', span_id: 'x', a: 1 } } },
    ],
    [
      'Datadog, too large',
      { dd: { span_id: '99999999999999999999' } },
      { metadata: { dd: { span_id: '99999999999999999999' } } },
    ],
    [
      'B3 as fields',
      { 'X-B3-TraceId': HALF, 'X-B3-SpanId': SPAN, 'X-B3-ParentSpanId': HALF },
      { trace: { trace_id: padded, span_id: SPAN, parent_span_id: HALF } },
    ],
    [
      'B3 as fields in lower case',
      { 'x-b3-traceid': TRACE, 'x-b3-spanid': SPAN },
      { trace: { trace_id: TRACE, span_id: SPAN } },
    ],
    ['B3 as a field', { b3: `${TRACE}-${SPAN}-1` }, callers],
    ['another b3', { b3: 'x' }, { metadata: { b3: 'x' } }],
    ['X-Ray as a field', { 'X-Amzn-Trace-Id': `Root=${XRAY};Parent=${SPAN}` }, callers],
    [
      'pino-lambda',
      { 'x-correlation-trace-id': `Root=${XRAY};Parent=${SPAN};Sampled=0;Lineage=1:38b32d7e:0` },
      callers,
    ],
    ['Powertools', { xray_trace_id: XRAY }, { trace: { trace_id: TRACE } }],
    ['X-Ray with its segment', { 'AWS-XRAY-TRACE-ID': `${XRAY}@${SPAN}` }, { trace: { trace_id: TRACE } }],
    ["X-Ray's form of an id", { trace_id: XRAY, span_id: SPAN }, { trace: { trace_id: TRACE, span_id: SPAN } }],
    ["X-Ray's form of an id in an object", { trace: { traceId: XRAY } }, { trace: { trace_id: TRACE } }],
    ['the environment of a function', { traceId: `Root=${XRAY};Parent=${SPAN};Sampled=1` }, callers],
    ['an id that is almost one', { trace_id: `${XRAY}0` }, { trace: { trace_id: `${XRAY}0` } }],
    [
      'a UUID',
      { trace_id: '1b4e28ba-2fa1-11d2-883f-0016d3cca427' },
      { trace: { trace_id: '1b4e28ba-2fa1-11d2-883f-0016d3cca427' } },
    ],
  ])('of %s', (_, members, fields) => expect(fieldsOf(members)).toEqual(fields))

  test("Datadog's members as numbers", () => {
    const members = `"dd":{"trace_id":${decimal(HALF)},"span_id":${decimal(SPAN)}}`
    expect(entryOf(`{"level":30,"time":1,${members},"msg":"m"}`)).toMatchObject({
      trace: { trace_id: padded, span_id: SPAN },
    })
  })
})

describe('perf', () => {
  test.each<[string, object, Fields]>([
    [
      'whole',
      { perf: { duration_ms: 1.5, memory_mb: 2, db_queries: 3, cache_hits: 4 } },
      { perf: { duration_ms: 1.5, memory_mb: 2, db_queries: 3, cache_hits: 4 } },
    ],
    [
      'loose',
      { duration_ms: 1, memory_mb: 2, db_queries: 3, cache_hits: 4 },
      { perf: { duration_ms: 1, memory_mb: 2, db_queries: 3, cache_hits: 4 } },
    ],
    ['responseTime', { responseTime: 3.25 }, { perf: { duration_ms: 3.25 } }],
    ['text', { duration_ms: '12.5' }, { perf: { duration_ms: 12.5 } }],
    [
      'wrong types',
      { perf: { duration_ms: 'fast', x: 1 }, cache_hits: null },
      { metadata: { perf: { duration_ms: 'fast', x: 1 }, cache_hits: null } },
    ],
    [
      'with a request',
      { req: { method: 'GET' }, responseTime: 1, duration_ms: 2 },
      { request: { method: 'GET', duration_ms: 1 }, metadata: { duration_ms: 2 } },
    ],
    ['digits beyond a double', { duration_ms: '9'.repeat(400) }, { metadata: { duration_ms: '9'.repeat(400) } }],
  ])('%s', (_, members, fields) => expect(fieldsOf(members)).toEqual(fields))

  test.each(['1e400', '-1e400', `${'9'.repeat(400)}.0`, '1e0000400'])(
    '%s, which a double cannot hold, is not a number of the entry',
    (number) => {
      for (const key of ['responseTime', 'duration_ms', 'db_queries', 'a']) {
        const entry = entryOf(`{"level":30,"time":1,"req":{"method":"GET"},"${key}":${number},"msg":"m"}`)
        expect(entry).toMatchObject({ request: { method: 'GET' }, metadata: { [key]: number } })
      }
    },
  )
})

describe('deploy', () => {
  const deploy = { commit: 'c', branch: 'b', deployed_by: 'd' }

  test.each<[string, object, Partial<MappingOptions>, Fields]>([
    ['the record', { deploy }, { deploy: { commit: 'option' } }, { deploy }],
    [
      'camel case, and more',
      { deploy: { commit: 'c', branch: 'b', deployedBy: 'd', x: 1 } },
      {},
      { deploy, metadata: { deploy: { x: 1 } } },
    ],
    ['the options', {}, { deploy }, { deploy }],
    ['a text stays', { deploy: 'v1' }, { deploy }, { deploy, metadata: { deploy: 'v1' } }],
  ])('%s', (_, members, over, fields) => expect(fieldsOf(members, over)).toEqual(fields))
})

describe('breadcrumbs', () => {
  test.each<[string, unknown, Fields]>([
    [
      'whole',
      [
        {
          type: 't',
          category: 'c',
          message: 'm',
          level: 'info',
          timestamp: '2026-11-21T00:08:52.496Z',
          data: { a: 1 },
        },
      ],
      {
        breadcrumbs: [
          {
            type: 't',
            category: 'c',
            message: 'm',
            level: 'info',
            timestamp: '2026-11-21T00:08:52.496Z',
            data: { a: 1 },
          },
        ],
      },
    ],
    [
      'a level and a time as pino writes them',
      [{ level: 40, time: 1795219732486, message: 'm' }],
      { breadcrumbs: [{ level: 'warn', timestamp: '2026-11-21T00:08:52.486Z', message: 'm' }] },
    ],
    [
      'more',
      [{ message: 'm', url: '/', data: { url: '/x' } }],
      { breadcrumbs: [{ message: 'm', data: { url: '/x', url_: '/' } }] },
    ],
    [
      'wrong types',
      [{ message: {}, timestamp: 'x', data: 'y' }],
      { breadcrumbs: [{ data: { message: {}, timestamp: 'x', data: 'y' } }] },
    ],
    ['texts', ['clicked', null], { breadcrumbs: [{ message: 'clicked' }], metadata: { breadcrumbs: [null] } }],
    ['no list', { a: 1 }, { metadata: { breadcrumbs: { a: 1 } } }],
  ])('%s', (_, breadcrumbs, fields) => expect(fieldsOf({ breadcrumbs })).toEqual(fields))
})

describe('tags, notify and the plain fields', () => {
  test.each<[string, object, Partial<MappingOptions>, Fields]>([
    ['tags', { tags: ['a', 'b'] }, {}, { tags: ['a', 'b'] }],
    ["with the options'", { tags: ['a'] }, { tags: ['b', 'a'] }, { tags: ['a', 'b'] }],
    ['mixed tags', { tags: ['a', 1, null, { b: 2 }] }, {}, { tags: ['a', '1'], metadata: { tags: [null, { b: 2 }] } }],
    ['a map of tags', { tags: { a: 'b' } }, {}, { metadata: { tags: { a: 'b' } } }],
    ['notify', { notify: true, notify_channels: ['slack'] }, {}, { notify: true, notify_channels: ['slack'] }],
    ['notifyChannels', { notify: false, notifyChannels: 'slack' }, {}, { notify: false, notify_channels: ['slack'] }],
    [
      'own names',
      { action: 'a', session_id: 's', release_id: 'r', request_id: 'q', source: 'o', fingerprint: 'f' },
      { releaseId: 'option' },
      { action: 'a', session_id: 's', release_id: 'r', request_id: 'q', source: 'o', fingerprint: 'f' },
    ],
    ["the ecosystem's", { reqId: 'q', caller: 'main.js:1' }, {}, { request_id: 'q', source: 'main.js:1' }],
    ['event_id', { event_id: 'e' }, {}, { metadata: { event_id: 'e' } }],
  ])('%s', (_, members, over, fields) => expect(fieldsOf(members, over)).toEqual(fields))
})

describe('metadata', () => {
  test.each<[string, object, Partial<MappingOptions>, Fields]>([
    [
      'what nothing takes',
      { pid: 1, hostname: 'vm', a: { b: [1] } },
      {},
      { metadata: { pid: 1, hostname: 'vm', a: { b: [1] } } },
    ],
    ['three of one name', { metadata: { a: 1, a_: 3 }, a: 2 }, {}, { metadata: { a: 1, a_: 3, a_2: 2 } }],
    ['of another type', { metadata: 'x' }, {}, { metadata: { metadata: 'x' } }],
    ["the options' give way", { a: 1 }, { metadata: { a: 9, region: 'eu' } }, { metadata: { a: 1, region: 'eu' } }],
    [
      "to an error's rest",
      { err: { type: 'E', code: 1 } },
      { metadata: { error: 9 } },
      { error: { type: 'E' }, metadata: { error: { code: 1 } } },
    ],
    [
      "to a request's rest",
      { req: { method: 'GET', x: 1 }, res: { statusCode: 200, y: 2 } },
      { metadata: { req: 9, res: 9 } },
      { request: { method: 'GET', status_code: 200 }, metadata: { req: { x: 1 }, res: { y: 2 } } },
    ],
  ])('%s', (_, members, over, fields) => expect(fieldsOf(members, over)).toEqual(fields))

  test("a custom level takes precedence over the options' level", () => {
    expect(entryOf('{"level":35,"time":1,"msg":"m"}', { levels: CUSTOM, metadata: { level: 9 } }).metadata).toEqual({
      level: 'audit',
    })
  })

  test('keys such as __proto__ are ordinary keys', () => {
    const entry = entryOf(
      '{"level":30,"time":1,"__proto__":{"a":1},"constructor":1,"prototype":2,"toString":3,"":4,"msg":"m"}',
    )
    expect(Object.entries(entry.metadata ?? {})).toEqual([
      ['__proto__', { a: 1 }],
      ['constructor', 1],
      ['prototype', 2],
      ['toString', 3],
      ['', 4],
    ])
  })

  test('the input is not changed: the same line gives the same entry again', () => {
    const line = JSON.stringify({
      ...HEAD,
      err: { type: 'E', cause: { stack: 's', message: 'm' } },
      user: { id: 1 },
      tags: ['a', null],
      msg: 'm',
    })
    expect(entryOf(line)).toEqual(entryOf(line))
  })
})

describe('nestedKey', () => {
  const over = { nestedKey: 'payload' }

  test('its members are the record', () => {
    expect(fieldsOf({ payload: { err: { type: 'E', message: 'b' }, user_id: 'u', a: 1 } }, over)).toEqual({
      error: { type: 'E', message: 'b' },
      user_id: 'u',
      metadata: { a: 1 },
    })
  })

  test("except pino's own members", () => {
    expect(entryOf({ ...HEAD, payload: { level: 60, time: 0, msg: 'inner' }, msg: 'outer' }, over)).toMatchObject({
      level: 'info',
      message: 'outer',
      timestamp: '2026-11-21T00:08:52.486Z',
      metadata: { payload: { level: 60, time: 0, msg: 'inner' } },
    })
  })
})
