/** `ingestOptions()` keeps the app's options, reports mistakes early, and serializes errors under any key. */
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { describe, expect, expectTypeOf, test } from 'vitest'
import pino from 'pino'
import type { LogFn, Logger, LoggerOptions } from 'pino'
import type { Options } from 'pino-http'
import { serializeError } from '../../../src/record/error-serializer.js'
import { addBreadcrumb } from '../../../src/app/scope/scope-breadcrumbs.js'
import { ingestOptions } from '../../../src/app/logger/ingest-options.js'
import type { IngestLoggerOptions } from '../../../src/app/logger/ingest-options.js'
import { withScope } from '../../../src/app/scope/scope.js'
import { flush } from '../../../src/app/lifecycle/flush.js'
import { IngestError } from '../../../src/shared/errors.js'
import { ingestStream } from '../../../src/transport/in-process.js'
import { started } from '../../service/support.js'
import { bare, lines } from '../lines.js'

const KEY = 'options-key-91c2'
/** pino gets the path, since it would search for the name from the file that calls it. */
const OURS = fileURLToPath(new URL('../../../dist/cjs/index.js', import.meta.url))
const URL_OPTIONS = { url: 'http://127.0.0.1:9/api/v1', apiKey: KEY }

function logs(options: IngestLoggerOptions, log: (logger: Logger) => void): Record<string, unknown> {
  const { stream, last } = lines()
  log(pino(ingestOptions({ ...options, transport: false }), stream))
  return bare(last())
}

const cause = Object.assign(new TypeError('inner'), { code: 'E_INNER' })
const boom = Object.assign(new RangeError('boom', { cause }), { code: 'E_BOOM' })
const BOOM = {
  type: 'RangeError',
  message: 'boom',
  code: 'E_BOOM',
  stack: expect.stringContaining('RangeError: boom\n    at ') as string,
  cause: {
    type: 'TypeError',
    message: 'inner',
    code: 'E_INNER',
    stack: expect.stringContaining('TypeError: inner\n    at ') as string,
  },
}

class Job {
  readonly failure: Error
  constructor(failure: Error) {
    this.failure = failure
  }
}

function circular(err: Error): object {
  const ctx: Record<string, unknown> = { err }
  ctx['self'] = ctx
  return ctx
}

function foreign(): Error {
  return runInNewContext('new RangeError("far")') as Error
}

function thrownBy(create: () => unknown): unknown {
  try {
    create()
  } catch (error) {
    return error
  }
  return undefined
}

function call(logger: Logger, args: unknown[]): void {
  Reflect.apply(logger.error, logger, args)
}

describe('errors', () => {
  test.each(['err', 'error', 'lastFailure'])('under %s are serialized completely', (key) => {
    expect(logs({}, (logger) => logger.error({ [key]: boom, a: 1 }, 'x'))).toEqual({ [key]: BOOM, a: 1, msg: 'x' })
  })

  test('alone, and under another errorKey', () => {
    expect(logs({}, (logger) => logger.error(boom))).toEqual({ err: BOOM, msg: 'boom' })
    expect(logs({ errorKey: 'failure' }, (logger) => logger.error(boom))).toEqual({ failure: BOOM, msg: 'boom' })
    expect(logs({ errorKey: 'error' }, (logger) => logger.error(boom))).toEqual({ error: BOOM, msg: 'boom' })
  })

  test.each<[string, (error: Error) => object, string]>([
    ['an object', (error) => ({ ctx: { err: error, a: 1 } }), 'ctx.err'],
    [
      'settled promises',
      (reason) => ({
        results: [
          { status: 'fulfilled', value: 1 },
          { status: 'rejected', reason },
        ],
      }),
      'results.1.reason',
    ],
    ['a class instance', (error) => ({ job: new Job(error) }), 'job.failure'],
    ['an object that refers to itself', (error) => ({ ctx: circular(error) }), 'ctx.err'],
    [
      'another error',
      (error) => ({ err: Object.assign(new Error('outer'), { context: { tries: [{ error }] } }) }),
      'err.context.tries.0.error',
    ],
    ['another realm', () => ({ ctx: { err: foreign() } }), 'ctx.err'],
  ])('within %s are serialized completely', (_, record, path) => {
    const logged = logs({}, (logger) => logger.info(record(boom), 'x'))
    const error = path.split('.').reduce<unknown>((holder, key) => (holder as Record<string, unknown>)[key], logged)
    expect(error).toMatchObject(
      path === 'ctx.err' && _ === 'another realm' ? { type: 'RangeError', message: 'far' } : BOOM,
    )
  })

  test("in a child's bindings, under the usual keys", () => {
    expect(logs({}, (logger) => logger.child({ error: boom }).info('x'))).toEqual({ error: BOOM, msg: 'x' })
  })

  test("the app's serializers win for their keys, and its err serializer for all other keys", () => {
    const serializers = {
      err: (error: Error) => `own ${error.message}`,
      failure: (error: Error) => `failed ${error.message}`,
    }
    expect(
      logs({ serializers }, (logger) => logger.error({ err: boom, error: boom, failure: boom, other: boom })),
    ).toEqual({ err: 'own boom', error: 'own boom', failure: 'failed boom', other: 'own boom', msg: 'boom' })
    expect(logs({ serializers, errorKey: 'error' }, (logger) => logger.error(boom))).toEqual({
      error: 'own boom',
      msg: 'boom',
    })
    expect(logs({ serializers, errorKey: 'failed' }, (logger) => logger.error(boom))).toEqual({
      failed: 'own boom',
      msg: 'boom',
    })
  })

  test('redact applies to them under every key', () => {
    const secret = (): Error => Object.assign(new Error('x'), { details: { account: { token: 'Bearer t' } } })
    const record = logs({ redact: ['*.details.account.token', 'err.stack'] }, (logger) =>
      logger.error({ err: secret(), error: secret(), other: secret() }),
    )
    expect(JSON.stringify(record)).not.toContain('Bearer t')
    expect(record).toMatchObject({
      err: { stack: '[Redacted]' },
      other: { details: { account: { token: '[Redacted]' } } },
    })
  })

  test('the record that was logged is not changed', () => {
    const record = { other: boom, a: 1 }
    for (const options of [{}, { mixinMergeStrategy: (mergeObject: object) => mergeObject }]) {
      expect(logs(options, (logger) => logger.error(record))).toMatchObject({ other: BOOM, a: 1 })
      expect(record).toEqual({ other: boom, a: 1 })
      expect(record.other).toBe(boom)
    }
  })
})

describe('what cannot be read', () => {
  const no = (): never => {
    throw new Error('no')
  }
  const revoked = (target: object): object => {
    const { proxy, revoke } = Proxy.revocable(target, {})
    revoke()
    return proxy
  }
  const strict = (): object => new Proxy({}, { get: no, has: no, ownKeys: no, getPrototypeOf: no })
  const getter = (): object => Object.defineProperty({ id: 7 }, 'x', { enumerable: true, get: no })
  const itself = (): object => ({
    id: 7,
    toJSON() {
      return this
    },
  })
  const circle = (): object => {
    const value: Record<string, unknown> = { id: 7 }
    return Object.assign(value, { value })
  }
  const X = '[unreadable]'

  const VALUES: readonly [string, () => unknown, unknown][] = [
    ['a revoked proxy', () => revoked({}), X],
    ['a proxy that refuses everything', strict, X],
    ['a proxy that refuses members', () => new Proxy({ id: 7 }, { get: no }), { id: X }],
    ['a getter that throws', getter, { id: 7, x: X }],
    ['a toJSON that throws', () => ({ id: 7, toJSON: no }), X],
    ['a toJSON that returns its object', itself, { id: 7 }],
    ['a cycle', circle, { id: 7, value: '[Circular]' }],
    ['a value within others', () => ({ list: [1, { state: revoked({}) }], id: 7 }), { list: [1, { state: X }], id: 7 }],
  ]
  test.each(VALUES)('is marked alone: %s', (_, create, state) => {
    const error = Object.assign(new RangeError('boom', { cause: create() }), { state: create() })
    const err = { type: 'RangeError', message: 'boom', state }
    expect(logs({}, (logger) => logger.error({ err: error, state: create() }))).toMatchObject({ err, state })
    // pino's own serializer reads members, and throws.
    const STD = { serializers: { err: pino.stdSerializers.err } }
    expect(logs(STD, (logger) => logger.error(error, 'm'))).toMatchObject({ err, msg: 'm' })
  })

  test('does not fail the call if it is the record, or a member of it', () => {
    for (const record of [strict(), revoked({})])
      expect(logs({}, (logger) => logger.error(record, 'm'))).toEqual({ err: X, msg: 'm' })
    const other = Object.defineProperty(Object.assign(Object.create(Job.prototype), { id: 7 }), 'x', {
      enumerable: true,
      get: no,
    }) as object
    for (const record of [getter(), other])
      expect(withScope({ request_id: 'r' }, () => logs({}, (logger) => logger.error(record, 'm')))).toEqual({
        id: 7,
        x: X,
        request_id: 'r',
        msg: 'm',
      })
  })
})

describe("the app's own", () => {
  test('formatters are kept, and receive the errors themselves', () => {
    const formatters = {
      level: (label: string) => ({ level: label }),
      log: (record: Record<string, unknown>) => ({ ...record, isError: record['other'] instanceof Error }),
    }
    const { stream, last } = lines()
    pino(ingestOptions({ transport: false, formatters }), stream).error({ other: boom })
    expect(last()).toMatchObject({ level: 'error', isError: true, other: BOOM })
  })

  test('mixin, its merge strategy, name, base and levels are kept', () => {
    const options = ingestOptions({
      transport: false,
      name: 'shop',
      base: { region: 'eu' },
      customLevels: { audit: 35 },
      mixin: () => ({ extra: 1, request_id: 'own' }),
      mixinMergeStrategy: (mergeObject, mixinObject) => ({ merged: true, ...mixinObject, ...mergeObject }),
    })
    const { stream, last } = lines()
    const logger = pino(options, stream)
    expectTypeOf(logger.audit).toBeFunction()
    withScope({ request_id: 'r', user_id: 'u' }, () => logger.audit({ a: 1 }))
    expect(last()).toMatchObject({
      level: 35,
      name: 'shop',
      region: 'eu',
      extra: 1,
      request_id: 'own',
      user_id: 'u',
      merged: true,
      a: 1,
    })
  })

  test('options are not changed, and may be frozen', () => {
    const given = Object.freeze({
      serializers: Object.freeze({ a: String }),
      formatters: Object.freeze({ log: (record: Record<string, unknown>) => record }),
      nestedKey: 'data',
      transport: Object.freeze({ target: 'pino-ingest', options: Object.freeze({ ...URL_OPTIONS }) }),
    })
    expect(ingestOptions(given).transport).toEqual({
      target: OURS,
      worker: {},
      options: { ...URL_OPTIONS, pino: { nestedKey: 'data' } },
    })
    expect(given.transport.options).toEqual(URL_OPTIONS)
  })
})

describe('errors that pino drops from a call', () => {
  const far = { type: 'RangeError', message: 'far' }
  test.each<[string, unknown[], object]>([
    ["('failed', error)", ['failed', boom], { err: BOOM, msg: 'failed' }],
    ['({}, error)', [{ a: 1 }, boom], { a: 1, err: BOOM, msg: 'boom' }],
    ["({}, error, 'failed')", [{ a: 1 }, boom, 'failed'], { a: 1, err: BOOM, msg: 'failed' }],
    ['(undefined, error)', [undefined, boom], { err: BOOM, msg: 'boom' }],
    ["('%s failed', 'it', error)", ['%s failed', 'it', boom], { err: BOOM, msg: 'it failed' }],
    ["('100% failed', error)", ['100% failed', boom], { err: BOOM, msg: '100% failed' }],
    [
      "(error, 'failed', another)",
      [boom, 'failed', new Error('2')],
      { err: BOOM, errors: [{ message: '2' }], msg: 'failed' },
    ],
    ['two', ['failed', boom, new Error('2')], { err: BOOM, errors: [{ message: '2' }], msg: 'failed' }],
    ["another realm's, and a message", [foreign(), 'failed %s', 1], { err: far, msg: 'failed 1' }],
  ])('%s', (_, args, expected) => {
    expect(logs({}, (logger) => call(logger, args))).toMatchObject(expected)
    const hooks = {
      logMethod(this: Logger, given: unknown[], method: LogFn) {
        Reflect.apply(method, this, given)
      },
    }
    expect(logs({ hooks }, (logger) => call(logger.child({ c: 1 }), args))).toMatchObject(expected)
  })

  test.each<[unknown[]]>([
    [['%s failed', boom]],
    [['%j', boom]],
    [['%O %d', boom, 1]],
    [['a', 1, 'b']],
    [[{ a: 1 }, { b: 2 }, boom]],
    [[5]],
    [[[1, 2], 'm']],
  ])('%j is logged as pino does', (args) => {
    const { stream, last } = lines()
    call(pino({ serializers: { err: serializeError } }, stream), args)
    expect(logs({}, (logger) => call(logger, args))).toEqual(bare(last()))
  })

  test("the application's hook receives the original arguments, and the arguments it passes on are used", () => {
    const received: unknown[] = []
    const hooks = {
      logMethod(this: Logger, args: unknown[], method: LogFn) {
        received.push(args)
        Reflect.apply(method, this, [args[1], args[0]])
      },
      streamWrite: (text: string) => text.replace('SECRET', 'gone'),
    }
    expect(logs({ hooks, errorKey: 'failure' }, (logger) => call(logger, ['SECRET', boom]))).toEqual({
      failure: BOOM,
      msg: 'gone',
    })
    expect(received).toEqual([['SECRET', boom]])
  })
})

describe('the transport', () => {
  test("is pino-ingest by default, absent with false, and the app's if given", () => {
    expect(ingestOptions().transport).toEqual({ target: OURS, worker: {}, options: {} })
    expect(ingestOptions({ level: 'debug' })).toMatchObject({ level: 'debug', transport: { target: OURS } })
    expect(ingestOptions({ transport: false })).not.toHaveProperty('transport')
    const transport = { target: 'pino-pretty', options: { anything: 1 } }
    expect(ingestOptions({ transport }).transport).toBe(transport)
    expectTypeOf(ingestOptions()).toEqualTypeOf<LoggerOptions>()
  })

  test("gets its own options from beside pino's, and pino does not", () => {
    const own = { ...URL_OPTIONS, service: 'checkout', tags: ['eu'], sendLevel: 'debug' as const }
    const options = ingestOptions({ level: 'debug', enabled: true, ...own, version: undefined })
    expect(options).toMatchObject({ level: 'debug', enabled: true, transport: { target: OURS, options: own } })
    expect(Object.keys(options)).not.toEqual(expect.arrayContaining(['service']))
    expect(options.transport).not.toHaveProperty('options.level')
    const file = { target: 'pino/file', options: {} }
    const targets = [file, { target: 'pino-ingest', options: { service: 'other' } }]
    expect(ingestOptions({ ...own, nestedKey: 'data', transport: { targets } }).transport).toEqual({
      targets: [file, { target: OURS, level: 0, options: { ...own, service: 'other', pino: { nestedKey: 'data' } } }],
      worker: {},
    })
  })

  test.each<[string, object, string[]]>([
    ['with transport: false', { transport: false, service: 'shop' }, ['service', 'ingestStream({ service })']],
    ['with another transport', { transport: { target: 'pino-pretty' }, tags: [] }, ['tags', 'pino-ingest']],
    ["for pino-http's child", { logger: pino({ enabled: false }), service: 'x', url: 'y' }, ['service, url', 'logger']],
    ['of a wrong value', { ...URL_OPTIONS, tags: 5 }, ['tags must be', '5']],
    ['with a missing module', { beforeSend: './no-such-hook.mjs' }, ['beforeSend', 'no-such-hook.mjs', process.cwd()]],
    ['of a similar name', { apikey: KEY }, ['apikey', 'apiKey?']],
    ['of a name of another transport', { endpoint: 'https://logs.example.com' }, ['endpoint', 'url?']],
  ])('rejects options %s', (_, options, facts) => {
    const thrown = thrownBy(() => ingestOptions(options))
    expect(thrown).toMatchObject({ code: 'CONFIG' })
    for (const fact of facts) expect(String(thrown)).toContain(fact)
    expect(String(thrown)).not.toContain(KEY)
  })

  const wrong = { target: 'pino-ingest', options: { ...URL_OPTIONS, bacth: { size: 5 } } }
  test.each<[string, IngestLoggerOptions['transport']]>([
    ['alone', wrong],
    ['among targets', { targets: [{ target: 'pino/file' }, wrong] }],
    ['in a pipeline among targets', { targets: [{ pipeline: [wrong] }] }],
    ['by its URL', { ...wrong, target: 'file:///app/node_modules/pino-ingest/dist/cjs/index.js' }],
  ])('reports a wrong option %s immediately, without the key', (_, transport) => {
    const thrown = thrownBy(() => ingestOptions({ transport }))
    expect(thrown).toBeInstanceOf(IngestError)
    expect(thrown).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('did you mean batch?') as string,
    })
    expect(String(thrown)).not.toContain(KEY)
  })

  test('receives the options that change names in a record, unless they are set', () => {
    const names = { nestedKey: 'data', errorKey: 'e', customAttributeKeys: { req: 'q', err: 'f' } }
    const file = { target: 'pino/file', options: {} }
    const own = { target: 'pino-ingest', options: { pino: { nestedKey: 'own' } } }
    const { transport } = ingestOptions({ ...names, transport: { targets: [file, { target: 'pino-ingest' }, own] } })
    expect(transport).toMatchObject({
      targets: [file, { options: { pino: names } }, { options: { pino: { ...names, nestedKey: 'own' } } }],
    })
    const unset = { nestedKey: null, customLevels: null, customAttributeKeys: { request: 'q' } } as object
    expect(() => ingestOptions({ ...unset, transport: own })).not.toThrow()
    expectTypeOf<Options['customAttributeKeys']>().toExtend<IngestLoggerOptions['customAttributeKeys']>()
  })

  const ours = { target: 'pino-ingest' }
  const file = { target: 'pino/file', options: { destination: '/dev/null' } }
  test.each<[string, IngestLoggerOptions['transport'], string[]]>([
    ['alone', ours, ['debug', 'info']],
    ['among targets, with a level', { targets: [file, { ...ours, level: 'info' }] }, ['info']],
    ['in a pipeline among targets', { targets: [file, { pipeline: [ours] }] }, ['debug', 'info']],
  ])('%s receives all that pino logs', async (_, transport, expected) => {
    const service = await started({ apiKeys: [KEY] })
    const options = { url: service.url, apiKey: KEY, sendLevel: 'debug' as const, spool: false }
    const logger = pino(ingestOptions({ level: 'debug', ...options, transport }))
    logger.trace('trace')
    logger.debug('debug')
    logger.info('info')
    expect((await flush(logger, { timeoutMs: 20_000 })).state).toBe('acknowledged')
    const levels = service.entries({}).items.map(({ entry }) => entry.level)
    expect(levels.toSorted()).toEqual(expected)
  })

  test.each(['worker', 'stream'] as const)('a %s delivers everything to the service', async (way) => {
    const service = await started({ apiKeys: [KEY] })
    const options = { url: service.url, apiKey: KEY, service: 'shop', sendLevel: 'debug' as const }
    const logger =
      way === 'worker'
        ? pino(ingestOptions({ level: 'debug', transport: { target: 'pino-ingest', options } }))
        : pino(ingestOptions({ level: 'debug', transport: false }), ingestStream(options))
    withScope(
      {
        request_id: 'r-1',
        user: { id: 1 },
        tags: ['vip'],
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      },
      () => {
        addBreadcrumb({ category: 'cart', message: 'paid' })
        logger.error({ failure: boom }, 'failed')
      },
    )
    expect((await flush(logger, { timeoutMs: 20_000 })).state).toBe('acknowledged')
    expect(service.entries({}).items.map(({ entry }) => entry)).toMatchObject([
      {
        level: 'error',
        message: 'failed',
        service: 'shop',
        request_id: 'r-1',
        user: { id: '1' },
        tags: ['vip'],
        trace: { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', parent_span_id: '00f067aa0ba902b7' },
        error: {
          type: 'RangeError',
          message: 'boom',
          stack: expect.stringContaining('caused by: TypeError: inner') as string,
        },
        metadata: { error: { code: 'E_BOOM', cause: { code: 'E_INNER' } } },
        breadcrumbs: [{ category: 'cart', message: 'paid' }],
      },
    ])
  })

  test('delivers the most severe of syslog levels', async () => {
    const service = await started({ apiKeys: [KEY] })
    const customLevels = { emerg: 0, alert: 1, crit: 2, err: 3, warning: 4, notice: 5, info: 6, debug: 7 }
    const options = { url: service.url, apiKey: KEY }
    const own = { customLevels, useOnlyCustomLevels: true, levelComparison: 'DESC', level: 'debug' } as const
    const logger = pino(ingestOptions({ ...own, ...options }))
    for (const label of Object.keys(customLevels) as (keyof typeof customLevels)[]) logger[label](label)
    expect((await flush(logger, { timeoutMs: 20_000 })).state).toBe('acknowledged')
    const sent = service.entries({}).items.map(({ entry }) => [entry.message, entry.level])
    expect(Object.fromEntries(sent)).toEqual({
      ...{ emerg: 'fatal', alert: 'fatal', crit: 'fatal', err: 'error' },
      ...{ warning: 'warn', notice: 'info', info: 'info' },
    })
  })
})
