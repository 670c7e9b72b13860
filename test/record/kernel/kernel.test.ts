/** The kernel and the reference path give the same entry for every line. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Redactor } from '../../../src/redaction/redactor.js'
import { Kernel } from '../../../src/record/kernel/kernel.js'
import { MappedRecord } from '../../../src/record/mapped-record.js'
import { mapByParsing } from '../../../src/record/reference/reference-path.js'
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
  ['fingerprint', { options: createMappingOptions({ fingerprint: true }), taken: 63, least: 12 }],
]

/** The kernel supports none of these. */
const unsupported: [string, MappingOptions][] = [
  ['nested', createMappingOptions({ nestedKey: 'payload' })],
  ['keys that mean something', createMappingOptions({ messageKey: 'action', errorKey: 'name' })],
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
      { numRuns: modelRuns(500, 50_000) },
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
    { numRuns: 50 },
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
    { numRuns: modelRuns(500, 50_000) },
  )
  expect(taken).toBeGreaterThan(150)
})

const REDACTOR = new Redactor({ patterns: [], keys: ['token', 'password', 'pin'] })
const HEAD = '{"level":30,"time":1763700000123,"pid":42,"hostname":"web-1"'

/** The entries, which must equal those of the reference path; undefined for a line that the kernel declines. */
function mapLines(lines: readonly string[], options = createMappingOptions({ redactor: REDACTOR })): unknown[] {
  const path = Kernel.create(options) as Kernel
  return lines.map((line) => {
    if (!mapWith(path, line)) return undefined
    const entry: unknown = JSON.parse(mapped.json)
    expect(entry).toEqual(JSON.parse(mapByParsing(line, options, RECEIVED_AT).json))
    return entry
  })
}

/** Some members between those of each line. */
const mapMembers = (members: string): unknown => mapLines([`${HEAD},${members},"msg":"m"}`])[0]

const STACK = 'Error: a\\n    at f (/app/a.js:1:2)'
const PART = '{"type":"P","message":"p","stack":"P: p\\n    at f (/app/p.js:1:2)","code":"E_P","port":80}'
const request = (headers: string): string => `"req":{"method":"GET","url":"/","headers":{${headers}}}`
const [TRACE, SPAN] = ['a'.repeat(32), 'b'.repeat(16)]

test.each([
  '"err":{"type":"E","message":"m","stack":"E: m","name":"E","code":7}',
  '"err":{"message":"m","name":"E","stack":"E: m"}',
  '"err":{"type":"Error","message":"m","stack":"Error: m","name":"TimeoutError"}',
  '"err":{"name":"A","type":"Error","message":"m","stack":"Error: m","name":"B"}',
  // Causes, as pino writes them.
  `"err":{"type":"Error","message":"a: b: c","stack":"${STACK}\\ncaused by: Error: b\\n    at g (/app/b.js:1:2)\\ncaused by: Error: c"}`,
  // Parts that have their own members, and messages with those of their causes.
  `"err":{"type":"AggregateError","message":"a","stack":"AggregateError: a","code":1,"errors":[${PART},{"type":"E","message":"b: c","stack":"E: b\\n    at f (/app/b.js:1:2)\\ncaused by: E: c"}],"n":2}`,
  `"err":{"type":"AggregateError","message":"a","stack":"${STACK}","errors":[${Array(12).fill(PART).join()}]}`,
  // A message of several lines with frames of another error, and one that is not in its stack.
  '"err":{"type":"E","message":"a\\n    at g (/app/b.js:1:2)","stack":"E: a\\n    at g (/app/b.js:1:2)\\n    at f (/app/a.js:1:2)"}',
  '"err":{"type":"E","message":"a\\nb","stack":"E: c\\n    at f (/app/a.js:1:2)"}',
  '"user":{"id":7,"email":"a@example.com","plan":"pro"},"tags":["a","b"]',
  request(`"traceparent":"00-${TRACE}-${SPAN}-01","x-amzn-trace-id":"Root=1-5759e988-bd862e3fe1be46a994272793"`),
  request('"x-amzn-trace-id":"Root=1-5759e988-bd862e3fe1be46a994272793"'),
  request(`"traceparent":"${TRACE}-${SPAN}-1"`),
])('takes {%s}', (members) => {
  expect(mapMembers(members)).toBeDefined()
})

test.each([
  '"user":"jo","user_id":null,"service":false,"duration_ms":12',
  request(`"b3":"${TRACE}-${SPAN}-1","traceparent":"00-"`),
  request(`"x-b3-traceid":"${TRACE}","x-b3-spanid":"${SPAN}"`),
  request(`"traceparent":"00-${TRACE}-${SPAN}-01","traceparent":"00-"`),
  request('"user-agent":"x"').replace('}}', '},"headers":[]}'),
  '"res":{"statusCode":500,"type":"MongoServerError","message":"m","stack":"MongoServerError: m\\n    at /a.js:1:2"}',
  '"req":{"method":"GET","url":"/","message":"m","stack_trace":"Error: m"}',
  '"data":{"message":"x","stack_trace":"y"}',
  '"user":{"id":"u","type":"x","stacktrace":"y"}',
  '"err":{"type":"Error","message":"zz: b","stack":"Error: a\\n    at f (/a.js:1:2)\\u000acaused by: Error: b"}',
  '"n":12345678901234567,"responseTime":-0',
  '"trace_id":"1-5759e988-bd862e3fe1be46a994272793"',
  '"traceId":"Self=1;Root=1-5759e988-bd862e3fe1be46a994272793"',
  '"dd":{"trace_id":"5759e988bd862e3fe1be46a994272793","span_id":"7","service":"shop"}',
  '"b3":"e1be46a994272793-53995c3f42cd8ad8-1"',
  '"x-amzn-trace-id":"Root=1-5759e988-bd862e3fe1be46a994272793"',
  `"err":{"type":"T","message":"é: é: b","stack":"T: \\u00e9: é\\n    at f (/app/a.js:1:2)\\ncaused by: Error: b"}`,
  `"err":{"type":"T","message":"é: \\u00e9: b","stack":"T: é: é\\n    at f (/app/a.js:1:2)\\ncaused by: Error: b"}`,
  `"err":{"type":"E","message":"m","stack":"E: m",${Array.from({ length: 1_200 }, (_, key) => `"k${key}":1`).join()}}`,
])('declines {%s}', (members) => {
  expect(mapMembers(members)).toBeUndefined()
})

/** Names of parameters have at most 128 characters. */
const LONG_NAME = `x${'-'.repeat(123)}token`
const MANY = Array.from({ length: 2_049 }, () => '"":1,"id":1').join(',')

test.each([
  ...['query', 'searchParams', 'query_string_parameters'].flatMap((name) => [
    `"err":{"type":"E","message":"m","stack":"E: m","${name}":{"token":"SECRET"}}`,
    `"err":{"type":"E","message":"m","stack":"E: m","${name}":[["token","SECRET"]]}`,
  ]),
  '"req":{"method":"GET","url":"/a?b=1&token=SECRET","query":{"b":"1"}}',
  '"url":1,"note":"could not reach https://user:SECRET@example.com/"',
  `"u":"/?${LONG_NAME}=SECRET"`,
  '"u":"http://us\\u00e9r:p@h/"',
  '"u":"http%3A%2F%2Fu\\u0080%3Ap%40h"',
  '"u":"Bearer \\u0080c"',
  request('"x-request-id":"x-api-key:SECRET"'),
  request('"x-b3-spanid":"00-abababababababababababababababab-cdcdcdcdcdcdcdcd-01"'),
  '"trace_id":"t","traceId":"t"',
  `"res":{"statusCode":200,"own":"res"},"req":{"url":"/",${MANY},"z":1}`,
  `"req":{"url":"/",${Array.from({ length: 1_001 }, (_, n) => `"k${n}":1`).join(',')}}`,
  '"x-auth=S3cr3t&user[password]":"hunter2"',
  '"Authorization: Bearer abc.def user.password":"x"',
  String.raw`"d":{"\"token":"   |"}`,
  '"err":{"type":"E","message":"m","stack":"E: m","response":{"status":1},"cookie":{"method":"post","url":"http://h/","headers":{}}}',
])('{%s} is mapped as on the reference path, or declined', (members) => {
  expect(JSON.stringify(mapMembers(members) ?? '')).not.toContain('SECRET')
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
  expect(mapLines([`${HEAD.replace('1763700000123', time)},"msg":"m"}`])[0] !== undefined).toBe(isTaken)
})

test.each([
  [
    '"user":null,"user_id":null,"name":true,"tags":["b"]',
    { metadata: { user_id: 1, name: 2 }, tags: ['b', 'c'] },
    false,
  ],
  ['"user":{"id":"u-1","plan":"pro"}', { metadata: { user: 'x' } }, false],
  ['"user":{"id":"u-1","plan":"pro"}', { metadata: { region: 'eu' } }, true],
])('{%s} with the options %j: %j', (members, given, isTaken) => {
  expect(mapLines([`${HEAD},${members},"msg":"m"}`], createMappingOptions(given))[0] !== undefined).toBe(isTaken)
})

test.each([5, 64, 65, 990])('takes a record with %i keys of its own, and compares them', (count) => {
  const members = Array.from({ length: count }, (_, key) => `,"key number ${key}":${key}`).join('')
  const line = `${HEAD}${members},"msg":"m"}`
  const lines = [line, line, `${HEAD}${members},"key number ${count - 1}":0,"msg":"m"}`]
  expect(mapLines(lines).map((entry) => entry !== undefined)).toEqual([true, true, false])
})

test('compares even more keys than usual', () => {
  const lineOf = (first: number): string =>
    `${HEAD}${Array.from({ length: 800 }, (_, key) => `,"k${first + key}":1`).join('')},"msg":"m"`
  const twice = mapLines([`${lineOf(0)}}`, `${lineOf(800)}}`, `${lineOf(1_600)}}`, `${lineOf(1_600)},"k2000":2}`])
  expect(twice.map((entry) => entry === undefined)).toEqual([false, false, false, true])
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
  const redactor = REDACTOR
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
    { numRuns: modelRuns(500, 50_000) },
  )
  expect(taken).toBeGreaterThan(100)
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

test('detects a secret in a string after another string', () => {
  const path = Kernel.create(createMappingOptions({ redactor: REDACTOR })) as Kernel
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

test('options with a key that is escaped in JSON are not supported', () => {
  const options = createMappingOptions({ messageKey: String.raw`a\nb` })
  expect(fast('{"level":30,"time":1763700000123,"a\\nb":"x","msg":"y"}', options)).toBeUndefined()
})
