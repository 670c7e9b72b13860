/** The stream's requests belong to no request of the application: neither to its async context nor to its trace. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { context as api, createContextKey, ROOT_CONTEXT } from '@opentelemetry/api'
import type { Context, ContextManager } from '@opentelemetry/api'
import pino from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ingestStream } from '../../src/transport/in-process.js'
import { httpServer } from '../client/http-servers.js'

const CHANNELS = [
  'net.client.socket',
  'undici:client:beforeConnect',
  'undici:request:create',
  'undici:client:connected',
]

/** As in `isTracingSuppressed` of `@opentelemetry/core`. */
const SUPPRESSED = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING')

const store = new AsyncLocalStorage<string>()
const inRequest = <T>(call: () => T): T => store.run('a request', call)

/** Calls `look` in the context of each request and connection of undici. */
function watchRequests<T>(look: () => T): T[] {
  const seen: T[] = []
  const listener = (): void => void seen.push(look())
  for (const channel of CHANNELS) subscribe(channel, listener)
  onTestFinished(() => {
    for (const channel of CHANNELS) unsubscribe(channel, listener)
  })
  return seen
}

async function create(): Promise<ReturnType<typeof ingestStream>> {
  const server = await httpServer((response) => void response.end('{"accepted":1,"rejected":0}'))
  const url = `${server.origin}/api/v1`
  const stream = ingestStream({ url, apiKey: 'k', spool: false, logTo: 'silent', enabled: true })
  onTestFinished(async () => {
    if (stream.closed) return
    stream.end()
    await once(stream, 'close')
  })
  return stream
}

const flush = (stream: ReturnType<typeof ingestStream>): Promise<void> =>
  new Promise((resolve) => stream.flush(resolve))

test.each<[string, (stream: ReturnType<typeof ingestStream>) => Promise<unknown>]>([
  ['a log call', (stream) => once(stream, 'ingest:delivered')],
  ['flush()', (stream) => inRequest(() => flush(stream))],
  [
    'end()',
    (stream) => {
      inRequest(() => stream.end())
      return once(stream, 'close')
    },
  ],
])('%s in a request sends outside of its async context', async (_, send) => {
  const stream = await store.run('the creator', create)
  const seen = watchRequests(() => store.getStore())
  inRequest(() => pino(stream).info('m'))
  await send(stream)
  expect(seen.length).toBeGreaterThan(2)
  expect(new Set(seen)).toEqual(new Set(['the creator']))
})

test('the callback of flush() has the context of its caller', async () => {
  const stream = await create()
  inRequest(() => pino(stream).info('m'))
  expect(await inRequest(() => new Promise((resolve) => stream.flush(() => resolve(store.getStore()))))).toBe(
    'a request',
  )
})

test('OpenTelemetry, registered after the stream was created, makes no span of its requests', async () => {
  const stream = await create()
  const active = new AsyncLocalStorage<Context>()
  const manager = {
    active: () => active.getStore() ?? ROOT_CONTEXT,
    with: (context: Context, call: (...args: unknown[]) => unknown, self: unknown, ...args: unknown[]) =>
      active.run(context, () => call.apply(self, args)),
    disable: () => manager,
  }
  api.setGlobalContextManager(manager as unknown as ContextManager)
  onTestFinished(() => api.disable())
  const seen = watchRequests(() => api.active().getValue(SUPPRESSED))
  pino(stream).info('m')
  await flush(stream)
  expect(seen.length).toBeGreaterThan(2)
  expect(new Set(seen)).toEqual(new Set([true]))
  expect(api.active().getValue(SUPPRESSED)).toBeUndefined()
})

test('Sentry with a context of its own records no span of its requests', async () => {
  const stream = await create()
  const active = new AsyncLocalStorage<object>()
  const withScope = (call: (scope: object) => unknown): unknown => {
    const scope = {}
    return active.run(scope, () => call({ setSDKProcessingMetadata: (data: object) => Object.assign(scope, data) }))
  }
  vi.stubGlobal('__SENTRY__', { version: '11.0.0', '11.0.0': { acs: { withScope } } })
  onTestFinished(() => void vi.unstubAllGlobals())
  const seen = watchRequests(() => active.getStore())
  pino(stream).info('m')
  await flush(stream)
  expect(seen.length).toBeGreaterThan(2)
  for (const scope of seen) expect(scope).toEqual({ __SENTRY_SUPPRESS_TRACING__: true })
})
