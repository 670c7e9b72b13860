/** The option `headers`: the rejected values, and that no message contains a value. */
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { revealAll } from '../../src/options/secret.js'
import { problem, resolve } from './resolve.js'

const PLACE = { url: 'https://logs.example.com/api/v1', apiKey: 'key-4711' }
const VALUE = 'Bearer canary-value-0815'

test('converts names to lower case, and ignores undefined values', () => {
  const given = {
    'X-Tenant': 'shop',
    AUTHORIZATION: VALUE,
    'x-empty': '',
    'x-none': undefined,
    'User-Agent': 'a/1 ä\t',
  }
  expect(revealAll(resolve({ ...PLACE, headers: given }).headers)).toEqual({
    'x-tenant': 'shop',
    authorization: VALUE,
    'x-empty': '',
    'user-agent': 'a/1 ä\t',
  })
})

test('code replaces the variable completely, since header names are not options', () => {
  const env = { PINO_INGEST_HEADERS: '{"X-Tenant":"env"}' }
  expect(revealAll(resolve(PLACE, env).headers)).toEqual({ 'x-tenant': 'env' })
  expect(revealAll(resolve({ ...PLACE, headers: { a: 'b' } }, env).headers)).toEqual({ a: 'b' })
})

describe('refused', () => {
  const reserved = 'HOST Content-Type content-encoding Connection Proxy-Authorization TE Transfer-Encoding Expect'
  test.each(reserved.split(' '))('%s, which the transport or the connection sets', (name) => {
    expect(problem({ ...PLACE, headers: { [name]: VALUE } })).toBe(
      `invalid configuration of pino-ingest: headers: ${name} is reserved for the transport and cannot be overridden`,
    )
  })

  test.each(['X-API-Key', 'x-api-key'])('%s, which has an option of its own', (name) => {
    const message = problem({ ...PLACE, headers: { [name]: VALUE } })
    expect(message).toMatch(/ apiKey\b.* PINO_INGEST_API_KEY$/)
    expect(message).not.toContain(VALUE)
  })

  test.each(['', 'with space', 'a:b', 'a\r\nb', 'ä', 'a(b)', 'a"b'])('%j is not a name', (name) => {
    expect(problem({ ...PLACE, headers: { [name]: VALUE } })).toContain('is not the name of a header')
  })

  test.each(['a\r\nX-Evil: 1', 'a\0b', '€', '\x7f', 5, null, {}])('%j is not a value', (value) => {
    expect(problem({ ...PLACE, headers: { 'X-Tenant': value } })).toMatch(
      /headers: the value of X-Tenant must be text in Latin-1 .*\(not shown\)$/,
    )
  })

  test('a name that is given twice', () => {
    expect(problem({ ...PLACE, headers: { 'X-Tenant': 'a', 'x-tenant': 'b' } })).toContain('x-tenant is given twice')
  })

  test.each([VALUE, [VALUE], new Map([['a', VALUE]]), 5, null])('%j, which is not an object', (headers) => {
    expect(problem({ ...PLACE, headers })).toMatch(/headers must be an object of names .*\(not shown\)$/)
  })
})

test('no message and no printed settings contain a value', () => {
  const messages = [
    problem({ ...PLACE, headers: { [`Authorization: ${VALUE}`]: '' } }),
    problem({ ...PLACE, headers: { Authorization: `${VALUE}\n` } }),
    problem({ ...PLACE, headers: { 'X-API-Key': VALUE } }),
    problem(PLACE, { PINO_INGEST_HEADERS: `Authorization: ${VALUE}` }),
    problem(PLACE, { PINO_INGEST_HEADERS: `{"Authorization":"${VALUE}\\n"}` }),
    inspect(resolve({ ...PLACE, headers: { Authorization: VALUE } }), { depth: null, showHidden: true }),
    JSON.stringify(resolve({ ...PLACE, headers: { Authorization: VALUE } })),
  ]
  expect(messages.filter((text) => text.includes('canary'))).toEqual([])
})

test('are not sent without a URL', () => {
  const { headers, secrets } = resolve({}, { PINO_INGEST_HEADERS: `{"Authorization":"${VALUE}"}` })
  expect(headers).toEqual({})
  expect(secrets.map((one) => one.reveal())).toEqual([VALUE])
})
