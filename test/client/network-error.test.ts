/** What a failure says: codes of the network, or the error and the remedy if this process is the cause. */
import { describe, expect, test } from 'vitest'
import { explainRequestError } from '../../src/client/network-error.js'
import type { RequestErrorExplanation } from '../../src/client/network-error.js'
import { httpTo, rawServer } from './http-servers.js'
import { failureOf } from './failure-of.js'
import type { HttpFailure } from '../../src/client/http-types.js'

const KEY = 'canary-key-4711'
const mask = (text: string): string => text.replaceAll(KEY, '***')
const withCode = (code: string, error: Error = new Error(`sent ${KEY}`)): Error => Object.assign(error, { code })
const explain = (error: unknown): RequestErrorExplanation => explainRequestError(error, mask)

test.each<[string, unknown, string]>([
  ['a system error', withCode('ECONNRESET'), 'ECONNRESET'],
  ['the cause of `fetch`', new TypeError('fetch failed', { cause: withCode('ECONNRESET') }), 'ECONNRESET'],
  [
    'one per address',
    withCode(
      'ECONNREFUSED',
      new AggregateError(['ECONNREFUSED', 'ECONNREFUSED', 'ENETUNREACH'].map((code) => withCode(code))),
    ),
    'ECONNREFUSED (nothing listens there), ENETUNREACH',
  ],
  ['no connection', withCode('UND_ERR_CONNECT_TIMEOUT'), 'UND_ERR_CONNECT_TIMEOUT (no connection in time)'],
  ['TLS', withCode('ERR_TLS_CERT_ALTNAME_INVALID'), "ERR_TLS_CERT_ALTNAME_INVALID (the certificate is another host's)"],
])('the network: %s has its code, not its message', (_, error, text) => {
  expect(explain(error)).toEqual({ text })
})

test.each<[Error, RegExp]>([
  [new ReferenceError('WebAssembly is not defined'), /--jitless/],
  [new RangeError('WebAssembly.Instance(): Out of memory'), /--disable-wasm-trap-handler/],
  [new TypeError("Cannot read properties of undefined (reading 'x')"), /doctor/],
  [withCode('ERR_INVALID_ARG_TYPE', new TypeError('The "chunk" argument must be of type string')), /doctor/],
  [withCode('ERR_MODULE_NOT_FOUND', new Error("Cannot find package 'undici'")), /doctor/],
])('the client: %s has its name, message and remedy', (error, remedy) => {
  expect(explain(error)).toEqual({
    text: `${error.name}: ${error.message}`,
    kind: 'client',
    remedy: expect.stringMatching(remedy) as string,
  })
})

test('secrets in such a message are masked, and only its first line is shown', () => {
  expect(explain(new TypeError(`bad header ${KEY}\nsecond line`)).text).toBe('TypeError: bad header ***')
})

test.each(['EMFILE', 'ENFILE'])('too many open files, for any address: %s', (code) => {
  const each = new AggregateError([withCode('ENETUNREACH'), withCode(code)])
  for (const error of [withCode(code), withCode('ENETUNREACH', each)])
    expect(explain(error)).toEqual({
      text: expect.stringContaining(code) as string,
      kind: 'descriptors',
      remedy: expect.stringContaining('ulimit -n') as string,
    })
})

describe('an unexpected 100 Continue', () => {
  const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'

  test.each(['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 100 \r\nx-gateway: 1\r\n\r\n'])('%j', async (early) => {
    const server = await rawServer((socket) => void socket.write(early + OK))
    const failure = await failureOf<HttpFailure>(httpTo(server.origin).post('/ingest', '{}'))
    expect([failure.kind, failure.message]).toEqual(['client', expect.stringContaining('100 Continue')])
    expect(failure.remedy).toBeDefined()
  })

  test('other interim replies are skipped', async () => {
    const server = await rawServer((socket) => void socket.write(`HTTP/1.1 103 Early Hints\r\n\r\n${OK}`))
    expect((await httpTo(server.origin).post('/ingest', '{}')).status).toBe(200)
  })
})
