/**
 * Every exported function rejects wrong arguments with an `IngestError` with code `CONFIG` that names the argument
 * and the received value.
 */
import { afterAll, describe, expect, test } from 'vitest'
import * as api from '../src/index.js'
import { IngestError, IngestServiceError, createIngestService } from '../src/service/index.js'

/** Wrong values, each with its description in the message. */
const WRONG: Readonly<Record<string, readonly [value: unknown, received: RegExp]>> = {
  undefined: [undefined, /undefined/],
  null: [null, /null/],
  boolean: [true, /a boolean|true/],
  NaN: [Number.NaN, /a number|NaN/],
  bigint: [7n, /a bigint|7/],
  symbol: [Symbol('x'), /symbol/i],
  text: ['text', /a string|text/],
  list: [[1], /a list|\[1\]/],
  function: [() => 1, /a function/],
  object: [{ other: 1 }, /an object|other/],
  throwing: [
    {
      get labels(): never {
        throw new Error('no getter')
      },
    },
    /no getter|an object/,
  ],
}

/** The argument, the kinds of value that are valid there (or rejected as an unknown option), and a call. */
type Row = readonly [argument: string, valid: string, call: (value: never) => unknown]

const connection = { url: 'http://127.0.0.1:9/api/v1', apiKey: 'key', maxAttempts: 1, timeoutMs: 50 }
const release = { ...connection, version: '1' }
const logger = { warn: () => {}, error: () => {} }
const fatalLogger = { ...logger, fatal: () => {} }
const feedback = { event_id: 'e', comments: 'c' }
const client = new api.IngestClient(connection)
const service = await createIngestService()
const stream = api.ingestStream({ url: connection.url, apiKey: 'key', spool: false })
stream.setMaxListeners(0) // of ingestMetrics()
afterAll(() => Promise.all([client.close(), service.close(), stream.destroy()]))

const LIBRARY: readonly Row[] = [
  ['options', 'undefined object', api.ingestStream],
  ['options', 'undefined object', api.default],
  ['the logger of flush()', 'object throwing', api.flush],
  ['the options of flush()', 'undefined object', (value) => api.flush(logger, value)],
  ['timeoutMs of flush()', 'undefined', (timeoutMs) => api.flush(logger, { timeoutMs })],
  ['the handler of withFlush()', 'function', (handler) => api.withFlush(handler, logger)],
  ['the logger of withFlush()', 'object throwing', (value) => api.withFlush(() => {}, value)],
  ['the options of withFlush()', 'undefined object', (value) => api.withFlush(() => {}, logger, value)],
  ['the registry of register()', '', (value) => api.ingestMetrics(stream).register(value)],
  ['the logger of flushOnSignal()', 'undefined object throwing list', api.flushOnSignal],
  ['the logger of flushOnSignal()', 'object throwing list', (value) => api.flushOnSignal([logger, value])],
  ['the options of flushOnSignal()', 'undefined object', (value) => api.flushOnSignal(logger, value)],
  ['timeoutMs of flushOnSignal()', 'undefined', (timeoutMs) => api.flushOnSignal(logger, { timeoutMs })],
  ['exit of flushOnSignal()', 'undefined boolean', (exit) => api.flushOnSignal(logger, { exit })],
  ['signals of flushOnSignal()', 'undefined list', (signals) => api.flushOnSignal(logger, { signals })],
  ['signals of flushOnSignal()', '', (signal) => api.flushOnSignal(logger, { signals: ['SIGTERM', signal] })],
  ['the logger of captureUncaught()', '', api.captureUncaught],
  ['captureUncaught()', 'undefined', (value) => api.captureUncaught(fatalLogger, value)],
  ['exitCode of captureUncaught()', 'undefined', (exitCode) => api.captureUncaught(fatalLogger, { exitCode })],
  ['the options of ingestOptions()', 'undefined object', api.ingestOptions],
  ['transport', 'undefined object throwing', (value) => api.ingestOptions({ transport: value })],
  ['transport.targets', 'undefined list', (targets) => api.ingestOptions({ transport: { targets } })],
  ['transport.targets', 'object throwing', (target) => api.ingestOptions({ transport: { targets: [target] } })],
  ['transport.pipeline', 'list', (pipeline) => api.ingestOptions({ transport: { pipeline } })],
  ['mixin', 'undefined function', (mixin) => api.ingestOptions({ mixin })],
  ['serializers', 'undefined', (serializers) => api.ingestOptions({ serializers })],
  ['serializers.err', 'undefined function', (err) => api.ingestOptions({ serializers: { err } })],
  ['formatters.log', 'undefined function', (log) => api.ingestOptions({ formatters: { log } })],
  ['hooks.logMethod', 'undefined null function', (logMethod) => api.ingestOptions({ hooks: { logMethod } })],
  ['mixin', 'undefined function', api.ingestMixin],
  ['fn of withScope()', 'function', (fn) => api.withScope({}, fn)],
  ['option', 'undefined', (value) => api.registerRelease(value)],
  [
    'logger of registerRelease()',
    'undefined object throwing',
    (value) => api.registerRelease({ ...release, logger: value }),
  ],
  ['signal of registerRelease()', 'undefined', (signal) => api.registerRelease({ ...release, signal })],
  ['cwd of registerRelease()', 'undefined text', (cwd) => api.registerRelease({ ...release, cwd })],
  ['option', 'undefined', (value) => api.sendFeedback(feedback, value)],
  ['signal of sendFeedback()', 'undefined', (signal) => api.sendFeedback(feedback, { ...connection, signal })],
  ['job of monitor()', 'function', (job) => api.monitor('t', job, connection)],
  ['option', 'undefined', (value) => api.monitor('t', () => 1, value)],
  ['', 'object', (value) => api.startHeartbeat('t', value)],
  ['everyMs', '', (everyMs) => api.startHeartbeat('t', { everyMs })],
  ['logger of startHeartbeat()', 'undefined', (value) => api.startHeartbeat('t', { everyMs: 1000, logger: value })],
  ['ingestMetrics()', '', api.ingestMetrics],
  ['ingestMetrics()', 'undefined', (value) => api.ingestMetrics(stream, value)],
  ['meter', 'undefined', (meter) => api.ingestMetrics(stream).openTelemetry(meter)],
  ['option', 'undefined', (value) => new api.IngestClient(value)],
  ['maxAttempts', 'undefined', (maxAttempts) => new api.IngestClient({ maxAttempts })],
  ['the options of ingest()', 'undefined object', (value) => client.ingest({ logs: [] }, value)],
  ['signal of ingest()', 'undefined', (signal) => client.ingest({ logs: [] }, { signal })],
  ['signal of heartbeat()', 'undefined', (signal) => client.heartbeat('t', { signal })],
]

const SERVICE: readonly Row[] = [
  ['option', 'undefined', createIngestService],
  ...['port', 'host', 'partialStatus', 'maxEntries', 'maxAgeMs', 'rateLimit', 'clock', 'apiKeys', 'monitorTokens'].map(
    (name): Row => [name, 'undefined', (value) => createIngestService({ [name]: value })],
  ),
  ['dbFile', 'undefined text', (dbFile) => createIngestService({ dbFile })],
  ['partial', 'undefined boolean', (partial) => createIngestService({ partial })],
  ['onRecords', 'undefined function', (onRecords) => createIngestService({ onRecords })],
  ...(['entries', 'counts', 'requestLogs', 'feedback', 'releases', 'heartbeats', 'rejected'] as const).map(
    (name): Row => [`the options of ${name}()`, 'undefined object', (value) => service[name](value)],
  ),
  ['waitForEntries()', 'function', (wanted) => service.waitForEntries(wanted, { timeoutMs: 0 })],
  ['waitForEntries()', 'undefined object', (value) => service.waitForEntries(0, value)],
  ['waitForEntries()', 'undefined', (timeoutMs) => service.waitForEntries(1, { timeoutMs })],
]

async function thrownBy(call: Row[2], value: unknown): Promise<unknown> {
  try {
    await call(value as never)
    return undefined
  } catch (error) {
    return error
  }
}

const title = ([argument, , call]: Row): string => `${argument}: ${String(call).replaceAll(/\s+/g, ' ').slice(0, 90)}`

describe('a wrong argument', () => {
  test.each([...LIBRARY, ...SERVICE].map((row) => [title(row), row] as const))('%s', async (_, [name, valid, call]) => {
    for (const [kind, [value, received]] of Object.entries(WRONG)) {
      if (valid.split(' ').includes(kind)) continue
      const error = await thrownBy(call, value)
      expect(error, kind).toBeInstanceOf(IngestError)
      expect(error, kind).toMatchObject({ code: 'CONFIG', message: expect.stringContaining(name) as string })
      expect((error as Error).message, kind).toMatch(received)
    }
  })

  test.each(['service', 'q', 'tag', 'since', 'level', 'limit', 'cursor'])('a wrong filter: %s', async (name) => {
    for (const kind of ['null', 'boolean', 'NaN', 'symbol', 'function', 'object']) {
      const error = await thrownBy((value) => service.entries({ [name]: value }), WRONG[kind]?.[0])
      expect(error, kind).toBeInstanceOf(IngestServiceError)
      expect(error, kind).toMatchObject({ code: 'QUERY', message: expect.stringContaining(name) as string })
    }
  })

  test('a nested option whose getter throws', async () => {
    const spool = Object.defineProperty({}, 'dir', {
      enumerable: true,
      get: () => {
        throw new Error('no getter')
      },
    })
    const error = await thrownBy(
      (value) => api.ingestStream({ url: connection.url, apiKey: 'key', spool: value }),
      spool,
    )
    expect(error).toMatchObject({
      code: 'CONFIG',
      message: expect.stringMatching(/spool.* cannot be read: .*no getter/) as string,
    })
  })

  test('does not show a key given instead of a list', async () => {
    const error = await thrownBy((apiKeys) => createIngestService({ apiKeys }), 'secret-key-4711')
    expect(error).toMatchObject({ code: 'CONFIG', message: 'apiKeys must be a list of texts; got a string' })
  })

  test('a signal that cannot be handled', async () => {
    for (const signal of ['SIGKILL', 'SIGSTOP', 'SIGNONE'])
      expect(await thrownBy((value) => api.flushOnSignal([], { signals: [value] }), signal)).toMatchObject({
        code: 'CONFIG',
        message: expect.stringContaining(signal) as string,
      })
  })

  test.each(['ingest', 'ingestRequests', 'sendFeedback', 'registerRelease'] as const)(
    'content whose getter throws: %s()',
    async (method) => {
      const entry = Object.defineProperty({}, method === 'ingestRequests' ? 'method' : 'level', {
        enumerable: true,
        get: () => {
          throw new Error('no getter')
        },
      })
      const content =
        { ingest: { logs: [entry] }, ingestRequests: [entry] }[method as 'ingest'] ?? WRONG['throwing']?.[0]
      const error = await thrownBy((value) => client[method](value), content)
      expect(error).toMatchObject({ name: 'IngestError', code: 'INVALID' })
    },
  )
})

test('the functions that an application calls while it logs never throw', () => {
  for (const [value] of Object.values(WRONG)) {
    api.addBreadcrumb(value as never)
    api.addBreadcrumb({ data: value } as never)
    expect(api.captureError(logger, value, value as never)).toMatch(/./)
    expect(api.withScope(value as never, () => 7)).toBe(7)
    expect(api.ingestMixin()({ user: value }, 50, value as never)).toBeTypeOf('object')
  }
})
