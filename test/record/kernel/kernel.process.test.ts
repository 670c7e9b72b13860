/** The kernel and the reference path give the same entry for every line. */
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { Redactor } from '../../../src/redaction/redactor.js'
import { Kernel } from '../../../src/record/kernel/kernel.js'
import { MappedRecord } from '../../../src/record/mapped-record.js'
import { mapByParsing } from '../../../src/record/reference/reference-path.js'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import type { MappingOptions } from '../../../src/record/reference/entry-fields.js'
import { expectLinearTime } from '../../linear-time.js'
import { modelRuns } from '../../model-runs.js'
import { RECEIVED_AT, anyLine, corpus, createMappingOptions, errorLine, renamed } from '../record-lines.js'

const mapped = new MappedRecord()

interface Configuration {
  readonly options: MappingOptions
  /** Lines of the corpus, of 78, that the kernel takes. The others only cost time: the reference path maps them. */
  readonly taken: number
  /** The least percentage of the generated lines, of which many are hostile, that it takes. */
  readonly least: number
}

const configurations: [string, Configuration][] = [
  ['no options', { options: createMappingOptions(), taken: 63, least: 13 }],
  [
    'every option',
    {
      options: createMappingOptions({
        service: 'checkout',
        fallbackService: 'app',
        environment: 'test',
        version: '1.2.3',
        releaseId: 'rel_1',
        deploy: { commit: 'abc' },
        tags: ['a', 'b'],
        metadata: { region: 'eu', a: 1 },
      }),
      taken: 57,
      least: 10,
    },
  ],
  [
    'other keys',
    {
      options: createMappingOptions({
        messageKey: 'message',
        errorKey: 'error',
        levels: { 30: 'info', 35: 'audit', 20: 'critical' },
        fallbackService: 'app',
      }),
      taken: 65,
      least: 5,
    },
  ],
  [
    'metadata under the names of fields',
    {
      options: createMappingOptions({ metadata: { user: 'x', user_id: 1, name: true, tags: ['c'], duration_ms: 1 } }),
      taken: 61,
      least: 12,
    },
  ],
  [
    'other names of a request',
    {
      options: createMappingOptions({ requestKeys: { req: 'q', res: 's', responseTime: 'took', reqId: 'rid' } }),
      taken: 48,
      least: 9,
    },
  ],
  [
    'one id of a request under the name of another',
    {
      options: createMappingOptions({
        requestKeys: { req: 'req', res: 'res', responseTime: 'took', reqId: 'x-request-id' },
      }),
      taken: 63,
      least: 10,
    },
  ],
  ['fingerprint', { options: createMappingOptions({ fingerprint: true }), taken: 63, least: 12 }],
]

/** The kernel supports none of these. */
const unsupported: [string, MappingOptions][] = [
  ['nested', createMappingOptions({ nestedKey: 'payload' })],
  ['keys that mean something', createMappingOptions({ messageKey: 'action', errorKey: 'name' })],
  [
    'names of a request that are fields',
    createMappingOptions({
      messageKey: 'message',
      requestKeys: { req: 'request', res: 'user', responseTime: 'duration_ms', reqId: 'action' },
    }),
  ],
]

const kernels = new Map<MappingOptions, Kernel>()

function kernelFor(options: MappingOptions): Kernel {
  let kernel = kernels.get(options)
  if (kernel === undefined) kernels.set(options, (kernel = Kernel.create(options) as Kernel))
  return kernel
}

function mapWith(kernel: Kernel, line: string): boolean {
  return kernel.map(kernel.lines.place(line), mapped)
}

function fast(line: string, options: MappingOptions): string | undefined {
  return mapWith(kernelFor(options), line) ? mapped.json : undefined
}

describe.each(configurations)('with %s', (_, { options, taken, least }) => {
  test('corpus', () => {
    const compared = corpus.filter(({ label, raw }) => {
      const line = renamed(raw, options)
      const json = fast(line, options)
      if (json === undefined) return false
      expect(JSON.parse(json), label).toEqual(JSON.parse(mapByParsing(line, options, RECEIVED_AT).json))
      return true
    })
    expect(compared).toHaveLength(taken)
  })

  test('generated lines', () => {
    let compared = 0
    let lines = 0
    fc.assert(
      fc.property(anyLine, fc.boolean(), (generated, isRenamed) => {
        lines += 1
        const line = isRenamed ? renamed(generated, options) : generated
        const json = fast(line, options)
        if (json === undefined) return
        compared += 1
        const reference = mapByParsing(line, options, RECEIVED_AT)
        expect(JSON.parse(json)).toEqual(JSON.parse(reference.json))
        expect([mapped.requestPart, mapped.requestId]).toEqual([reference.requestPart, reference.requestId])
      }),
      { numRuns: modelRuns(2_000, 50_000) },
    )
    expect(compared / lines).toBeGreaterThan(least / 100)
  })
})

test.each(unsupported)('with %s, the kernel takes no line', (_, options) => {
  expect(corpus.filter(({ raw }) => fast(renamed(raw, options), options) !== undefined)).toEqual([])
  fc.assert(
    fc.property(anyLine, (line) => {
      expect(fast(line, options)).toBeUndefined()
      expect(fast(renamed(line, options), options)).toBeUndefined()
    }),
    { numRuns: 100 },
  )
})

test('errors of libraries, with their members and causes', () => {
  const options = createMappingOptions({ fingerprint: true })
  let taken = 0
  fc.assert(
    fc.property(errorLine, (line) => {
      const json = fast(line, options)
      if (json === undefined) return
      taken += 1
      expect(JSON.parse(json)).toEqual(JSON.parse(mapByParsing(line, options, RECEIVED_AT).json))
    }),
    { numRuns: modelRuns(2_000, 50_000) },
  )
  expect(taken).toBeGreaterThan(700)
})

test('the kernel takes typical lines', () => {
  const usual = [
    'plain info',
    'info obj+msg',
    'error(err)',
    'error({err}, msg)',
    'child bindings',
    'mixin',
    'err with extra props (code, statusCode, errno)',
    'pino-http success (GET /ok?x=1)',
    'pino-http 404',
    'fastify 5 incoming request',
    'fastify 5 request completed',
    'timestamp isoTime',
  ]
  const missed = usual.filter((label) => {
    const record = corpus.find((one) => one.label.trim() === label)
    return record === undefined || fast(record.raw, createMappingOptions()) === undefined
  })
  expect(missed).toEqual([])
})

const HEAD = '{"level":30,"time":1763700000123,"pid":42,"hostname":"web-1"'

/** The entry, which must equal that of the reference path; undefined if the kernel rejects the line. */
function mapLines(...lines: string[]): unknown[] {
  return mapLinesWith(
    createMappingOptions({
      redactor: new Redactor({ patterns: [], keys: ['token', 'password', 'pin'] }),
    }),
    lines,
  )
}

function mapLinesWith(options: MappingOptions, lines: readonly string[]): unknown[] {
  const path = Kernel.create(options) as Kernel
  return lines.map((line) => {
    const isTaken = mapWith(path, line)
    if (!isTaken) return undefined
    const entry: unknown = JSON.parse(mapped.json)
    expect(entry).toEqual(JSON.parse(mapByParsing(line, options, RECEIVED_AT).json))
    return entry
  })
}

test.each([5, 64, 65, 500, 990])('a record with %i keys of its own is mapped by the kernel', (count) => {
  const members = Array.from({ length: count }, (_, key) => `,"key number ${key}":${key}`).join('')
  const line = `${HEAD}${members},"msg":"m"}`
  for (const entry of mapLines(line, line)) expect(entry).toBeDefined()
  expect(mapLines(line, `${HEAD}${members},"key number ${count - 1}":0,"msg":"m"}`)[1]).toBeUndefined()
})

test('compares even more keys than usual', () => {
  const lineOf = (first: number): string =>
    `${HEAD}${Array.from({ length: 800 }, (_, key) => `,"k${first + key}":1`).join('')},"msg":"m"`
  const twice = mapLines(`${lineOf(0)}}`, `${lineOf(800)}}`, `${lineOf(1_600)}}`, `${lineOf(1_600)},"k2000":2}`)
  expect(twice.map((entry) => entry === undefined)).toEqual([false, false, false, true])
})

test.each([
  '"err":{"type":"E","message":"m","stack":"E: m\\n    at f (/app/a.js:1:2)","errors":[{"type":"B","message":"b","stack":"B: b"}]}',
  '"err":{"type":"E","message":"m","stack":"E: m","name":"E","code":7}',
  '"err":{"message":"m","name":"E","stack":"E: m"}',
  '"err":{"type":"Error","message":"m","stack":"Error: m","name":"TimeoutError"}',
  '"err":{"name":"A","type":"Error","message":"m","stack":"Error: m","name":"B"}',
])('takes {%s}', (members) => {
  expect(mapLines(`${HEAD},${members},"msg":"x"}`)[0]).toBeDefined()
})

test.each([
  ['parameter', `${HEAD},"req":{"method":"GET","url":"/a?b=1&token=SECRET","query":{"b":"1"}},"msg":"m"}`],
  ['user info', `${HEAD},"url":1,"msg":"could not reach https://user:SECRET@example.com/"}`],
])('removes the secret %s of a URL by the kernel', (_, line) => {
  const [, entry] = mapLines(`${HEAD},"msg":"before"}`, line)
  expect(entry).toBeDefined()
  expect(JSON.stringify(entry)).not.toContain('SECRET')
})

test.each([
  [{ user: { id: 7, email: 'a@example.com', plan: 'pro' }, tags: ['a', 'b'] }, {}, true],
  [{ user: 'jo', user_id: null, service: false, duration_ms: 12 }, {}, false],
  [
    { user: null, user_id: null, name: true, tags: ['b'] },
    { metadata: { user_id: 1, name: 2 }, tags: ['b', 'c'] },
    false,
  ],
  [{ user: { id: 'u-1', plan: 'pro' } }, { metadata: { user: 'x' } }, false],
  [{ user: { id: 'u-1', plan: 'pro' } }, { metadata: { region: 'eu' } }, true],
])('%j with the options %j: %j', (members, given, isTaken) => {
  const line = `${HEAD},${JSON.stringify(members).slice(1, -1)},"msg":"m"}`
  expect(mapLinesWith(createMappingOptions(given), [line])[0] !== undefined).toBe(isTaken)
})

test.each([
  [
    `"traceparent":"00-${'a'.repeat(32)}-${'b'.repeat(16)}-01","x-amzn-trace-id":"Root=1-5759e988-bd862e3fe1be46a994272793"`,
    true,
  ],
  ['"x-amzn-trace-id":"Root=1-5759e988-bd862e3fe1be46a994272793"', true],
  [`"traceparent":"${'a'.repeat(32)}-${'b'.repeat(16)}-1"`, true],
  [`"b3":"${'a'.repeat(32)}-${'b'.repeat(16)}-1","traceparent":"00-"`, false],
  [`"x-b3-traceid":"${'a'.repeat(32)}","x-b3-spanid":"${'b'.repeat(16)}"`, false],
  [`"traceparent":"00-${'a'.repeat(32)}-${'b'.repeat(16)}-01","traceparent":"00-"`, false],
])('the headers {%s}: %j', (headers, isTaken) => {
  const line = `${HEAD},"req":{"method":"GET","url":"/","headers":{${headers}}},"msg":"m"}`
  expect(mapLines(line)[0] !== undefined).toBe(isTaken)
})

test.each([
  ['"2026-11-21T00:08:52.496Z"', true],
  ['"2026-01-31T23:59:59.123456789Z"', true],
  ['1763700000', true],
  ['"2026-11-31T00:00:00.000Z"', false],
  ['"2026-11-21T00:08:52.496+01:00"', false],
  ['"2026-02-29T24:00:00.000Z"', false],
  ['1763700000123456', false],
])('the time %s: %j', (time, isTaken) => {
  const line = HEAD.replace('1763700000123', time)
  expect(mapLines(`${line},"msg":"m"}`)[0] !== undefined).toBe(isTaken)
})

const STACK = 'Error: a\\n    at f (/app/a.js:1:2)'
const PART = '{"type":"P","message":"p","stack":"P: p\\n    at f (/app/p.js:1:2)","code":"E_P","port":80}'

test.each([
  [
    'causes, as pino writes them',
    `{"type":"Error","message":"a: b: c","stack":"${STACK}\\ncaused by: Error: b\\n    at g (/app/b.js:1:2)\\ncaused by: Error: c"}`,
  ],
  [
    'parts that have their own members, and messages with those of their causes',
    `{"type":"AggregateError","message":"a","stack":"AggregateError: a","code":1,"errors":[${PART},{"type":"E","message":"b: c","stack":"E: b\\n    at f (/app/b.js:1:2)\\ncaused by: E: c"}],"n":2}`,
  ],
  [
    'a message of several lines, with frames of another error',
    '{"type":"E","message":"a\\n    at g (/app/b.js:1:2)","stack":"E: a\\n    at g (/app/b.js:1:2)\\n    at f (/app/a.js:1:2)"}',
  ],
  [
    'a message of several lines that is not in its stack',
    '{"type":"E","message":"a\\nb","stack":"E: c\\n    at f (/app/a.js:1:2)"}',
  ],
  ['12 parts', `{"type":"AggregateError","message":"a","stack":"${STACK}","errors":[${Array(12).fill(PART).join()}]}`],
])('an error with %s is mapped by the kernel', (_, err) => {
  expect(mapLines(`${HEAD},"err":${err},"a":1,"msg":"m"}`)[0]).toBeDefined()
})

test('errors are mapped by the kernel, even with a fingerprint', () => {
  const record = corpus.find(({ label }) => label.trim() === 'error({err}, msg)')
  const options = createMappingOptions({ fingerprint: true })
  const json = fast(record?.raw ?? '', options)
  const { fingerprint } = JSON.parse(mapByParsing(record?.raw ?? '', options, RECEIVED_AT).json) as LogEntry
  expect(JSON.parse(json ?? '{}')).toMatchObject({ fingerprint })
  // Only a record's own fingerprint replaces others.
  expect(mapped.fingerprint).toBe('')
})

const EXCHANGE =
  '"cause":{"type":"E","message":"m","stack":"E: m","config":{"method":"post","url":"http://h/x","data":"SECRET"}}'
const ERR = String.raw`"err":{"type":"E","message":"m","stack":"E: m\n    at f (/app/a.js:1:2)"`

test.each([
  ['user info with an escaped hash', String.raw`"url":"postgres://user:pa\\#SECRET@host/db"`],
  ['user info with an escaped question mark', String.raw`"note":"postgres://user:pa\\?SECRET@host/db"`],
  ['an exchange within a renamed request', `"q":{"method":"GET","url":"/",${EXCHANGE}}`],
  ['an exchange within a renamed response', `"s":{"statusCode":500,${EXCHANGE}}`],
  [
    'user info of a URL that is composed',
    `${ERR},"config":{"method":"get","protocol":"https:","host":"u:SECRET@h","path":"/x"}}`,
  ],
  [
    'a parameter of a URL that is composed',
    `${ERR},"config":{"method":"get","protocol":"https:","host":"h?tok","path":"en=SECRET"}}`,
  ],
])('lets no secret through: %s', (_, members) => {
  const redactor = new Redactor({ patterns: [], keys: ['token', 'password', 'pin'] })
  const requestKeys = { req: 'q', res: 's', responseTime: 'took', reqId: 'rid' }
  const line = `${HEAD},${members},"msg":"m"}`
  const renamedOptions = createMappingOptions({ redactor, requestKeys })
  expect(mapByParsing(line, renamedOptions, RECEIVED_AT).json).not.toContain('SECRET')
  for (const options of [createMappingOptions({ redactor }), renamedOptions]) {
    const reference = mapByParsing(line, options, RECEIVED_AT).json
    expect(JSON.parse(fast(line, options) ?? reference)).toEqual(JSON.parse(reference))
  }
})

/** Parts of names, separators, URLs and their encodings. */
const fragment = fc.constantFrom(
  ...'token api_key apiKey X-Api-Key sessionKey password secret Authorization auth cookie private_key x-master--key'.split(
    ' ',
  ),
  ...'%3D %253d = %3A%2F%2F %3a// %253A%252F%252F :// u:p@ u%3Ap%40 %40 @ % %2 %3 %zz %20 %26 & ? / # ; : , => [ ]'.split(
    ' ',
  ),
  ...[' ', '  ', ': ', ', ', '\\"', "'", '\\\\', '\\n', 'SECRET', 'x', 'é', '\u00a0', 'Bearer ', 'Basic '],
)
const searchedText = fc.array(fragment, { minLength: 1, maxLength: 6 }).map((parts) => `"${parts.join('')}"`)

test('finds the same secrets as the reference path', () => {
  const redactor = new Redactor({
    patterns: [],
    keys: ['token', 'password', 'api_key', 'private_key'],
  })
  const options = createMappingOptions({ redactor })
  let taken = 0
  fc.assert(
    fc.property(searchedText, searchedText, searchedText, (one, two, msg) => {
      const line = `${HEAD},"a":${one},"b":[${two}],"msg":${msg}}`
      const json = fast(line, options)
      if (json === undefined) return
      taken += 1
      expect(JSON.parse(json)).toEqual(JSON.parse(mapByParsing(line, options, RECEIVED_AT).json))
    }),
    { numRuns: modelRuns(2_000, 50_000) },
  )
  expect(taken).toBeGreaterThan(500)
})

test.each([
  '"x-auth=S3cr3t&user[password]":"hunter2"',
  '"Authorization: Bearer abc.def user.password":"x"',
  String.raw`"d":{"\"token":"   |"}`,
  '"err":{"type":"E","message":"m","stack":"E: m","response":{"status":1},"cookie":{"method":"post","url":"http://h/","headers":{}}}',
])('finds the same secrets as the reference path in {%s}', (members) => {
  mapLines(`${HEAD},${members},"msg":"m"}`)
})

test.each([
  ['encoded equals signs', (size: number) => `"referer":"http://h/?${'%3d'.repeat(size / 3)}"`],
  [
    'an error whose message is not at the start of its stack',
    (size: number) => {
      const [message, stack] = ['a'.repeat(size / 3), 'a'.repeat((2 * size) / 3)]
      return String.raw`"err":{"type":"E","message":"${message}\nb","stack":"x${stack}\n    at x"}`
    },
  ],
  ['beginnings of user info', (size: number) => `"a":"${':\\\\\\\\'.repeat(size / 5)}"`],
])('takes linear time for %s', (_, membersOf) => {
  const kernel = kernelFor(createMappingOptions())
  expectLinearTime(200_000, (size) => {
    const line = kernel.lines.place(`${HEAD},${membersOf(size)},"msg":"m"}`)
    return () => kernel.map(line, mapped)
  })
})

test.each([
  ['"url":"/orders?at=12%3A30&q=a%3Db%20c"', false],
  ['"sessionKey":"a","constraint":"orders_id_key"', false],
  [`"note":"Unexpected token '<', not JSON"`, false],
  ['"url":"/login?next=%2Fa%3Ftoken%3Dx"', true],
  ['"url":"/to?url=https%3A%2F%2Fu%3Ap%40h"', true],
  ['"x-license-key":"a"', true],
])('a line with {%s} is searched for secrets: %j', (members, isSearched) => {
  const redactor = new Redactor({ patterns: [], keys: ['token'] })
  const searches = [vi.spyOn(redactor, 'redactJson'), vi.spyOn(redactor.names.candidates, 'exec')]
  mapWith(kernelFor(createMappingOptions({ redactor })), `${HEAD},${members},"msg":"m"}`)
  expect(searches.some(({ mock }) => mock.calls.length > 0)).toBe(isSearched)
})

test('detects a secret in a string after another string', () => {
  const options = createMappingOptions({
    redactor: new Redactor({ patterns: [], keys: ['token', 'password', 'pin'] }),
  })
  const path = Kernel.create(options) as Kernel
  const entryOf = (one: string): string | undefined => (mapWith(path, one) ? mapped.json : undefined)
  const harmless = `${HEAD},"msg":"a text without secrets, which is as long as any other of this test"}`
  const line = (msg: string): string => `${HEAD},"msg":"${msg}"}`
  const lines = [line('GET /a?token=SECRET'), line('cookie: session=SECRET'), line('GET /b?token=SECRET')]
  // Lines with headers are declined.
  const isTaken = [true, false, true]
  for (let round = 0; round < 2; round += 1) {
    expect(entryOf(harmless)).toBeDefined()
    const entries = lines.map(entryOf)
    expect(entries.map((entry) => entry !== undefined)).toEqual(isTaken)
    expect(entries.join('\n')).not.toContain('SECRET')
  }
})

test.each([
  '"res":{"statusCode":500,"type":"MongoServerError","message":"m","stack":"MongoServerError: m\\n    at /a.js:1:2"},"msg":"m"',
  '"req":{"method":"GET","url":"/","message":"m","stack_trace":"Error: m"},"msg":"m"',
  '"data":{"message":"x","stack_trace":"y"},"msg":"m"',
  '"user":{"id":"u","type":"x","stacktrace":"y"},"msg":"m"',
  '"req":{"method":"GET","url":"/","headers":{"user-agent":"x"},"headers":[]},"msg":"m"',
  '"err":{"type":"Error","message":"zz: b","stack":"Error: a\\n    at f (/a.js:1:2)\\u000acaused by: Error: b"},"msg":"m"',
  '"n":12345678901234567,"responseTime":-0,"msg":"m"',
  '"trace_id":"1-5759e988-bd862e3fe1be46a994272793","msg":"m"',
  '"traceId":"Self=1;Root=1-5759e988-bd862e3fe1be46a994272793","msg":"m"',
  '"dd":{"trace_id":"5759e988bd862e3fe1be46a994272793","span_id":"7","service":"shop"},"msg":"m"',
  '"b3":"e1be46a994272793-53995c3f42cd8ad8-1","msg":"m"',
  '"x-amzn-trace-id":"Root=1-5759e988-bd862e3fe1be46a994272793","msg":"m"',
  `"err":{"type":"T","message":"é: é: b","stack":"T: \\u00e9: é\\n    at f (/app/a.js:1:2)\\ncaused by: Error: b"},"msg":"m"`,
  `"err":{"type":"T","message":"é: \\u00e9: b","stack":"T: é: é\\n    at f (/app/a.js:1:2)\\ncaused by: Error: b"},"msg":"m"`,
  `"err":{"type":"E","message":"m","stack":"E: m",${Array.from({ length: 1_200 }, (_, key) => `"k${key}":1`).join()}},"msg":"m"`,
])('declines {%s}', (members) => {
  expect(mapLines(`${HEAD},${members}}`)).toEqual([undefined])
})

/** Names of parameters have at most 128 characters. */
const LONG_NAME = `x${'-'.repeat(123)}token`
const MANY = Array.from({ length: 2_049 }, () => '"":1,"id":1').join(',')

test.each([
  ...['query', 'searchParams', 'query_string_parameters'].flatMap((name) => [
    `"err":{"type":"E","message":"m","stack":"E: m","${name}":{"token":"SECRET"}}`,
    `"err":{"type":"E","message":"m","stack":"E: m","${name}":[["token","SECRET"]]}`,
  ]),
  `"u":"/?${LONG_NAME}=SECRET"`,
  '"u":"http://us\\u00e9r:p@h/"',
  '"u":"http%3A%2F%2Fu\\u0080%3Ap%40h"',
  '"u":"Bearer \\u0080c"',
  '"req":{"url":"/","headers":{"x-request-id":"x-api-key:SECRET"}}',
  '"req":{"url":"/","headers":{"x-b3-spanid":"00-abababababababababababababababab-cdcdcdcdcdcdcdcd-01"}}',
  '"trace_id":"t","traceId":"t"',
  `"res":{"statusCode":200,"own":"res"},"req":{"url":"/",${MANY},"z":1}`,
  `"req":{"url":"/",${Array.from({ length: 1_001 }, (_, n) => `"k${n}":1`).join(',')}}`,
])('{%s} is mapped as on the reference path, or declined', (members) => {
  const [entry] = mapLines(`${HEAD},${members},"msg":"m"}`)
  expect(JSON.stringify(entry ?? '')).not.toContain('SECRET')
})

test('options with a key that is escaped in JSON are not supported', () => {
  const options = createMappingOptions({ messageKey: String.raw`a\nb` })
  expect(fast('{"level":30,"time":1763700000123,"a\\nb":"x","msg":"y"}', options)).toBeUndefined()
})
