/**
 * The key is sent only to the configured address. Runs every failure case and searches all output of the process for
 * the key: plain, in base64, URL-encoded, and its first 8 characters.
 */
import { mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { Fault } from '../../src/service/index.js'
import { runApp } from './run-app.js'
import type { AppPlan, AppResult } from './run-app.js'

// Characters that base64 and URL encoding change.
const KEY = 'canary?/key+=&%9f3b7c21d04e'
const FORMS = [
  KEY,
  KEY.slice(0, 8),
  Buffer.from(KEY).toString('base64'),
  Buffer.from(KEY).toString('base64url'),
  encodeURIComponent(KEY),
]

interface Searched extends AppResult {
  /** Names and contents of all files in the application's spool, including the dead letters. */
  readonly spooled: string
}

/** Runs the application with its own spool, and searches all its output for the key. */
async function runSearched(plan: AppPlan): Promise<Searched> {
  const dir = mkdtempSync(join(process.env['PINO_INGEST_SPOOL_DIR'] as string, 'run-'))
  const result = await runApp(plan, { PINO_INGEST_SPOOL_DIR: dir })
  const spooled = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .map((file) => `${file}\n${readFileSync(file, 'latin1')}`)
    .join('\n')
  const everything = `${result.stdout}\n${result.stderr}\n${JSON.stringify(result.events)}\n${spooled}`
  expect(
    FORMS.filter((form) => everything.includes(form) || everything.includes(JSON.stringify(form).slice(1, -1))),
  ).toEqual([])
  return { ...result, spooled }
}

async function listen(handle: (request: IncomingMessage) => void): Promise<{ origin: string; server: Server }> {
  const server = createServer((request, response) => {
    handle(request)
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/** A timeout that is short, but leaves time for a first attempt on a busy machine. */
const IMPATIENT = { shutdownTimeoutMs: 4_000, requestTimeoutMs: 1_500, retry: { maxMs: 10 }, batch: { intervalMs: 10 } }

describe.concurrent('a redirect to another origin', () => {
  test.each([301, 302, 303, 307, 308] as const)(
    '%i: neither the key nor anything else arrives there',
    async (status) => {
      const came: string[] = []
      const other = await listen((request) => came.push(JSON.stringify([request.url, request.headers])))
      let connections = 0
      other.server.on('connection', () => (connections += 1))
      const service = await createIngestService({ apiKeys: [KEY] })
      service.faults.add({ kind: 'redirect', location: `${other.origin}/api/v1/ingest`, status })
      const result = await runSearched({
        mode: 'target',
        options: { url: service.url, apiKey: KEY, ...IMPATIENT },
        count: 10,
      })
      expect(service.requests.length).toBeGreaterThan(0)
      expect([connections, came]).toEqual([0, []])
      expect(result.stderr).toContain(String(status))
      await service.close()
      other.server.close()
    },
  )
})

const FAULTS: readonly Fault[] = [
  { kind: 'status', status: 401, body: { detail: [{ msg: `invalid key ${KEY}`, type: 'auth_error' }] } },
  { kind: 'status', status: 403, body: `no entry for ${encodeURIComponent(KEY)}` },
  { kind: 'status', status: 404, body: { detail: `nothing for ${Buffer.from(KEY).toString('base64')}` } },
  { kind: 'status', status: 400, body: { message: `${KEY} is bad` } },
  { kind: 'status', status: 413, body: { message: `${KEY} is big` } },
  { kind: 'status', status: 422, body: { detail: [{ loc: ['body', 'logs', 0, 'level'], msg: KEY, type: KEY }] } },
  {
    kind: 'status',
    status: 422,
    body: { accepted: 0, rejected: 1, message: KEY, errors: [{ index: 0, code: KEY, field: KEY, message: KEY }] },
  },
  { kind: 'status', status: 200, body: KEY },
  { kind: 'status', status: 429, retryAfter: 1, body: { message: KEY } },
  { kind: 'status', status: 500, body: { error: KEY } },
  { kind: 'status', status: 503, retryAfter: KEY },
  { kind: 'hang' },
  { kind: 'reset', when: 'mid-body' },
  { kind: 'drop-reply' },
]

describe.concurrent.each(FAULTS)('$kind $status', (fault) => {
  test.each(['target', 'stream'] as const)('%s', async (mode) => {
    const service = await createIngestService({ apiKeys: [KEY] })
    service.faults.add(fault)
    const isRejection = fault.kind === 'status' && fault.status === 422
    // The search for the rejected entries takes several requests.
    const patience = isRejection ? { shutdownTimeoutMs: 8_000 } : {}
    const options = { url: service.url, apiKey: KEY, ...IMPATIENT, ...patience }
    const result = await runSearched({ mode, options, count: 10 })
    expect(service.requests.length).toBeGreaterThan(0)
    // A transport that reports nothing would pass the search.
    expect(result.stderr).toMatch(/^pino-ingest: /m)
    if (isRejection) expect(result.spooled).toContain('"reason":')
    await service.close()
  })
})

describe.concurrent('no service at all, or no configuration', () => {
  test.each([
    ['refused', { url: 'http://127.0.0.1:9/api/v1', apiKey: KEY }],
    ['unknown host', { url: 'https://nowhere.invalid/api/v1', apiKey: KEY }],
    ['a key that no header can hold', { url: 'http://127.0.0.1:9/api/v1', apiKey: `${KEY}\n` }],
    ['a url with the key in it', { url: `http://user:${encodeURIComponent(KEY)}@127.0.0.1:9/api/v1`, apiKey: KEY }],
    ['a url with the key as query', { url: `http://127.0.0.1:9/api/v1?key=${encodeURIComponent(KEY)}`, apiKey: KEY }],
    ['not a url, but the key', { url: KEY, apiKey: KEY }],
    ['plain http elsewhere', { url: 'http://nowhere.invalid/api/v1', apiKey: KEY }],
    ['unknown option', { url: 'http://127.0.0.1:9/api/v1', apiKey: KEY, batchSise: 5 }],
    ['another option wrong', { url: 'http://127.0.0.1:9/api/v1', apiKey: KEY, batch: { size: 500 } }],
    [
      'a proxy that refuses',
      { url: 'http://127.0.0.1:9/api/v1', apiKey: KEY, proxy: `http://u:${encodeURIComponent(KEY)}@127.0.0.1:9` },
    ],
  ])('%s', async (_name, options) => {
    for (const mode of ['target', 'stream'] as const) {
      const result = await runSearched({ mode, options: { ...IMPATIENT, ...options }, count: 10 })
      expect(`${result.stderr}${JSON.stringify(result.events)}`).toMatch(/pino-ingest/)
    }
  })
})
