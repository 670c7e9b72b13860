/** What each program in the documentation must have done, by document and section, in order. */
import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { RequestLog } from '../../src/protocol/resources.js'
import type { IngestService } from '../../src/service/index.js'
import { readText, root } from '../markdown.js'
import { cleanEnv } from '../process/run-app.js'
import type { ProgramResult } from './program-folder.js'

export interface Ran extends ProgramResult {
  readonly service: IngestService
}

/** Sections by title. */
type Expected = Readonly<Record<string, readonly ((ran: Ran) => void)[]>>

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** Oldest first. */
function entriesOf({ service }: Ran): LogEntry[] {
  return service
    .entries()
    .items.toSorted((a, b) => a.seq - b.seq)
    .map(({ entry }) => entry)
}

/** Two batches at an exit may arrive in any order. */
function sorted(entries: readonly LogEntry[]): LogEntry[] {
  const keyOf = ({ level, message, metadata }: LogEntry): string =>
    `${level} ${message} ${String(metadata?.['row'] ?? '')}`
  return entries.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

function messagesOf(ran: Ran): string[] {
  return entriesOf(ran).map(({ message }) => message)
}

/** Expects entries with these members, oldest first. */
function hasEntries(...wanted: readonly object[]): (ran: Ran) => void {
  return (ran) => expect(entriesOf(ran)).toMatchObject(wanted)
}

/** Expects entries with these messages, oldest first. */
function hasMessages(...wanted: readonly string[]): (ran: Ran) => void {
  return (ran) => expect(messagesOf(ran)).toEqual(wanted)
}

function requestLogsOf({ service }: Ran): RequestLog[] {
  return service
    .requestLogs()
    .items.toSorted((a, b) => a.seq - b.seq)
    .map(({ request }) => request)
}

function breadcrumbsOf({ breadcrumbs = [] }: LogEntry): unknown[] {
  return breadcrumbs.map(({ message, level }) => (level === undefined ? message : `${level}: ${message}`))
}

/** The only error, with the reference that the user was shown. */
function shownError(ran: Ran): LogEntry {
  const [error, ...others] = entriesOf(ran).filter(({ level }) => level === 'error')
  if (error === undefined) throw new Error('no error arrived')
  expect(others).toEqual([])
  expect(ran.stdout).toBe(`Something went wrong. Your reference: ${String(error.metadata?.['event_id'])}\n`)
  expect(error.metadata?.['event_id']).toMatch(UUID)
  return error
}

const FAILED_ORDER = {
  error: { type: 'RangeError', message: 'order 13 has no price' },
  request: { method: 'GET', path: '/orders/13' },
}

const READ_ORDER = [
  { level: 'info', message: 'order read', service: 'shop', request: { path: '/orders/7' } },
  { level: 'info', message: 'request completed', request: { path: '/orders/7', status_code: 200 } },
]

/** Without those of the framework's start. */
function requestEntriesOf(ran: Ran): LogEntry[] {
  return sorted(entriesOf(ran).filter(({ request }) => request !== undefined))
}

/** The user was shown the id of the only error. */
function expectReference(ran: Ran): void {
  const errors = entriesOf(ran).filter(({ level }) => level === 'error')
  expect(errors).toHaveLength(1)
  expect(ran.stdout).toMatch(/^500 /m)
  expect(ran.stdout).toContain(String(errors[0]?.metadata?.['event_id']))
}

function expectRequestLog(ran: Ran): void {
  expect(requestLogsOf(ran)).toMatchObject([
    {
      method: 'GET',
      path: '/orders/7',
      route: '/orders/:id',
      status_code: 200,
      duration_ms: 12,
      request_id: expect.stringMatching(/^[\da-f]{12}-7$/),
    },
  ])
  expect(entriesOf(ran)).toMatchObject([{ message: 'request completed', request_id: '7' }])
}

function expectFeedback(ran: Ran): void {
  const eventId = entriesOf(ran).find(({ message }) => message === 'card declined')?.metadata?.['event_id']
  expect(eventId).toMatch(UUID)
  expect(ran.service.feedback().items.map(({ feedback }) => feedback)).toEqual([
    { event_id: eventId, comments: 'I clicked twice', email: 'jane@example.com' },
  ])
}

/** The job's, and the one that began with it unless it was ended before. */
function expectHeartbeats({ service }: Ran): void {
  expect(service.heartbeats().items.length).toBeGreaterThanOrEqual(1)
}

/** The entry of the page, without a secret of any kind. */
function expectPrivate(ran: Ran): void {
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(readText('docs/privacy.md')) ?? []
  const entries = entriesOf(ran)
  expect(entries).toMatchObject([JSON.parse(json)])
  for (const secret of ['t-4711', 'b-4711', 'c-4711', 'p-4711', 'jane', 'sk_live'])
    expect(JSON.stringify(entries)).not.toContain(secret)
}

/** By page and section; pages without programs are not here. */
export const EXPECTED: Readonly<Record<string, Expected>> = {
  'README.md': {
    'Install and log': [
      (ran) => {
        const [placed, failed] = sorted(entriesOf(ran)).toReversed()
        expect(placed).toMatchObject({
          level: 'info',
          message: 'order placed',
          service: 'checkout',
          user: { id: 'u-42' },
          metadata: { orderId: 1017 },
        })
        expect(failed).toEqual(promisedEntry(ran.file, 'README.md'))
      },
    ],
  },
  'docs/mapping.md': {
    'How records map to entries': [(ran) => expect(entriesOf(ran)).toEqual([promisedEntry(ran.file)])],
  },
  'docs/request-analytics.md': { 'Request analytics': [expectRequestLog] },
  'docs/options.md': {
    Options: [hasEntries({ message: 'order placed', service: 'checkout', tags: ['eu'] })],
  },
  'docs/getting-started.md': {
    'The first entry': [
      hasEntries(
        { level: 'info', message: 'order placed', service: 'checkout', metadata: { orderId: 1017 } },
        { level: 'error', message: 'payment failed', error: { message: 'card declined' } },
      ),
      hasEntries({ level: 'debug', message: 'stock is low', service: 'checkout', tags: ['eu'] }),
    ],
    'Three ways to run it': [
      (ran) => {
        expect(messagesOf(ran)).toEqual(['to the log service and to stdout'])
        expect(JSON.parse(ran.stdout)).toMatchObject({ level: 30, msg: 'to the log service and to stdout' })
      },
      (ran) => {
        expect(ran.stdout).toBe('acknowledged\n')
        expect(entriesOf(ran)).toMatchObject([
          {
            message: 'logged with its stack',
            error: { type: 'RangeError', message: 'no price', stack: expect.stringContaining(ran.file) },
          },
        ])
      },
    ],
    'Uncaught errors': [hasMessages('started')],
  },
  'docs/express.md': {
    Express: [
      (ran) => {
        expect(entriesOf(ran)).toMatchObject([
          { level: 'info', message: 'order read', service: 'shop', request: { path: '/orders/7' } },
          { level: 'info', message: 'request completed', request: { status_code: 200 } },
          { level: 'error', ...FAILED_ORDER, request: { ...FAILED_ORDER.request, status_code: 500 } },
        ])
        expectReference(ran)
      },
    ],
  },
  'docs/fastify.md': {
    Fastify: [
      (ran) => {
        const entries = entriesOf(ran).filter(({ message }) => !message.startsWith('Server listening'))
        expect(entries.map(({ level, message }) => `${level} ${message}`)).toEqual([
          'info incoming request',
          'info order read',
          'info request completed',
          'info incoming request',
          'error order 13 has no price',
          'info request completed',
        ])
        expect(entries[4]).toMatchObject({ ...FAILED_ORDER, service: 'shop' })
        expectReference(ran)
      },
    ],
  },
  'docs/nestjs.md': {
    NestJS: [
      // The module by itself, which the next one starts.
      hasMessages(),
      (ran) => {
        expect(requestEntriesOf(ran)).toMatchObject([
          { level: 'error', message: 'order 13 has no price', ...FAILED_ORDER },
          ...READ_ORDER,
          { level: 'warn', message: 'request errored', ...FAILED_ORDER },
        ])
        expect(messagesOf(ran)).toContain('Nest application successfully started')
        // Nest's own logger would write there.
        expect(ran.stdout).toMatch(/^200 .*\n500 .*\n$/)
      },
    ],
  },
  'docs/koa.md': {
    Koa: [
      (ran) => {
        expect(requestEntriesOf(ran)).toMatchObject([
          { level: 'error', message: 'order 13 has no price', ...FAILED_ORDER },
          ...READ_ORDER,
          { level: 'warn', message: 'request errored', request: { path: '/orders/13', status_code: 500 } },
        ])
        expectReference(ran)
      },
    ],
  },
  'docs/hono.md': {
    Hono: [
      (ran) => {
        const entries = requestEntriesOf(ran)
        expect(entries).toMatchObject([
          { level: 'error', message: 'order 13 has no price', ...FAILED_ORDER },
          { level: 'info', message: 'Request completed', request: { path: '/orders/7', status_code: 200 } },
          { level: 'info', message: 'order read', service: 'shop', request: { path: '/orders/7' } },
          { level: 'warn', message: 'order 13 has no price', request: { path: '/orders/13', status_code: 500 } },
        ])
        for (const entry of entries) expect(entry.request_id).toMatch(UUID)
        expectReference(ran)
      },
    ],
  },
  'docs/delivery.md': {
    'Flush and exit': [
      (ran) => {
        expect(messagesOf(ran)).toEqual(['paid'])
        expect(ran.stdout).toBe('acknowledged 0\n')
      },
    ],
  },
  'docs/spool.md': {
    'The spool': [hasMessages('kept until the log service has it')],
  },
  'docs/protocol.md': {
    'A fake log service': [
      ({ file }) => expect(doctorOf(file).filter(({ ok, fix }) => !ok || fix !== undefined)).toEqual([]),
    ],
  },
  'docs/metrics.md': {
    Events: [hasMessages('watched')],
    Metrics: [
      (ran) => {
        expect(messagesOf(ran)).toEqual(['order placed'])
        expect(ran.stdout).toContain('\npino_ingest_entries_received_total{app="checkout",kind="log"} 1\n')
      },
    ],
    OpenTelemetry: [
      (ran) => {
        expect(messagesOf(ran)).toEqual(['order placed'])
        expect(ran.stdout).toMatch(/^true$/m)
        expect(ran.stdout).toMatch(/name: 'pino_ingest\.entries\.accepted'[^]*?value: 1\b/)
      },
    ],
  },
  'docs/breadcrumbs.md': {
    Breadcrumbs: [
      (ran) => {
        expect(messagesOf(ran)).toEqual(['card declined'])
        const error = shownError(ran)
        expect(error).toMatchObject({
          service: 'checkout',
          request_id: 'r-1017',
          user: { id: 'u-42' },
          error: { type: 'Error' },
        })
        expect(breadcrumbsOf(error)).toEqual(['debug: cart read', 'voucher applied'])
      },
    ],
    'Outgoing HTTP': [
      (ran) => {
        const [error] = entriesOf(ran)
        expect(error).toMatchObject({ message: 'no rates', request_id: 'r-1018' })
        expect(error?.breadcrumbs).toMatchObject([
          {
            type: 'http',
            category: 'http.client',
            message: expect.stringMatching(/^GET http:\/\/127\.0\.0\.1:1024\/rates \w+$/),
            data: { method: 'GET', url: 'http://127.0.0.1:1024/rates' },
          },
        ])
        expect(JSON.stringify(error)).not.toContain('secret')
      },
    ],
  },
  'docs/releases-and-feedback.md': {
    Releases: [
      (ran) => {
        const [release] = ran.service.releases().items
        expect(release?.release).toMatchObject({ version: '1.4.0', changelog: 'Vouchers' })
        expect(ran.stdout).toBe(`${release?.release_id}\n`)
        expect(entriesOf(ran)).toMatchObject([{ message: 'carries the id', release_id: release?.release_id }])
      },
    ],
    Feedback: [
      expectFeedback,
      (ran) => {
        const errors = entriesOf(ran).filter(({ level }) => level === 'error')
        const ids = errors.map(({ metadata }) => metadata?.['event_id'])
        expect(ids).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)])
        expect(ran.service.feedback().items.map(({ feedback }) => feedback)).toEqual(
          ids.toReversed().map((event_id) => ({ event_id, comments: 'I clicked twice' })),
        )
      },
    ],
    'Monitors and heartbeats': [
      (ran) => {
        expect(entriesOf(ran)).toMatchObject([{ message: 'backed up', metadata: { files: 3 } }])
        expectHeartbeats(ran)
      },
    ],
  },
  'docs/sampling.md': {
    'Sending less': [
      (ran) => {
        expect(sorted(entriesOf(ran))).toMatchObject([
          { level: 'debug', metadata: { row: 0 } },
          { level: 'debug', metadata: { row: 10 } },
          { level: 'error', message: 'import failed' },
          {
            level: 'error',
            message: expect.stringMatching(/^import failed \(repeated 999 times in [\d.]+ m?s\)$/),
            error: { message: 'row 999 is broken' },
            metadata: {
              pino_ingest: { repeated: { count: 999, first: expect.any(String), last: expect.any(String) } },
            },
          },
        ])
      },
    ],
    '`beforeSend`': [
      // The module by itself, which the next one names.
      ({ service, file }) => {
        expect(file).toMatch(/before-send\.mjs$/)
        expect(service.requests).toEqual([])
      },
      (ran) =>
        expect(entriesOf(ran).map(({ message, user }) => [message, user])).toEqual([['order placed', { id: 'u-42' }]]),
    ],
  },
  'docs/privacy.md': {
    Privacy: [expectPrivate],
  },
  'docs/fleet.md': {
    'Quick start on one machine': [hasMessages('order placed')],
  },
  'docs/containers.md': {
    SIGTERM: [hasMessages('request', 'request')],
    PM2: [hasMessages()],
    Cluster: [hasMessages('worker started', 'worker started')],
  },
  'docs/compatibility.md': {
    // Nothing is thrown here.
    Deno: [hasMessages()],
  },
  'docs/serverless.md': {
    // Nobody calls the handler here; the tests of the examples do.
    'AWS Lambda': [hasMessages()],
    'Google Cloud Run': [(ran) => expect(messagesOf(ran)).toEqual(Array.from({ length: 20 }, () => 'invoice sent'))],
  },
  'docs/troubleshooting.md': {
    'Nothing arrives': [
      (ran) => {
        expect(messagesOf(ran)).toEqual(['a test entry'])
        expect(ran.stdout).toMatch(/state: 'acknowledged'.*received: 2,.*accepted: 1,.*filtered: 1,/s)
      },
    ],
    'Only info and above arrives': [hasMessages('arrives')],
  },
  'docs/testing.md': {
    // It starts a service of its own, and checks the entry itself.
    Testing: [({ service }) => expect(service.requests).toEqual([])],
  },
  'docs/client.md': {
    'The client': [
      (ran) => {
        const [release] = ran.service.releases().items
        expect(release?.release).toEqual({ version: '1.4.0', branch: 'main' })
        expect(entriesOf(ran)).toMatchObject([{ level: 'info', message: 'deployed', release_id: release?.release_id }])
        expect(ran.service.heartbeats().items).toHaveLength(1)
      },
    ],
  },
  'docs/migration.md': {
    'From pino-loki': [
      hasEntries({
        message: 'order placed',
        service: 'checkout',
        environment: 'production',
        tags: ['team:shop'],
        metadata: { tenant: 't-1' },
      }),
    ],
    'From @logtail/pino': [
      (ran) => {
        expect(entriesOf(ran)).toMatchObject([{ message: 'order placed', metadata: { orderId: 1017 } }])
        expect(JSON.parse(ran.stdout)).toMatchObject({ msg: 'order placed', orderId: 1017 })
      },
    ],
    'From @axiomhq/pino': [hasEntries({ level: 'debug', message: 'cart read', environment: 'production' })],
    'From pino-datadog-transport': [
      hasEntries({
        message: 'order placed',
        tags: ['team:shop'],
        metadata: { source: 'nodejs' },
        trace: { trace_id: '000000000000000000000000499602d2', span_id: '000000000000002a' },
      }),
    ],
    'From pino-elasticsearch': [
      hasEntries(
        { message: 'order placed', service: 'checkout', metadata: { orderId: 1017 } },
        { level: 'error', message: 'payment failed', error: { message: 'card declined' } },
      ),
    ],
    'From pino-opentelemetry-transport': [
      hasEntries({
        service: 'checkout',
        version: '1.4.0',
        environment: 'production',
        trace: { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', span_id: '00f067aa0ba902b7' },
      }),
    ],
    'From @sentry/node': [
      (ran) => {
        expect(entriesOf(ran)).toMatchObject([
          {
            error: { message: 'card declined' },
            user: { id: 'u-42' },
            tags: ['team:shop'],
            version: '1.4.0',
            breadcrumbs: [{ category: 'cart', message: 'voucher applied' }],
          },
        ])
        const [stored] = ran.service.entries().items
        expect(ran.service.entry(stored?.id ?? '')?.feedback).toMatchObject([
          { feedback: { comments: 'I clicked twice', event_id: entriesOf(ran)[0]?.metadata?.['event_id'] } },
        ])
      },
    ],
  },
}

/** The entry that the page shows, in which what differs from run to run is a pattern. */
function promisedEntry(file: string, page = 'docs/mapping.md'): LogEntry {
  const [, json = ''] = /<!-- entry -->\n```json\n([\s\S]*?)```/.exec(readText(page)) ?? []
  const entry = JSON.parse(json) as LogEntry & { error: { stack: string }; source: string; metadata: object }
  const matching = (pattern: string): string => expect.stringMatching(new RegExp(`^${pattern}$`)) as string
  const place = /:\d+:\d+$/.exec(entry.source)?.[0] ?? 'a line and a column'
  const timestamp = matching(String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`)
  return {
    ...entry,
    timestamp,
    ...(entry.breadcrumbs && { breadcrumbs: entry.breadcrumbs.map((one) => ({ ...one, timestamp })) }),
    error: {
      ...entry.error,
      stack: matching(
        entry.error.stack
          .split('    at …')
          .map(escaped)
          .join(String.raw`(?:    at .+\n?)+(?<!\n)`),
      ),
    },
    source: file + place,
    metadata: { ...entry.metadata, pid: expect.any(Number) as number, hostname: expect.any(String) as string },
  }
}

/** The checks of `pino-ingest doctor` against the fake service in this file. */
function doctorOf(file: string): { ok: boolean; fix?: string }[] {
  const program = `
    import { spawn } from 'node:child_process'
    import { fake } from ${JSON.stringify(pathToFileURL(file).href)}
    fake.listen(0, '127.0.0.1', () => {
      const env = { ...process.env, PINO_INGEST_URL: \`http://127.0.0.1:\${fake.address().port}/api/v1\` }
      const doctor = spawn(process.execPath, [${JSON.stringify(`${root}dist/cjs/cli.js`)}, 'doctor', '--json'], { env, stdio: 'inherit' })
      doctor.on('close', () => fake.close())
    })`
  const env = cleanEnv({ PINO_INGEST_API_KEY: 'fake-key', PINO_INGEST_SPOOL: 'false' })
  const args = ['--input-type=module', '--eval', program]
  return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' })) as { ok: boolean; fix?: string }[]
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
