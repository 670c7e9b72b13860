/** Entries that belong to the same error group, and entries that do not. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import {
  computeFingerprint,
  findErrorGroup,
  isFailure,
  removeValues,
} from '../../../src/service/store/group-fingerprint.js'
import { entryOf } from '../support.js'

const STACK = `
    at Gateway.charge (/srv/app/src/payment/gateway.js:41:17)
    at async Checkout.pay (/srv/app/src/checkout/checkout.js:88:22)
    at async handle (/srv/app/node_modules/router/lib/layer.js:152:9)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`

const failure = (message: string, stack = STACK, type = 'Error'): LogEntry =>
  entryOf({ level: 'error', message: 'payment failed', error: { type, message, stack: `${type}: ${message}${stack}` } })

const isSame = (a: LogEntry, b: LogEntry): boolean => computeFingerprint(a) === computeFingerprint(b)

describe('the fingerprint is equal', () => {
  it.each([
    ['numbers', 'order 17 has no item 3', 'order 4711 has no item 12'],
    ['numbers of values', 'missing 1, 2', 'missing 1, 2, 3, 4'],
    ['UUIDs', 'no cart 0b8f2e7a-9b1c-4e0a-8f43-2d1f5a6b7c8d', 'no cart FFFFFFFF-9b1c-4e0a-8f43-2d1f5a6b7c8d'],
    ['ids of letters and digits', 'no session V1StGXR8_Z5jdHi6B-myT', 'no session 3kTMd-x9PvAq_8Rz2LwEs'],
    ['quoted values', 'no such user "ann"', 'no such user "bob smith"'],
    [
      'values in single quotes',
      "ENOENT: no such file or directory, open '/tmp/a'",
      "ENOENT: no such file or directory, open '/var/lib/b c'",
    ],
    ['quotes and apostrophes within typographic quotes', 'bad “ann’s ‘x’ «y»” and «a “b”»', 'bad “bob” and «c»'],
    ['IP addresses and ports', 'connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 10.1.2.3:80'],
    ['e-mail addresses', 'no mail to ann@example.com', 'no mail to bob@other.example'],
    ['URLs', 'GET https://api.example.com/a failed', 'GET http://localhost/b?c=d failed'],
    ['times', 'expired at 2026-01-31T08:00:00.000Z', 'expired at 1999-12-31T23:59:59Z'],
    ['keys with values', 'failed: id=17 user=a1', 'failed: id=99 user=b2'],
    ['JSON', 'bad body {"id":17,"name":"ann"}', 'bad body {"id":18,"name":"bob"}'],
  ])('for different %s', (_, one, other) => {
    expect(removeValues(one)).toBe(removeValues(other))
    expect(isSame(failure(one), failure(other))).toBe(true)
  })

  it('after an edit above it', () => {
    expect(isSame(failure('x'), failure('x', STACK.replace('41:17', '57:9')))).toBe(true)
  })

  it('for different callers', () => {
    expect(
      isSame(failure('x'), failure('x', STACK.replace('Checkout.pay', 'Retry.pay').replace('checkout.js', 'retry.js'))),
    ).toBe(true)
  })

  it.each([
    ['release folder', '/srv/app/releases/20260131080000/gateway.js', '/srv/app/releases/20260202090000/gateway.js'],
    ['content hash', '/srv/app/gateway-4f2a9c1b7d.js', '/srv/app/gateway-9e8d7c6b5a.js'],
    ['reload counter', 'file:///srv/app/gateway.js?t=1', 'file:///srv/app/gateway.js?t=2'],
  ])('for another %s in the path', (_, one, other) => {
    const at = (file: string) => failure('x', `\n    at charge (${file}:1:2)`)
    expect(isSame(at(one), at(other))).toBe(true)
  })

  it('without an error, by message and source', () => {
    const one = entryOf({ level: 'error', message: 'no item 17', source: 'src/a.js:10:2' })
    expect(isSame(one, { ...one, message: 'no item 18', source: 'src/a.js:12' })).toBe(true)
    expect(isSame(one, { ...one, source: 'src/b.js:10:2' })).toBe(false)
    expect(isSame(one, { ...one, message: 'no cart 17' })).toBe(false)
    expect(
      isSame({ ...one, source: `${'a/'.repeat(490)}a.js:9:9` }, { ...one, source: `${'a/'.repeat(490)}a.js:1042:17` }),
    ).toBe(true)
  })
})

describe('the fingerprint differs', () => {
  it.each([
    ['type', failure('x', STACK, 'TypeError')],
    ['message', failure('y')],
    ['function', failure('x', STACK.replace('Gateway.charge', 'Gateway.refund'))],
    ['file', failure('x', STACK.replace('gateway.js', 'wallet.js'))],
  ])('for another %s', (_, other) => {
    expect(isSame(failure('x'), other)).toBe(false)
  })

  it("for another of the application's functions below frames of a library and Node", () => {
    const below = (fn: string) =>
      failure('x', `\n    at read (node:fs:1:2)\n    at p (/app/node_modules/x/i.js:1:1)\n    at ${fn} (/app/a.js:3:4)`)
    expect(isSame(below('mine'), below('other'))).toBe(false)
  })

  it('for another line of a function without a name', () => {
    const at = (position: string) =>
      failure('x', `\n    at /srv/app/routes.js:${position}\n    at next (/srv/app/node_modules/r/i.js:1:1)`)
    expect(isSame(at('10:5'), at('90:5'))).toBe(false)
    expect(isSame(at('10:5'), at('10:9'))).toBe(true)
  })

  it('for other words: an apostrophe is not a quote', () => {
    expect(removeValues("can't read the user's name")).toBe("can't read the user's name")
    expect(removeValues("can't read the user's name")).not.toBe(removeValues("can't write the user's name"))
  })

  it('for the same text split into other parts', () => {
    expect(
      isSame(
        entryOf({ level: 'error', error: { type: 'ab', message: 'c' } }),
        entryOf({ level: 'error', error: { type: 'a', message: 'bc' } }),
      ),
    ).toBe(false)
  })
})

it("the entry's own fingerprint has precedence", () => {
  expect(computeFingerprint({ ...failure('x'), fingerprint: 'mine' })).toBe('mine')
  expect(findErrorGroup(entryOf({ fingerprint: 'mine' }))).toBe('mine')
  expect([
    findErrorGroup(entryOf()),
    isFailure(entryOf()),
    isFailure(entryOf({ error: {} })),
    isFailure(entryOf({ level: 'fatal' })),
  ]).toEqual([undefined, false, true, true])
})

it('the fingerprint has a fixed length, and takes a bounded time for any text', () => {
  const parts = [
    "'",
    '"a',
    '((((',
    'at ',
    '\n    at ',
    '1,',
    '“‘«',
    '”“',
    'a-',
    'a.a',
    'a://',
    '\\',
    ':1',
    'x.js:1:1)\n',
  ]
  const hostile = parts.map((part) => part.repeat(200_000))
  for (const text of hostile) {
    const from = process.cpuUsage()
    expect(computeFingerprint(entryOf({ level: 'error', message: text, source: text }))).toMatch(/^[\da-f]{16}$/)
    expect(
      computeFingerprint(entryOf({ level: 'error', message: text, error: { type: text, message: text, stack: text } })),
    ).toMatch(/^[\da-f]{16}$/)
    // 100 times the usual time, and 1/100 of the time of a quadratic expression.
    expect(process.cpuUsage(from).user).toBeLessThan(500_000)
  }
  fc.assert(
    fc.property(fc.string(), fc.string(), (message, stack) => {
      expect(computeFingerprint(entryOf({ level: 'error', error: { message, stack } }))).toMatch(/^[\da-f]{16}$/)
    }),
  )
})
