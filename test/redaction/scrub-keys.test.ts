/** `scrub.keys` at every position, by the kernel and on the reference path. */
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/protocol/log-entry.js'
import { BeforeSendHook } from '../../src/filter/before-send-hook.js'
import { Kernel } from '../../src/record/kernel/kernel.js'
import { MappedRecord } from '../../src/record/mapped-record.js'
import { mapByParsing } from '../../src/record/reference/reference-path.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { resolve } from '../options/resolve.js'
import { RECEIVED_AT, createMappingOptions } from '../record/record-lines.js'
import { KEYS, SPELLINGS, keyLeaks } from './leaks.js'

const record = new MappedRecord()

function createMap(keys: readonly string[]): (value: Json) => string {
  const options = createMappingOptions({ redactor: new Redactor({ patterns: [], keys }) })
  const kernel = Kernel.create(options) as Kernel
  return (value) => {
    const members =
      typeof value === 'string'
        ? { msg: value, text: value }
        : Array.isArray(value)
          ? { list: value }
          : (value as JsonObject)
    const line = JSON.stringify({ level: 50, time: 1_795_219_732_486, pid: 1, msg: 'm', ...members })
    const { json } = mapByParsing(line, options, RECEIVED_AT)
    const line1 = kernel.lines.place(line)
    if (kernel.map(line1, record)) {
      expect(JSON.parse(record.json)).toEqual(JSON.parse(json))
    }
    return json
  }
}

const map = createMap(KEYS)
let marks = 0
const mark = (): string => `q${(marks += 1).toString().padStart(8, '0')}q`

test.each(KEYS)(
  'the value of %s is replaced, and a boolean is kept, and a number if it is not that of a header',
  (key) => {
    const isHeader = !['password', 'passwd', 'secret', 'token', 'private_key'].includes(key)
    for (const value of ['VALUE', 812, true, null]) {
      const isReplaced = value === 'VALUE' || (isHeader && value === 812)
      expect(map({ a: { [key]: value } })).toContain(`"a":{"${key}":${isReplaced ? '"[scrubbed]"' : value}}`)
    }
  },
)

test.each([
  ['passWord', 'pass_word'],
  ['cookieHash', 'cookie-hash'],
  ['cookieHash', 'cookie__hash'],
])('the value of %s is replaced under the name %s', (key, name) => {
  expect(createMap([key])({ a: { [name]: 'VALUE' } })).toContain(`"a":{"${name}":"[scrubbed]"}`)
})

describe.each(KEYS)('%s', (key) => {
  test.each(SPELLINGS.map((spell) => spell(key)))('%s', (name) => {
    const leaked = keyLeaks(mark, () => name).filter(({ value }) => /q\d{8}q/.test(map(value)))
    expect(leaked).toEqual([])
  })
})

test.each<Json>([
  {
    tokens: 812,
    max_tokens: '5',
    token: true,
    secret: null,
    password: 0,
    private_key: '',
    passwd: [],
    a: { secret: {} },
  },
  { big: { token: 12_345_678_901_234 }, password: '[Redacted]', fields: ['email', 'password', 'name'] },
  'Invalid password: must be at least 8 characters; the token: expired, secret: 12',
  'Unexpected token: { in "JSON" at 3, token: [expired], Field "password": required, password: null',
  { grant_type: 'password', path: ['body', 'token', 'x'], type: 'secret', passwordHash: 'x', secretary: 'y' },
])('keeps %j', (value) => {
  const kept = JSON.stringify(value).replace(/^[{"]|[}"]$/g, '')
  expect(map(value)).toContain(kept)
})

test('keeps the rest of an object, and the fields that an entry needs', () => {
  const every = createMap([
    'level',
    'time',
    'timestamp',
    'trace_id',
    'data',
    'error',
    'user',
    'pin',
    'metadata',
    'text',
  ])
  const breadcrumbs = [
    { type: 'a', message: 'm', timestamp: RECEIVED_AT, level: 'info', data: { pin: 'SECRET', a: 1 } },
  ]
  const trace_id = '5649a2d868b660efec0b7d7a010d0565'
  const entry = JSON.parse(
    every({ trace_id, breadcrumbs, err: { type: 'E', message: 'm', stack: 'E: m', pin: 'SECRET' }, text: 'SECRET' }),
  ) as Record<string, unknown>
  expect(entry).toMatchObject({
    level: 'error',
    timestamp: '2026-11-21T00:08:52.486Z',
    trace: { trace_id },
    error: { type: 'E', message: 'm' },
    breadcrumbs: [{ message: 'm', data: { pin: '[scrubbed]', a: 1 } }],
    metadata: { error: '[scrubbed]', text: '[scrubbed]', pid: 1 },
  })
})

test.each([
  ['bankAccount', { customer: { bank_account: 'VALUE' }, err: { message: 'm', stack: 's', 'bank-account': 'VALUE' } }],
  ['body', { text: '{"body":"VALUE"}' }],
  ['ip', { req: { method: 'GET', url: '/', remoteAddress: 'VALUE' } }],
  ['remoteAddress', { req: { method: 'GET', url: '/', remoteAddress: 'VALUE' } }],
  ['id', { user: { id: 'VALUE' } }],
  ['request_id', { reqId: 'VALUE' }],
  ['reqId', { reqId: 'VALUE' }],
])('the name %s is that of the record or of the entry', (name, value) => {
  expect(createMap([name])(value as Json)).not.toContain('VALUE')
})

test.each([
  [[], ['pin', 'password', 'token'], ['authorization', 'x-api-key']],
  [
    ['pin', 'Card-Number', 'session_token'],
    ['password', 'token'],
    ['PIN', 'cardNumber', 'card_number', 'sessionToken', 'cookie'],
  ],
])('with the names %j', (keys, kept, removed) => {
  const own = createMap(keys)
  for (const name of kept) expect(own({ a: { [name]: 'VALUE' } }), name).toContain(`"${name}":"VALUE"`)
  for (const name of removed) {
    expect(own({ a: { [name]: 'VALUE' } }), name).not.toContain('VALUE')
    expect(own(JSON.stringify({ [name]: 'VALUE' })), name).not.toContain('VALUE')
  }
})

test('names are those of the parameters of URLs, too', () => {
  expect(createMap(['code'])({ url: '/login?code=VALUE&page=2' })).toContain('/login?code=[scrubbed]&page=2')
})

test('is applied to what beforeSend returns, and to a member that ends in brackets', () => {
  const redactor = new Redactor({ patterns: [], keys: KEYS })
  const hook = new BeforeSendHook({
    hook: (entry) => ({ ...entry, metadata: { 'user[password]': 'VALUE', text: 'token: "VALUE"' } }),
    onProblem: (message) => expect.unreachable(message),
    isValid: () => undefined,
    redactor,
  })
  const result = hook.apply(JSON.stringify({ level: 'info', message: 'm', timestamp: RECEIVED_AT }))
  expect(result).toMatchObject({ json: expect.stringContaining('"user[password]":"[scrubbed]"') as string })
  expect(result).not.toMatchObject({ json: expect.stringContaining('VALUE') as string })
})

test.each(['user.password', 'a b', 'é', '', 'true', 'false'])('refuses the name %j', (name) => {
  expect(() => resolve({ scrub: { keys: [name] } })).toThrow('scrub.keys')
})
