/** Errors as written by pino, its serializers and other loggers. */
import { describe, expect, test } from 'vitest'
import pino from 'pino'
import { serializeError } from '../../../src/record/error-serializer.js'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import type { MappingOptions } from '../../../src/record/reference/entry-fields.js'
import { mapByParsing } from '../../../src/record/reference/reference-path.js'
import { RECEIVED_AT, createMappingOptions } from '../record-lines.js'
import { expectLinearTime } from '../../linear-time.js'
import { entryWith, jsonWith } from '../map-line.js'

const { stdSerializers } = pino

/** Named in its stack like Node's own errors. */
class NamedError extends Error {
  override name = 'NamedError [ERR_X]'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    Error.captureStackTrace(this)
  }
}

/** Like VError: `cause()` is a function, and the message contains that of the cause. */
const asVError = (message: string, inner: Error): Error => Object.assign(new Error(message), { cause: () => inner })

function entryOf(members: object, over: Partial<MappingOptions> = {}): LogEntry {
  return entryWith({ level: 50, time: 1795219732486, ...members }, over)
}

const STACK = 'TypeError: boom\n    at f (/app/src/a.js:1:2)\n    at node:internal/main:1:1'
const boom = { type: 'TypeError', message: 'boom', stack: STACK }

describe('error', () => {
  test.each([
    '"sql":12345678901234567',
    '"config":{"baseURL":"http://h","url":12345678901234567,"method":"get"}',
    '"cause":{"type":"E","message":"b","cause":{"type":"E","message":"c","stack":"E: c"}}',
  ])('with {%s} keeps its stack, and has no marks of long integers', (members) => {
    const line = `{"level":50,"err":{"type":"Error","message":"a","stack":"Error: a",${members}},"msg":"m"}`
    const { json } = mapByParsing(line, createMappingOptions(), RECEIVED_AT)
    expect(JSON.parse(json)).toHaveProperty('error.stack', 'Error: a')
    expect(json).not.toMatch(/[\da-f]{24}#/)
  })

  test.each([
    ['err', {}],
    ['error', {}],
    ['failure', { errorKey: 'failure' }],
    ['anything', {}],
    ['lastError', {}],
  ])('under %s', (key, over) => {
    const entry = entryOf({ [key]: boom, msg: 'm' }, over)
    expect(entry.error).toEqual(boom)
    expect(entry.metadata).toBeUndefined()
  })

  test('under an escaped name, and with an escaped stack', () => {
    const line = `{"level":50,"time":1,"x":{"type":"E","message":"m","st\\u0061ck":"s"},"msg":"m"}`
    const json = jsonWith(line)
    expect((JSON.parse(json) as LogEntry).error).toEqual({ type: 'E', message: 'm', stack: 's' })
  })

  test('its own properties are in metadata.error', () => {
    expect(
      entryOf({ err: { ...boom, code: 'ECONNREFUSED', errno: -111, statusCode: 502, details: [1] }, msg: 'm' })
        .metadata,
    ).toEqual({ error: { code: 'ECONNREFUSED', errno: -111, statusCode: 502, details: [1] } })
  })

  test('a thrown string is the message', () => {
    expect(entryOf({ err: 'just text', msg: 'm' })).toMatchObject({ message: 'm', error: { message: 'just text' } })
    expect(entryOf({ err: 'just text' }).message).toBe('just text')
  })

  test.each([[5], [null], [true], [['a']], [{}], [{ code: 1 }]])('keeps %j, which is not an error', (err) => {
    const entry = entryOf({ err, msg: 'm' })
    expect(entry.error).toBeUndefined()
    expect(entry.metadata).toEqual({ err })
  })

  test('the first error of a list, if there is no other', () => {
    const [first, second] = ['a', 'b'].map((message) => ({ type: 'E', message, stack: `E: ${message}\n    at f` }))
    const taken = { type: 'E', message: 'a', stack: 'E: a\n    at f' }
    expect(entryOf({ errors: [first] })).toMatchObject({ error: taken })
    expect(entryOf({ errors: [first] })).not.toHaveProperty('metadata')
    expect(entryOf({ err: [first, second] })).toMatchObject({ error: taken, metadata: { err: [second] } })
    expect(entryOf({ results: [1, first, 'x'] })).toMatchObject({ error: taken, metadata: { results: [1, 'x'] } })
    expect(entryOf({ err: second, errors: [first] })).toMatchObject({
      error: { message: 'b' },
      metadata: { errors: [first] },
    })
    expect(entryOf({ breadcrumbs: [first] })).not.toHaveProperty('error')
  })

  test("pino's own error wins, and the other one is kept", () => {
    const other = { type: 'E', message: 'other', stack: 's' }
    expect(entryOf({ error: other, err: boom, msg: 'm' })).toMatchObject({ error: boom, metadata: { error: other } })
    expect(entryOf({ err: boom, error: other, msg: 'm' }, { errorKey: 'error' })).toMatchObject({
      error: other,
      metadata: { err: boom },
    })
  })

  test('keeps fields of another type', () => {
    expect(entryOf({ err: { type: 5, message: 'm', stack: null }, msg: 'm' })).toMatchObject({
      error: { message: 'm' },
      metadata: { error: { type: 5, stack: null } },
    })
  })

  test('uses the name as the type if there is none', () => {
    expect(entryOf({ err: { name: 'AbortError', message: 'm', stack: 's' }, msg: 'm' })).toMatchObject({
      error: { type: 'AbortError' },
    })
  })

  const range = { message: 'm', stack: 'RangeError: m\n    at f (/app/a.js:1:2)' }
  test.each<[string, object, string | undefined]>([
    [
      'of an anonymous class with a name, such as that of joi',
      { type: '', name: 'ValidationError', message: 'm' },
      'ValidationError',
    ],
    ['of an anonymous class with a stack', { ...range, type: '' }, 'RangeError'],
    ['of an error with another stack', { ...range, type: 'Error' }, 'RangeError'],
    [
      'of an error with a code in its stack',
      { ...range, type: 'Error', stack: 'Error [E_A]: m\n    at f (/app/a.js:1:2)' },
      'Error',
    ],
    [
      'of an error with a class of its own in its stack',
      { type: 'Error', message: 'm', stack: 'Declined: m\n    at f' },
      'Declined',
    ],
    ['of an error with another text', { type: 'Error', message: 'm', stack: 'Declined at noon\n    at f' }, 'Error'],
    ['of an object with a name', { type: 'Object', name: 'AbortError', message: 'm' }, 'AbortError'],
    ['of any other object', { type: 'Object', message: 'm' }, 'Object'],
    ['of a class', { ...range, type: 'Declined', name: 'AbortError' }, 'Declined'],
  ])('the type %s', (_, err, type) => {
    for (const message of ['m', 'x']) {
      const { error, metadata } = entryOf({ err, msg: message })
      expect(error?.type).toBe(type)
      expect(metadata).toEqual(type === 'Declined' && 'name' in err ? { error: { name: 'AbortError' } } : undefined)
    }
    expect(entryOf({ err: { ...boom, cause: { ...range, ...err } }, msg: 'm' }).metadata).toHaveProperty(
      'error.cause.type',
    )
  })

  test('the type of an error of Elastic Common Schema', () => {
    const error = { type: 'Error', message: 'm', stack_trace: range.stack }
    expect(entryOf({ 'ecs.version': '8.10.0', error, msg: 'm' }).error?.type).toBe('RangeError')
    expect(entryOf({ 'error.type': '', 'error.stack_trace': range.stack, msg: 'm' }).error?.type).toBe('RangeError')
  })

  test('the stack contains the chain of causes', () => {
    const entry = entryOf({
      err: {
        ...boom,
        cause: {
          type: 'Error',
          message: 'inner',
          stack: 'Error: inner\n    at g (/app/b.js:3:4)',
          code: 'X',
          cause: { type: 'E', message: 'root', stack: 'E: root' },
        },
      },
      msg: 'm',
    })
    expect(entry.error?.stack).toBe(`${STACK}\ncaused by: Error: inner\n    at g (/app/b.js:3:4)\ncaused by: E: root`)
    expect(entry.metadata).toEqual({
      error: { cause: { type: 'Error', message: 'inner', code: 'X', cause: { type: 'E', message: 'root' } } },
    })
  })

  test('the stack contains the errors of an AggregateError', () => {
    const entry = entryOf({
      err: {
        ...boom,
        aggregateErrors: [
          { type: 'A', message: 'a', stack: 'A: a' },
          'text',
          { type: 'B', message: 'b', stack: 'B: b', code: 1 },
        ],
      },
      msg: 'm',
    })
    expect(entry.error?.stack).toBe(`${STACK}\nerror 1 of 3: A: a\nerror 3 of 3: B: b`)
    expect(entry.metadata).toEqual({
      error: { aggregateErrors: [{ type: 'A', message: 'a' }, 'text', { type: 'B', message: 'b', code: 1 }] },
    })
  })

  /** Pino's output without `ingestOptions()`, and with it. */
  function written(error: unknown): [pino: LogEntry, ours: LogEntry] {
    return [stdSerializers.err, serializeError].map((err) => {
      let line = ''
      pino({ base: null, serializers: { err } }, { write: (text) => void (line += text) }).error({ err: error }, 'm')
      return entryOf(JSON.parse(line) as object, { fingerprint: true })
    }) as [LogEntry, LogEntry]
  }

  const own = asVError('a: b', new Error('b', { cause: new Error('c') }))
  const selfish = new Error('self')
  selfish.cause = selfish
  const bare = (error: Error): Error => Object.assign(error, { stack: undefined })
  test.each<[string, Error, string]>([
    ['one cause', new Error('a', { cause: new TypeError('b') }), 'a'],
    ['separators', new Error('a: b: c', { cause: new Error('b: c', { cause: new Error('c') }) }), 'a: b: c'],
    ['equal messages', new Error('b', { cause: new Error('b', { cause: new Error('b') }) }), 'b'],
    ["a label like pino's", new Error('a\ncaused by: b: c', { cause: new Error('d') }), 'a\ncaused by: b: c'],
    ['such a label, and no cause', new Error('a: b\ncaused by: c'), 'a: b\ncaused by: c'],
    ['no message', new Error('', { cause: new Error('b: c') }), ''],
    ['a cause without one', new Error('a', { cause: new Error('') }), 'a'],
    ['a code in its name', new NamedError('a: b', { cause: new NamedError('c: d') }), 'a: b'],
    [
      'a message that was changed',
      Object.assign(new Error('a', { cause: new Error('b: c') }), { message: 'x: a' }),
      'x: a',
    ],
    ['of a cause', new Error('a', { cause: Object.assign(new Error('b'), { message: 'x: b' }) }), 'a'],
    ['a cause without a stack', new Error('a', { cause: bare(new Error('b: c')) }), 'a'],
    ['an error without one', bare(new Error('a', { cause: new Error('b: c') })), 'a'],
    ['a cause that is plain data', new Error('a: b', { cause: { message: 'c: d' } }), 'a: b'],
    ['a function as cause, of VError', own, 'a: b'],
    ['itself as cause', selfish, 'self'],
  ])('has its own message and the same fingerprint with %s', (_, error, message) => {
    for (const entry of written(error)) expect(entry.error?.message).toBe(message)
    const [pinos, ours] = written(error)
    expect(pinos.fingerprint).toBe(ours.fingerprint)
    expect(pinos.error?.type).toBe(ours.error?.type)
  })

  test('the same for the errors of an AggregateError', () => {
    const parts = [new Error('a: b', { cause: new Error('c') }), new DOMException('late', 'TimeoutError')]
    for (const { metadata } of written(new AggregateError(parts, 'all')))
      expect(metadata?.['error']).toEqual({
        aggregateErrors: [
          expect.objectContaining({ type: 'Error', message: 'a: b' }),
          { type: 'TimeoutError', message: 'late', code: 23 },
        ],
      })
  })

  test('a long message of separators takes linear time', () => {
    expectLinearTime(90_000, (chars) => {
      const separators = 'a: '.repeat(chars / 3)
      const stack = `Error: ${separators}`
      const err = { type: 'Error', message: `x${separators}`, stack: `${stack}\n    at f\ncaused by: ${stack}` }
      return () => entryOf({ err, msg: 'm' }, { maxEntryBytes: 4_000_000 })
    })
  })

  test.each(['TimeoutError', 'AbortError', 'DataCloneError'])(
    'the DOMException %s has its name as type, and no constants',
    (name) => {
      const error = new DOMException('stopped', name)
      for (const entry of written(error)) {
        expect(entry.error).toMatchObject({ type: name, message: 'stopped' })
        expect(entry.metadata).toEqual({ error: { code: error.code } })
      }
      class Stopped extends DOMException {}
      for (const entry of written(new Stopped('stopped', name))) {
        expect(entry.error).toMatchObject({ type: 'Stopped' })
        expect(entry.metadata).toEqual({ error: { name, code: error.code } })
      }
      for (const entry of written(new Error('x', { cause: error }))) expect(JSON.stringify(entry)).not.toMatch(/_ERR"/)
    },
  )

  test("keeps an application's own member with the name of such a constant", () => {
    expect(entryOf({ err: { ...boom, TIMEOUT_ERR: 23 }, msg: 'm' }).metadata).toEqual({ error: { TIMEOUT_ERR: 23 } })
    expect(entryOf({ err: { ...boom, type: 'DOMException', stack: 's' }, msg: 'm' }).error?.type).toBe('DOMException')
  })

  test('keeps a cause that is not an error', () => {
    expect(entryOf({ err: { ...boom, cause: 'timeout' }, msg: 'm' })).toMatchObject({
      error: boom,
      metadata: { error: { cause: 'timeout' } },
    })
  })

  test('a stack in the record itself, as winston writes it', () => {
    expect(entryOf({ level: 'error', message: 'boom', stack: STACK })).toMatchObject({
      message: 'boom',
      error: { stack: STACK },
    })
    expect(entryOf({ stack: 'web', msg: 'm' })).toMatchObject({ metadata: { stack: 'web' } })
  })
})

describe('source', () => {
  test.each([
    ['    at f (/app/src/a.js:1:2)', '/app/src/a.js:1:2'],
    ['    at file:///app/src/a.mjs:21:36', '/app/src/a.mjs:21:36'],
    ['    at async f (file:///app/src/a.mjs:21:36)', '/app/src/a.mjs:21:36'],
    ['    at f (C:\\app\\src\\a.js:1:2)', 'C:\\app\\src\\a.js:1:2'],
    ['    at f (/app/node_modules/x/i.js:1:2)\n    at g (/app/b.js:3:4)', '/app/b.js:3:4'],
    ['    at node:internal/modules/run_main:117:5\n    at Object.<anonymous> (/app/c.js:1:2)', '/app/c.js:1:2'],
    ['    at /srv/my app/ü.js:1:2', '/srv/my app/ü.js:1:2'],
    ['    at node:internal/x:1:1', undefined],
    ['    at Array.map (<anonymous>)', undefined],
    ['', undefined],
    [`    at ${'('.repeat(30_000)}`, undefined],
    [`    at ${'a:1:'.repeat(30_000)}`, undefined],
  ])('of %j is %j', (frames, source) => {
    expect(
      entryOf({ err: { type: 'E', message: 'm', stack: `E: m\n${frames}` }, msg: 'm' }, { maxEntryBytes: 4_000_000 })
        .source,
    ).toBe(source)
  })

  const quoted = 'worker failed:\nError: x\n    at f (/other/app/a.js:9:9)'
  const frame = '    at run (/app/b.js:3:4)'
  test.each<[string, string, string, string?]>([
    ['frames', quoted, `E: ${quoted}\n${frame}`],
    ['frames, and no name', quoted, `${quoted}\n${frame}`],
    [
      'frames of Windows',
      quoted.replace('/other/app/', 'C:\\x\\'),
      `E: ${quoted.replace('/other/app/', 'C:\\x\\')}\n${frame}`,
    ],
    ['only a frame', '\n    at f (/a.js:9:9)', `E: \n    at f (/a.js:9:9)\n${frame}`],
    ['its own frame', `x\n${frame}`, `E: x\n${frame}\n${frame}`],
    ['frames, in its stack only', 'changed', `E: x\n${frame}`],
    ['text that is in a frame', 'b.js', `E: x\n${frame}\n    at /app/c.js:1:2`],
  ])('of an error that has in its message %s', (_, message, stack) => {
    const entry = entryOf({ err: { type: 'E', message, stack }, msg: 'm' }, { fingerprint: true })
    expect(entry.source).toBe('/app/b.js:3:4')
    expect(entry.fingerprint).toBe(
      entryOf({ err: { type: 'E', message, stack: `E\n${frame}` }, msg: 'm' }, { fingerprint: true }).fingerprint,
    )
    expect(entryOf({ stack, message, level: 'error' }).source).toBe('/app/b.js:3:4')
  })

  test("the record's own source or caller wins", () => {
    expect(entryOf({ err: boom, source: 'here', msg: 'm' }).source).toBe('here')
    expect(entryOf({ err: boom, caller: 'there', msg: 'm' }).source).toBe('there')
  })
})

describe('fingerprint', () => {
  const auto = (err: object): string | undefined => entryOf({ err, msg: 'm' }, { fingerprint: true }).fingerprint
  const at = (message: string, frame = '/app/a.js:1:2', type = 'E'): object => ({
    type,
    message,
    stack: `${type}: ${message}\n    at f (${frame})`,
  })

  test("only if enabled, only for errors; the record's own wins", () => {
    expect(entryOf({ err: boom, msg: 'm' }).fingerprint).toBeUndefined()
    expect(entryOf({ msg: 'm' }, { fingerprint: true }).fingerprint).toBeUndefined()
    expect(entryOf({ err: boom, fingerprint: 'mine', msg: 'm' }, { fingerprint: true }).fingerprint).toBe('mine')
  })

  test.each<[string, object, object]>([
    ['numbers', at('order 17 failed'), at('order 99 failed')],
    ['ids', at('no 4bf92f35-77b3-4da6-a3ce-929d0e0e4736'), at('no 00f067aa-0ba9-02b7-a3ce-929d0e0e4736')],
    ['quoted text', at('no user "bob"'), at('no user "alice"')],
    ['line and column', at('m', '/app/a.js:1:2'), at('m', '/app/a.js:30:40')],
  ])('ignores %s', (_, one, other) => {
    expect(auto(one)).toMatch(/^[\da-f]{32}$/)
    expect(auto(one)).toBe(auto(other))
  })

  test.each<[string, object]>([
    ['message', at('other')],
    ['type', at('m', '/app/a.js:1:2', 'F')],
    ['file', at('m', '/app/b.js:1:2')],
  ])('differs by %s', (_, other) => {
    expect(auto(at('m'))).not.toBe(auto(other))
  })

  test.each<[string, readonly string[]]>([
    ['a release by date', ['/srv/releases/20261124/app/pay.js', '/srv/releases/20261125/app/pay.js']],
    ['a release by time', ['/data/shop/20261124-094512/app/pay.js', '/data/shop/2026-11-25T10:00:00Z/app/pay.js']],
    ['a release by number', ['/data/releases/17/app/pay.js', '/data/releases/r18/app/pay.js']],
    [
      'a release by version',
      ['/data/shop-1.2.3/app/pay.js', '/data/shop-1.3.0-rc.1/app/pay.js', '/data/v2.0.0/app/pay.js'],
    ],
    ['a release by commit', ['/data/git/4f3a2b1/app/pay.js', `/data/git/${'0a'.repeat(20)}/app/pay.js`]],
    ['the folder of the process', [`${process.cwd()}/lib/pay.js`, 'lib/pay.js', `file://${process.cwd()}/lib/pay.js`]],
    [
      'the folder of the application',
      [
        '/app/lib/pay.js',
        '/usr/src/app/lib/pay.js',
        '/var/task/lib/pay.js',
        '/srv/shop/lib/pay.js',
        '/home/jo/shop/lib/pay.js',
        'C:\\Users\\jo\\shop\\lib\\pay.js',
      ],
    ],
    [
      'the form of a path',
      [
        '/app/lib/pay.js',
        'file:///app/lib/pay.js',
        'C:\\app\\lib\\pay.js',
        'file:///C:/app/lib/pay.js',
        '/app/lib/pay.js?t=17',
      ],
    ],
    ['URLs of a bundler', ['webpack://shop/./src/pay.js', 'webpack:///src/pay.js', '/app/src/pay.js']],
    ['hosts', ['http://localhost:3000/src/pay.js', 'https://example.com/src/pay.js?v=2']],
    [
      'hashes of bundles',
      [
        '/app/dist/pay-3f2a1b9c.js',
        '/app/dist/pay-4f3a2b1d.js',
        '/app/dist/pay-BX3kd_9a.js',
        '/app/dist/pay-QwErTyUi.js',
      ],
    ],
    ['hashes after a dot', ['/app/dist/main.8d3f2a.js', '/app/dist/main.0123456789abcdef0123.js']],
    ['names that are hashes', ['/app/dist/8d3f2a1b.mjs', '/app/dist/0a1b2c3d.mjs']],
    ['modules of dependencies only', ['/srv/releases/20261124/node_modules/a/i.js', '/app/node_modules/b/i.js']],
  ])('ignores %s', (_, files) => {
    expect(new Set(files.map((file) => auto(at('m', `${file}:1:2`)))).size).toBe(1)
  })

  test.each([
    ['/app/api/v1/pay.js', '/app/api/v2/pay.js'],
    ['/app/src/a/pay.js', '/app/src/b/pay.js'],
    ['/app/order-handler.js', '/app/order-creation.js'],
    ['/app/userAuth.js', '/app/loginApi.js'],
    ['/app/releases/list.js', '/app/releases/show.js'],
    ['/srv/releases/20261124/a/pay.js', '/srv/releases/20261124/b/pay.js'],
    ['/app/0001-users.js', '/app/0002-users.js'],
  ])('differs between %s and %s', (one, other) => {
    expect(auto(at('m', `${one}:1:2`))).not.toBe(auto(at('m', `${other}:1:2`)))
  })

  test('a long path takes linear time', () => {
    for (const part of ['1.', 'a-', '/1', '/a-1', '0a', '.0-'])
      expectLinearTime(480, (chars) => {
        const path = `/${part.repeat(chars / part.length)}:1:2`
        // Different messages, because the fingerprints of known errors are cached.
        const messages = Array.from({ length: 200 }, (_, index) => ' '.repeat(index))
        return () => messages.splice(0, 20).map((message) => auto(at(message, path)))
      })
  })

  test('does not change between releases', () => {
    expect(auto(at('order 17 failed'))).toMatchInlineSnapshot(`"5ac54b29b0058f79ad1227386371c446"`)
  })
})
