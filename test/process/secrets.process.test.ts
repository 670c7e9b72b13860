/**
 * The key is sent only to the configured address. One application has a transport for every failure; all its output
 * and files are searched for the key: plain, in base64, URL-encoded, and its first 8 characters.
 */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { httpServer } from '../client/http-servers.js'
import { createIngestService } from '../../src/service/index.js'
import type { Fault } from '../../src/service/index.js'
import { contentsBelow, runScript } from './run-app.js'

// Characters that base64 and URL encoding change.
const KEY = 'canary?/key+=&%9f3b7c21d04e'
const FORMS = [
  KEY,
  KEY.slice(0, 8),
  Buffer.from(KEY).toString('base64'),
  Buffer.from(KEY).toString('base64url'),
  encodeURIComponent(KEY),
]

const NO_SERVICE = 'http://127.0.0.1:9/api/v1'
/** A timeout that is short, but leaves time for a first attempt on a busy machine. */
const IMPATIENT = { shutdownTimeoutMs: 4_000, requestTimeoutMs: 1_500, retry: { maxMs: 10 }, batch: { intervalMs: 10 } }

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

const isRejection = (fault: Fault | undefined): boolean => fault?.kind === 'status' && fault.status === 422

const TARGETS = `[pino.transport({ targets: options.map((options) => ({ target: 'pino-ingest', options })) })]`
const STREAMS = `options.map(ingestStream)`

/** Runs an application with a transport for each of the options, and searches all its output for the key. */
async function runSearched(setUp: string, options: readonly object[]): Promise<{ printed: string; spooled: string }> {
  const dir = mkdtempSync(join(process.env['PINO_INGEST_SPOOL_DIR'] as string, 'run-'))
  const program = `
    import { EventEmitter, once } from 'node:events'
    const { emit } = EventEmitter.prototype
    EventEmitter.prototype.emit = function (name, ...args) {
      if (String(name).startsWith('ingest:')) console.log(JSON.stringify(args))
      return emit.call(this, name, ...args)
    }
    const streams = ${setUp}
    const logger = pino({}, pino.multistream(streams.map((stream) => ({ stream }))))
    for (let n = 0; n < 10; n += 1) logger.info({ n }, 'numbered')
    // At its exit, pino would wait for at most 10 s.
    const hold = setInterval(() => {}, 60_000)
    for (const stream of streams) stream.end()
    await Promise.all(streams.map((stream) => once(stream, 'close')))
    clearInterval(hold)`
  const { code, stdout, stderr } = await runScript(
    program,
    options.map((one) => ({ apiKey: KEY, spool: { dir }, ...IMPATIENT, ...one })),
  )
  expect(code, stderr).toBe(0)
  const spooled = contentsBelow(dir)
  expect(stdout).toContain('"code"')
  expectNoKey(`${stdout}\n${stderr}\n${spooled}`)
  return { printed: stderr, spooled }
}

function expectNoKey(text: string): void {
  expect(FORMS.filter((form) => text.includes(form) || text.includes(JSON.stringify(form).slice(1, -1)))).toEqual([])
}

test.each([
  ['target', TARGETS],
  ['stream', STREAMS],
])('%s: every failure of the service, and redirects to another origin', async (_, setUp) => {
  const other = await httpServer((response) => response.end('{}'))
  const redirects = ([301, 302, 303, 307, 308] as const).map((status): Fault => ({
    kind: 'redirect',
    location: `${other.origin}/api/v1/ingest`,
    status,
  }))
  const services = await Promise.all(
    [...FAULTS, ...redirects].map(async (fault) => {
      const service = await createIngestService({ apiKeys: [KEY] })
      onTestFinished(() => service.close())
      service.faults.add(fault)
      return service
    }),
  )
  const destinations = [
    // The search for the rejected entries takes several requests.
    ...services.map(({ url }, at) => ({ url, ...(isRejection(FAULTS[at]) && { shutdownTimeoutMs: 8_000 }) })),
    { url: NO_SERVICE },
    { url: 'https://nowhere.invalid/api/v1' },
  ]
  const { printed, spooled } = await runSearched(setUp, destinations)
  expect(other.came).toEqual([])
  for (const service of services) expect(service.requests.length).toBeGreaterThan(0)
  // A transport that reports nothing would pass the search.
  expect(printed.match(/^pino-ingest: /gm)?.length).toBeGreaterThanOrEqual(destinations.length)
  expect(spooled).toContain('"reason":')
})

const INVALID: readonly object[] = [
  { url: NO_SERVICE, apiKey: `${KEY}\n` },
  { url: `http://user:${encodeURIComponent(KEY)}@127.0.0.1:9/api/v1` },
  { url: `${NO_SERVICE}?key=${encodeURIComponent(KEY)}` },
  { url: KEY },
  { url: 'http://nowhere.invalid/api/v1' },
  { url: NO_SERVICE, batchSise: 5 },
  { url: NO_SERVICE, batch: { size: 500 } },
  { url: NO_SERVICE, proxy: `http://u:${encodeURIComponent(KEY)}@127.0.0.1:9` },
]

test('invalid options', async () => {
  const { stdout, stderr } = await runScript(
    `import { inspect } from 'node:util'
    for (const one of options) {
      try {
        ingestStream(one).destroy()
      } catch (error) {
        console.log(inspect(error))
      }
    }
    pino.transport({ target: 'pino-ingest', options: options[3] }).on('error', (error) => console.log(inspect(error)))`,
    INVALID.map((one) => ({ apiKey: KEY, spool: false, ...one })),
  )
  expect(stdout.match(/IngestError: /g)?.length).toBeGreaterThanOrEqual(INVALID.length)
  expectNoKey(`${stdout}\n${stderr}`)
})
