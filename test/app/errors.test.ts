/** Errors as data: the shape that pino's own serializer writes, for errors that it fails on as well. */
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import pino from 'pino'
import { serializeError } from '../../src/app/error-serializer.js'

const { stdSerializers } = pino

function json(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown
}

class OrderError extends Error {
  readonly code = 'E_ORDER'
  readonly order = { id: 7 }
}

describe('what pino can serialize', () => {
  test.each<[string, Error]>([
    ['an error', new TypeError('t')],
    ['of a class', new OrderError('o')],
    ['with causes', new Error('a', { cause: new OrderError('b', { cause: new TypeError('c') }) })],
    ['of several', new AggregateError([new TypeError('a'), new OrderError('b')], 'all')],
    ['with errors among its properties', Object.assign(new Error('x'), { inner: new TypeError('i'), list: [1], nil: null })],
    ['without a prototype\'s name', Object.assign(Object.create(Error.prototype) as Error, { message: 'bare' })],
    ['of another realm', runInNewContext('Object.assign(new RangeError("far"), { code: "E_FAR" })') as Error],
    ['of the web', new DOMException('stopped', 'AbortError')],
  ])('%s comes out the same', (_, error) => {
    expect(json(serializeError(error))).toEqual(json(stdSerializers.errWithCause(error)))
  })

  test.each([undefined, null, 'text', 5, { message: 'm' }, [new Error('x')]])('%j, which is no error, is left as it is', (value) => {
    expect(serializeError(value)).toBe(value)
  })
})

describe('what pino cannot', () => {
  test('frozen errors, causes in a circle, and getters that throw', () => {
    expect(json(serializeError(Object.freeze(new OrderError('o'))))).toMatchObject({ type: 'OrderError', message: 'o', code: 'E_ORDER' })
    const [a, b] = [new Error('a'), new TypeError('b')]
    a.cause = b
    b.cause = a
    expect(json(serializeError(a))).toMatchObject({ message: 'a', cause: { type: 'TypeError', message: 'b', cause: { type: 'Error', message: 'a' } } })
    const hostile = Object.defineProperties(new Error('h'), {
      ...Object.fromEntries(['stack', 'cause', 'errors', 'name'].map((name) => [name, { get: () => { throw new Error('no') } }])),
      secret: { enumerable: true, get: () => { throw new Error('no') } },
    })
    expect(json(serializeError(hostile))).toEqual({ type: 'Error', message: 'h', stack: '[unreadable]', errors: '[unreadable]', cause: '[unreadable]', secret: '[unreadable]' })
    expect(serializeError(new Proxy(new Error('p'), { getPrototypeOf: () => { throw new Error('no') } }))).toBeDefined()
  })

  test('causes that are no errors, and those that are asked for', () => {
    expect(json(serializeError(new Error('x', { cause: { code: 5 } })))).toMatchObject({ cause: { code: 5 } })
    expect(json(serializeError(new Error('x', { cause: 'why' })))).toMatchObject({ cause: 'why' })
    const verror = Object.assign(new Error('x'), { cause: () => new TypeError('asked') })
    expect(json(serializeError(verror))).toMatchObject({ cause: { type: 'TypeError', message: 'asked' } })
  })

  test('a toJSON of the error\'s own does not replace it, and odd messages become text', () => {
    const error = Object.assign(new Error('axios'), { toJSON: () => ({ nothing: true }), code: 'E' })
    expect(json(serializeError(error))).toMatchObject({ message: 'axios', code: 'E', stack: expect.stringContaining('axios') as string })
    expect(json(serializeError(Object.assign(new Error(), { message: { a: 1 } })))).toMatchObject({ message: '[object Object]' })
  })

  test('a web of errors ends', () => {
    const web = Array.from({ length: 300 }, (_, index) => new Error(`e${index}`))
    for (const [index, error] of web.entries()) Object.assign(error, { all: undefined, next: web[index + 1], first: web[0] }, { errors: web })
    expect(JSON.stringify(serializeError(web[0])).length).toBeLessThan(100 * 100_000)
    const chain = Array.from({ length: 5_000 }, (_, index) => index).reduce((cause: Error | undefined, n) => new Error(String(n), { cause }), undefined)
    expect(json(serializeError(chain))).toMatchObject({ message: '4999' })
  })
})

test('whatever an error carries, it is serialized, and not changed', () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.anything({ maxDepth: 2 })), fc.string(), (properties, message) => {
    const error = Object.freeze(Object.assign(new Error(message), properties))
    const plain = serializeError(error) as Record<string, unknown>
    // Not always `Error`: a property `__proto__` makes it another's.
    expect(plain['type']).toBeTypeOf('string')
    expect(plain['message']).toBeTypeOf('string')
  }))
})
