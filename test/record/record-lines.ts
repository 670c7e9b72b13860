/** Lines for the mapper's tests: what pino wrote, and what fast-check makes up. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { PINO_LEVELS } from '../../src/record/coerce.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'

export interface CorpusRecord {
  readonly label: string
  readonly raw: string
}

export const corpus: readonly CorpusRecord[] = readFileSync(
  new URL('../fixtures/pino-records.ndjson', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as CorpusRecord)

export const RECEIVED_AT = '2026-11-21T12:00:00.000Z'

export function createMappingOptions(over: Partial<MappingOptions> = {}): MappingOptions {
  return {
    messageKey: 'msg',
    errorKey: 'err',
    requestKeys: { req: 'req', res: 'res', responseTime: 'responseTime', reqId: 'reqId' },
    levels: PINO_LEVELS,
    tags: [],
    metadata: {},
    fingerprint: false,
    maxEntryBytes: 256 * 1024,
    ...over,
  }
}

/** Every key that the field table gives a meaning, and some that it does not. */
const KEYS = [
  'level',
  'time',
  'msg',
  'message',
  'err',
  'error',
  'req',
  'res',
  'request',
  'response',
  'responseTime',
  'reqId',
  'requestId',
  'request_id',
  'req_id',
  'x-request-id',
  'correlationId',
  'x-correlation-id',
  'q',
  's',
  'took',
  'rid',
  'pid',
  'hostname',
  'name',
  'service',
  'environment',
  'env',
  'version',
  'user',
  'user_id',
  'userId',
  'session_id',
  'sessionId',
  'release_id',
  'releaseId',
  'action',
  'source',
  'caller',
  'fingerprint',
  'trace',
  'trace_id',
  'traceId',
  'span_id',
  'spanId',
  'parent_span_id',
  'parentSpanId',
  'dd',
  'perf',
  'duration_ms',
  'memory_mb',
  'db_queries',
  'cache_hits',
  'deploy',
  'breadcrumbs',
  'tags',
  'notify',
  'notify_channels',
  'notifyChannels',
  'metadata',
  'severity',
  '@timestamp',
  'timestamp',
  'stack',
  'type',
  'event_id',
  'payload',
  'a',
  'b',
  'region',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '',
  'le\\u0076el',
  'ti\\u006de',
  'm\\u0073g',
  'nul\\u0000',
  'x\\"y',
  'é',
]

const text = fc.oneof(
  fc.constantFrom(
    '""',
    '"hello"',
    '"WARN"',
    '"audit"',
    '"30"',
    '"2026-11-21T00:08:52.496Z"',
    '"GET"',
    '"/a?b=c"',
    '"http://h/p?q"',
    '"C:\\\\app\\\\x"',
    '"\\u0000x"',
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    '"\\u001b[31m"',
    '"a\\nb"',
    '"\\\\"',
    '"\\\\\\""',
    '"/"',
    '"é😀"',
    '"[Redacted]"',
    '"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"',
    '"TypeError: boom\\n    at f (file:///app/src/a.js:1:2)\\n    at g (/app/node_modules/x.js:1:1)"',
    '"Error: w\\n    at C:\\\\app\\\\a.js:1:2"',
    '"Error: n\\n    at node:internal/x:1:1\\n    at async h (/srv/b.js:3:4)"',
  ),
  fc.string({ unit: 'grapheme' }).map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value)),
)

const number = fc.constantFrom(
  // -0 is left out: JSON.stringify writes it as 0, and the two are equal.
  '0',
  '1',
  '7',
  '10',
  '20',
  '30',
  '35',
  '50',
  '60',
  '100',
  '200',
  '404',
  '1.5',
  '1e3',
  '1E-2',
  '-5',
  '12345678901234567890',
  '1795219732486',
  '1795219732',
  '1795219732486123',
  '1795219732486123456',
  '1795219732.4867',
  '0.30000000000000004',
  '9007199254740993',
  '1.0',
)

const scalar = fc.oneof(text, number, fc.constantFrom('true', 'false', 'null'))

const INNER = [
  'id',
  'email',
  'name',
  'type',
  'message',
  'stack',
  'cause',
  'aggregateErrors',
  'errors',
  'code',
  'method',
  'url',
  'path',
  'headers',
  'user-agent',
  'x-request-id',
  'traceparent',
  'user-\\u0061gent',
  'authorization',
  'remoteAddress',
  'remotePort',
  'statusCode',
  'status_code',
  'status',
  'body',
  'trace_id',
  'span_id',
  'duration_ms',
  'commit',
  'branch',
  'deployedBy',
  'category',
  'level',
  'timestamp',
  'data',
  'config',
  'options',
  'request',
  'response',
  'x',
  'y',
  '__proto__',
]

const { value } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, scalar, tie('object'), tie('array')),
  object: fc
    .array(fc.tuple(fc.constantFrom(...INNER), tie('value')), { maxLength: 6 })
    .map((members) => `{${members.map(([key, item]) => `"${key}":${item}`).join(',')}}`),
  array: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
}))

const members = fc.array(fc.tuple(fc.constantFrom(...KEYS), value), { maxLength: 12 })

/** As pino writes: level and time first, the message last; between them anything, also the same keys again. */
export const pinoLine = fc
  .tuple(
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom('30', '50', '20', '35') }, { weight: 1, arbitrary: value }),
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('1795219732486', '1795219733001') },
      { weight: 1, arbitrary: value },
    ),
    members,
    fc.oneof({ weight: 4, arbitrary: text }, { weight: 1, arbitrary: value }),
  )
  .map(
    ([level, time, between, msg]) =>
      `{${[['level', level], ['time', time], ...between, ['msg', msg]].map(([key, item]) => `"${key}":${item}`).join(',')}}`,
  )

const stack = fc.constantFrom(
  '"TypeError: boom\\n    at f (file:///app/src/a.js:1:2)\\n    at g (/app/node_modules/x.js:1:1)"',
  '"Error: n\\n    at node:internal/x:1:1\\n    at async h (/srv/b.js:3:4)"',
  '"Error: w\\n    at C:\\\\app\\\\a.js:1:2"',
  '""',
)
const headers = fc.constantFrom(
  '{}',
  '{"user-agent":"test/1","accept":"*/*"}',
  '{"host":"h","x-request-id":"c-1"}',
  '{"x-request-id":"token=1"}',
  '{"x-request-id":777}',
  '{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","authorization":"Bearer x"}',
)

/** What applications log every day, with now and then a value of another kind in its place. */
const usualMember: fc.Arbitrary<[string, string]> = fc.oneof(
  fc.constantFrom<[string, string][]>(
    ['pid', '28256'],
    ['hostname', '"vm"'],
    ['reqId', '"req-1"'],
    ['reqId', '7'],
    ['reqId', '"c-1"'],
    ['correlationId', '"c-1"'],
    ['x-request-id', '"c-2"'],
    ['rid', '"req-1"'],
    ['took', '5'],
    ['s', '{"statusCode":404,"headers":{"set-cookie":"x"}}'],
    ['res', '{"status":404,"headers":{}}'],
    ['res', '{"status":"done","statusCode":200}'],
    ['user_id', '"u1"'],
    ['userId', '5'],
    ['name', '"api"'],
    ['service', '"api"'],
    ['env', '"prod"'],
    ['version', '"2"'],
    ['responseTime', '3.25'],
    ['trace_id', '"abc"'],
    ['spanId', '"def"'],
    ['res', '{"statusCode":200,"headers":{"content-type":"application/json"}}'],
    ['session_id', '"s"'],
    ['source', '"a.js:1"'],
  ),
  fc
    .tuple(
      fc.constantFrom('req', 'req', 'q'),
      headers,
      fc.constantFrom('"id":1,', '"id":"in-42",', '"id":"req-1",', ''),
      fc.constantFrom('GET', 'get', 'Post', 'm-search', 'getUser', 'GÉT'),
    )
    .map(([key, all, id, method]): [string, string] => [
      key,
      `{${id}"method":"${method}","url":"/ok?x=1","headers":${all},"remoteAddress":"127.0.0.1","remotePort":47958}`,
    ]),
  fc
    .tuple(stack, value)
    .map(([lines, extra]): [string, string] => [
      'err',
      `{"type":"TypeError","message":"boom","stack":${lines},"code":${extra}}`,
    ]),
  fc.tuple(fc.constantFrom('a', 'b', 'orderId', 'items'), value),
  fc.tuple(fc.constantFrom('constructor', '__proto__', 'toString'), scalar),
)

export const usualLine = fc
  .tuple(
    fc.constantFrom('30', '50', '20', '35'),
    fc.constantFrom('1795219732486', '1795219733001'),
    fc.array(usualMember, { maxLength: 6 }),
    text,
  )
  .map(
    ([level, time, between, msg]) =>
      `{${[['level', level], ['time', time], ...between, ['msg', msg]].map(([key, item]) => `"${key}":${item}`).join(',')}}`,
  )

/** JSON text without quotes. */
const errorText = fc
  .array(
    fc.constantFrom(
      'a',
      'b',
      ': ',
      ' ',
      '\\"',
      '\\\\',
      '\\n',
      'é',
      '\\u00e9',
      '\\u00E9',
      'caused by: ',
      '\\nparams: 1',
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''))
const frames = fc.constantFrom(
  '',
  '\\n    at f (/app/src/a.js:1:2)',
  '\\n    at g (/app/node_modules/x.js:1:1)\\n    at node:internal/x:1:1\\n    at async h (file:///srv/b.js:3:4)',
  '\\n    at C:\\\\ncaused by: x (C:\\\\app\\\\a.js:1:2)',
)
const errorType = fc.constantFrom('Error', 'TypeError', 'DOMException', 'AxiosError', '')
const errorMember = fc.constantFrom(
  '"code":"E_A"',
  '"code":"UND_ERR_SOCKET"',
  '"code":7',
  '"name":"TimeoutError"',
  '"name":""',
  '"status":502',
  '"statusCode":500',
  '"url":"/a"',
  '"isAxiosError":true',
  '"config":{"baseURL":"http://h","url":"/b","method":"get","headers":{"a":"b"}}',
  '"config":{"depth":3}',
  '"config":"[omitted]"',
  '"response":{"status":404,"data":{"n":12345678901234567890}}',
  '"request":{"method":"POST","path":"/c","host":"h","protocol":"http:"}',
  '"body":"x"',
  '"data":[1]',
  '"details":{"request":{"method":"GET","url":"/d"},"sql":"select 1"}',
  '"details":{"stack":"x","message":"y","headers":{}}',
  '"error":{"message":"x","stack":"E: x"}',
  '"query":"select 1"',
  `"sql":"select 'x'"`,
  '"values":[1,2]',
  '"params":[1]',
  '"0":"a"',
  '"x":{"y":[1,"2"]}',
  '"n":12345678901234567890',
  '"cause":"text"',
)

const { error: errorJson } = fc.letrec<{ error: string; part: string }>((tie) => ({
  error: fc
    .record({
      type: errorType,
      own: errorText,
      causes: fc.array(fc.tuple(errorType, errorText, frames), { maxLength: 2 }),
      frames,
      changed: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: errorText }),
      before: fc.array(errorMember, { maxLength: 3 }),
      after: fc.array(errorMember, { maxLength: 2 }),
      cause: fc.option(tie('part'), { nil: undefined }),
      parts: fc.option(fc.array(tie('part'), { maxLength: 3 }), { nil: undefined, freq: 3 }),
      key: fc.constantFrom('aggregateErrors', 'errors'),
    })
    .map((error) => {
      const message = [error.changed ?? error.own, ...error.causes.map(([, own]) => own)].join(': ')
      const stacks = [[error.type, error.own, error.frames], ...error.causes]
      const all = [
        ...error.before,
        `"type":"${error.type}"`,
        `"message":"${message}"`,
        `"stack":"${stacks.map(([type, own, lines]) => `${type}: ${own}${lines}`).join('\\ncaused by: ')}"`,
        ...error.after,
        ...(error.cause === undefined ? [] : [`"cause":${error.cause}`]),
        ...(error.parts === undefined ? [] : [`"${error.key}":[${error.parts.join(',')}]`]),
      ]
      return `{${all.join(',')}}`
    }),
  part: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('{"type":"E","message":"b","stack":"E: b"}', '{"type":"E","message":"b","stack":""}'),
    tie('error'),
  ),
}))

export const errorLine = errorJson.map((error) => `{"level":50,"time":1795219732486,"err":${error},"msg":"m"}`)

/** JSON in any order, with white space. */
export const looseLine = fc
  .tuple(members, fc.constantFrom('', ' ', '\t'))
  .map(
    ([all, space]) =>
      `${space}{${all.map(([key, item]) => `${space}"${key}"${space}:${space}${item}`).join(`,${space}`)}${space}}${space}`,
  )

/** Text that is no JSON, and JSON that was damaged. */
export const brokenLine = fc.oneof(
  fc
    .string({ unit: 'binary', minLength: 1 })
    .map((line) => line.replaceAll('\n', ' '))
    .filter((line) => !/^[\r ]*$/.test(line)),
  fc
    .tuple(pinoLine, fc.nat(), fc.constantFrom('', '"', '\\', '{', ']', ',', '\u0000', '\u0007', 'x', '\ud800'))
    .map(([line, at, put]) => {
      const cut = at % line.length
      return line.slice(0, cut) + put + line.slice(cut + 1)
    })
    .filter((line) => !/^[\r ]*$/.test(line)),
  fc.constantFrom(
    'null',
    '5',
    '"text"',
    '[1]',
    '{',
    '}',
    '{}',
    'undefined',
    '\u001b[31mred\u001b[0m',
    '{"a":1}{"b":2}',
  ),
)

export const anyLine = fc.oneof(
  { weight: 6, arbitrary: usualLine },
  { weight: 4, arbitrary: pinoLine },
  { weight: 2, arbitrary: looseLine },
  { weight: 2, arbitrary: brokenLine },
)
