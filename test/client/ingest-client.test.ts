import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { IngestClient, IngestError } from '../../src/client/index.js'
import type { IngestClientOptions } from '../../src/client/index.js'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService, IngestServiceOptions } from '../../src/service/index.js'
import { failureOf } from './failure-of.js'
import { httpServer } from './http-servers.js'

const KEY = 'canary-key-4711'
const ENTRY = { level: 'info', message: 'hello', timestamp: '2026-01-31T08:00:00.000Z' } as const
const REQUEST = {
  method: 'GET',
  path: '/',
  status_code: 200,
  duration_ms: 1.5,
  request_id: 'r-1',
  timestamp: ENTRY.timestamp,
}

/** The tests ignore the variables of the machine that runs them. */
beforeEach(() => {
  for (const name of Object.keys(process.env))
    if (/^(?:PINO_INGEST_|OTEL_|https?_proxy$)/i.test(name)) vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
})

function clientOf(options: IngestClientOptions): IngestClient {
  const client = new IngestClient({ apiKey: KEY, retry: { maxMs: 5 }, ...options })
  onTestFinished(() => client.close())
  return client
}

async function started(options: IngestServiceOptions = {}): Promise<{ service: IngestService; client: IngestClient }> {
  const service = await createIngestService({ apiKeys: [KEY], ...options })
  onTestFinished(() => service.close())
  return { service, client: clientOf({ url: service.url }) }
}

describe('the five endpoints', () => {
  test('ingest: sends entries with a UUID or the given id', async () => {
    const { service, client } = await started()
    expect(await client.ingest({ logs: [ENTRY] })).toMatchObject({ accepted: 1, rejected: 0, errors: [] })
    await client.ingest({ logs: [ENTRY], batch_id: undefined })
    await client.ingest({ logs: [{ ...ENTRY, metadata: { ä: '😀' } }], batch_id: 'nightly 7' })
    const batches = service
      .entries()
      .items.toSorted((a, b) => a.seq - b.seq)
      .map((stored) => stored.batch_id)
    expect(batches).toEqual([
      expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4/),
      expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4/),
      'nightly 7',
    ])
    expect(service.entries().items[0]?.entry.metadata).toEqual({ ä: '😀' })
  })

  test('ingest: returns the rejected entries, with both statuses', async () => {
    for (const partialStatus of [200, 422] as const) {
      const { service, client } = await started({ partialStatus })
      service.faults.add({ kind: 'reject-containing', text: 'bad one' })
      const result = await client.ingest({ logs: [ENTRY, { ...ENTRY, message: 'bad one' }] })
      expect(result).toMatchObject({ accepted: 1, rejected: 1, errors: [{ index: 1, code: 'VALIDATION_ERROR' }] })
      expect(service.entries().items).toHaveLength(1)
    }
  })

  test.each(['framework', 'nameless'] as const)('ingest: a rejection in the %s form is an error', async (form) => {
    const { service, client } = await started()
    service.faults.add({ kind: 'reject-every', nth: 1, form })
    expect(await failureOf<IngestError>(client.ingest({ logs: [ENTRY] }), KEY)).toMatchObject({
      code: 'REJECTED',
      status: form === 'framework' ? 422 : 400,
    })
  })

  test('a heartbeat has the name of its monitor, never the token', async () => {
    const { service, client } = await started()
    await client.heartbeat('token-1', { name: 'Nächtliche Sicherung\n' })
    await client.heartbeat('token-1')
    await client.heartbeat('token-2')
    expect(service.heartbeats().items.map(({ name }) => name)).toEqual([null, null, 'Nächtliche Sicherung\n'])
    for (const name of ['', 'x'.repeat(101), '\ud800', 7, 'of token-3'])
      expect(await failureOf<IngestError>(client.heartbeat('token-3', { name } as never), 'token-3')).toMatchObject({
        code: 'INVALID',
      })
    for (const name of ['of to%2Fken+4', 'of to%2fken%2B4', '%74o/ken+4 100 %'])
      await expect(client.heartbeat('to/ken+4', { name })).rejects.toMatchObject({ code: 'INVALID' })
    expect(service.heartbeats().items).toHaveLength(3)
  })

  test('ingestRequests, sendFeedback, registerRelease, heartbeat', async () => {
    const { service, client } = await started()
    expect(await client.ingestRequests([REQUEST, { ...REQUEST, route: '/:id' }])).toBeUndefined()
    expect(service.requestLogs().items).toHaveLength(2)
    expect(await client.sendFeedback({ event_id: 'e-1', comments: 'broken' })).toEqual({ attached: false })
    expect(service.feedback().items).toMatchObject([{ feedback: { event_id: 'e-1', comments: 'broken' } }])
    const { release_id } = await client.registerRelease({ version: '1.4.0', commit_hash: 'abc', changelog: 'more' })
    expect(service.releases().items).toMatchObject([{ release_id, release: { version: '1.4.0' } }])
    expect(await client.heartbeat('nightly-backup')).toBeUndefined()
    expect(service.heartbeats().items).toHaveLength(1)
    expect(service.requests.map(({ keyed }) => keyed)).toEqual([true, true, true, false])
  })
})

describe("replies that are not the service's", () => {
  test.each([
    ['<html>Welcome to the guest network</html>', 'text/html'],
    ['OK', 'text/plain'],
    ['{"release_id":"r', 'application/json'],
  ])('%s is not a success of any call with the key', async (body, type) => {
    const server = await httpServer((response) => void response.writeHead(200, { 'content-type': type }).end(body))
    const client = clientOf({ url: `${server.origin}/api/v1` })
    const calls = [
      client.ingest({ logs: [ENTRY] }),
      client.ingestRequests([REQUEST]),
      client.sendFeedback({ event_id: 'e', comments: 'c' }),
      client.registerRelease({ version: '1' }),
    ]
    for (const call of await Promise.allSettled(calls)) {
      const error = await failureOf<IngestError>(
        call.status === 'fulfilled' ? Promise.resolve('a success') : Promise.reject(call.reason as Error),
        KEY,
      )
      expect(error).toMatchObject({
        code: 'MISDIRECTED',
        status: 200,
        message: expect.stringContaining(`${type}: ${body}`),
      })
    }
    expect(server.came).toHaveLength(4)
    // A monitor may answer with any text, but not with a web page.
    const pinged = client.heartbeat('tok')
    if (type === 'text/html') await expect(pinged).rejects.toMatchObject({ code: 'MISDIRECTED', status: 200 })
    else await expect(pinged).resolves.toBeUndefined()
  })

  test.each([
    [200, { accepted: 0, rejected: 0 }],
    [200, { accepted: 1, rejected: 1 }],
    [200, { accepted: 1000, rejected: 0, errors: [{ index: 0 }] }],
    [200, { accepted: 0, rejected: 1, errors: [{ index: 1 }] }],
    [422, { accepted: 0, rejected: 2 }],
  ])('%i %j is no result of one entry', async (status, counts) => {
    const server = await httpServer((response) => void response.writeHead(status).end(JSON.stringify(counts)))
    const client = clientOf({ url: `${server.origin}/api/v1` })
    expect(await failureOf<IngestError>(client.ingest({ logs: [ENTRY] }), KEY)).toMatchObject({
      code: 'MISDIRECTED',
      status,
    })
    expect(server.came).toHaveLength(1)
  })
})

describe('failure', () => {
  test('retries under the same batch_id until the service recovers', async () => {
    const { service, client } = await started()
    service.faults.add({ kind: 'status', status: 503, times: 1 })
    service.faults.add({ kind: 'drop-reply', times: 1 })
    expect(await client.ingest({ logs: [ENTRY] })).toMatchObject({ accepted: 1 })
    expect(service.requests).toHaveLength(3)
    const ids = service.entries().items.map((stored) => stored.batch_id)
    expect([ids.length, new Set(ids).size]).toEqual([2, 1])
  })

  test('a wrong key in a file: the next call uses the corrected one, and shows neither', async () => {
    const server = await httpServer((response, { headers }) => {
      response.writeHead(401).end(JSON.stringify({ message: `no key ${headers['x-api-key']}` }))
    })
    const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-key-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'key')
    vi.stubEnv('PINO_INGEST_API_KEY_FILE', file)
    const keys = ['wrong-key-0815', 'right-key-4711']
    writeFileSync(file, keys[0] as string)
    const client = clientOf({ url: `${server.origin}/api/v1`, apiKey: undefined })
    await failureOf(client.ingest({ logs: [ENTRY] }), ...keys)
    writeFileSync(file, keys[1] as string)
    await failureOf(client.ingest({ logs: [ENTRY] }), ...keys)
    expect(server.came.map(({ headers }) => headers['x-api-key'])).toEqual(keys)
  })

  test('timeoutMs ends a call together with its request in flight', async () => {
    let closed = 0
    const server = await httpServer((response) => void response.on('close', () => (closed += 1)))
    const client = clientOf({ url: `${server.origin}/api/v1`, timeoutMs: 1_000 })
    const errors = await Promise.all([
      failureOf<IngestError>(client.ingest({ logs: [ENTRY] }), KEY),
      failureOf<IngestError>(client.heartbeat('secret-token-1'), 'secret-token-1'),
    ])
    for (const error of errors)
      expect(error).toMatchObject({
        code: 'UNAVAILABLE',
        status: undefined,
        message: expect.stringContaining('timeoutMs 1000'),
      })
    await vi.waitFor(() => expect(closed).toBe(2), { timeout: 20_000 })
    expect(server.came).toHaveLength(2)
  })

  test('a signal ends all calls in flight, without a warning about listeners, also one of another library', async () => {
    const { service, client } = await started()
    service.faults.add({ kind: 'hang' })
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const caller = new AbortController()
    const { signal } = caller
    const other = {
      get aborted() {
        return signal.aborted
      },
      addEventListener: signal.addEventListener.bind(signal),
      removeEventListener: signal.removeEventListener.bind(signal),
    } as unknown as AbortSignal
    const calls = [...Array.from({ length: 12 }, () => signal), other].map((one) =>
      failureOf<IngestError>(client.ingest({ logs: [ENTRY] }, { signal: one }), KEY),
    )
    await vi.waitFor(() => expect(service.requests.length).toBeGreaterThan(0), { timeout: 10_000 })
    caller.abort()
    expect(new Set((await Promise.all(calls)).map(({ code }) => code))).toEqual(new Set(['ABORTED']))
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  })
})

describe('its configuration', () => {
  const configFault = (options: unknown): string => {
    try {
      const client = new IngestClient(options as IngestClientOptions)
      return `accepted ${inspect(client)}`
    } catch (error) {
      return error instanceof IngestError && error.code === 'CONFIG' ? error.message : inspect(error)
    }
  }

  test('comes from the environment unless set in code', async () => {
    const { service } = await started()
    vi.stubEnv('PINO_INGEST_URL', service.url)
    vi.stubEnv('PINO_INGEST_API_KEY', KEY)
    const client = new IngestClient()
    await client.heartbeat('t')
    expect(await client.ingest({ logs: [ENTRY] })).toMatchObject({ accepted: 1 })
    await client.close()
  })

  test('is required, even if the transport is disabled', () => {
    vi.stubEnv('PINO_INGEST_ENABLED', 'false')
    expect(configFault({})).toContain('url is required')
    expect(configFault({ url: 'https://logs.example.com/api/v1' })).toContain('apiKey is required')
  })

  test.each<[unknown, string]>([
    [{ maxAttempts: 0 }, 'maxAttempts must be an integer from 1, got 0'],
    [{ maxAttempts: { key: KEY } }, 'got an object (not shown)'],
    ...([0, 1.5, Infinity, 2 ** 31, '5', true] as const).map((timeoutMs): [unknown, string] => [
      { timeoutMs },
      `timeoutMs must be an integer from 1 to 2147483647 (ms), got ${timeoutMs}`,
    ]),
    [{ timeoutMs: KEY }, 'got text of 15 characters (not shown)'],
    [{ retry: { maxMs: 0 } }, 'retry.maxMs must be'],
    [{ apikey: KEY }, 'did you mean apiKey?'],
    [null, 'must be an object, got null'],
    [KEY, 'must be an object, got a string'],
  ])('%o', (options, words) => {
    expect(configFault(options)).toContain(words)
    expect(configFault(options)).not.toContain(KEY)
  })

  test('a printed client shows nothing', () => {
    const client = clientOf({ url: 'https://logs.example.com/api/v1' })
    expect(inspect(client, { showHidden: true, depth: null, getters: true }) + JSON.stringify(client)).not.toContain(
      KEY,
    )
  })
})

test('wrong options of the transport do not affect a client', async () => {
  const { service } = await started()
  vi.stubEnv('PINO_INGEST_BATCH_SIZE', 'many')
  vi.stubEnv('PINO_INGEST_ENABLED', 'false')
  expect(await clientOf({ url: service.url }).ingest({ logs: [ENTRY] })).toMatchObject({ accepted: 1 })
  expect(() => clientOf({ url: service.url, batch: { size: 5 } } as IngestClientOptions)).toThrow(
    'there is no option batch',
  )
})
