/** Real applications publish to a real server. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { VERSION } from '../../src/version.js'
import { runApp, startApp } from '../process/run-app.js'
import type { AppResult } from '../process/run-app.js'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS, useNatsServers } from './nats-servers.js'
import { endApp, errorsOf, preparePublishing, publishedBy } from './publish-app.js'
import { Queue, upTo } from './queue.js'

const MODES = ['target', 'stream'] as const

const servers = useNatsServers()

function accountOf({ events }: AppResult): object {
  return (events.findLast(({ name }) => name === 'ingest:stats')?.payload ?? {}) as object
}

describe.skipIf(SKIPS_NATS).concurrent('an application with nats', UNLESS_IT_HANGS, () => {
  test.for(MODES)('%s: a natural exit delivers everything and ends the process', async (mode, context) => {
    const { queue, plan } = preparePublishing(context, servers())
    await queue.create()
    // An open connection of the client would keep the process alive.
    const ended = await runApp(plan({ mode, count: 1_000 }))
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    if (mode === 'stream')
      expect(accountOf(ended)).toMatchObject({ received: 1_000, accepted: 1_000, pending: 0, balances: true })
    expect(await queue.numbers(1_000)).toEqual(upTo(1_000))
  })

  test('a message contains one batch: its id, headers and entries; request logs have their own subject', async (context) => {
    const { queue, plan } = preparePublishing(context, servers(), { stream: 'SHOP' })
    await queue.create()
    const { ingestStream } = (await import('pino-ingest')) as typeof import('../../src/index.js')
    const { default: pino } = await import('pino')
    const stream = ingestStream({ ...plan({}).options, requestLogs: true })
    const req = { id: 1, method: 'GET', url: '/orders' }
    pino(stream).info({ req, res: { statusCode: 200 }, responseTime: 12 }, 'request completed')
    stream.end()
    await new Promise((resolve) => stream.once('close', resolve))
    const messages = await queue.messages()
    expect(messages).toHaveLength(2)
    const [logs, requests] = ['SHOP.logs', 'SHOP.requests'].map((name) =>
      messages.find(({ subject }) => subject === name),
    )
    expect(logs?.logs).toMatchObject([{ message: 'request completed' }])
    expect(logs?.headers).toEqual({
      'Nats-Msg-Id': logs?.batchId,
      'Nats-Expected-Stream': 'SHOP',
      'Pino-Ingest-Endpoint': '/ingest',
      'Pino-Ingest-Count': '1',
      'Pino-Ingest-Version': VERSION,
      'Content-Type': 'application/json',
    })
    expect(requests?.logs).toMatchObject([{ method: 'GET', status_code: 200 }])
    expect(requests?.headers).toMatchObject({
      'Nats-Msg-Id': requests?.batchId,
      'Pino-Ingest-Endpoint': '/ingest/requests',
      'Pino-Ingest-Count': '1',
    })
  })

  test('process.exit() loses nothing: in-process, the next start publishes what is on disk, once', async (context) => {
    const { queue, plan, spool } = preparePublishing(context, servers())
    await queue.create()
    expect(await runApp(plan({ end: 'exit' }))).toMatchObject({ code: 0, stderr: '' })
    expect(await queue.take()).toEqual(upTo(50))
    const ended = await runApp(plan({ mode: 'stream', end: 'exit' }))
    expect(ended.code).toBe(0)
    expect(ended.stderr).toContain('kept on disk')
    const copy = mkdtempSync(join(tmpdir(), 'pino-ingest-publish-'))
    context.onTestFinished(() => rmSync(copy, { recursive: true, force: true, maxRetries: 5 }))
    cpSync(spool, copy, { recursive: true })
    expect(await publishedBy(plan({ count: 1 }), queue, 51)).toEqual([0, ...upTo(50)])
    // A batch that the queue already contains counts as delivered.
    const again = await runApp(plan({ mode: 'stream', count: 1 }, { spool: { dir: copy } }))
    expect(accountOf(again)).toMatchObject({ received: 1, recovered: 50, accepted: 51, pending: 0 })
    expect(await queue.numbers(52)).toEqual([0, 0, ...upTo(50)])
  })

  test.for(MODES)('%s: flush() resolves when the queue has acknowledged', async (mode, context) => {
    const { queue, plan } = preparePublishing(context, servers())
    await queue.create()
    const { events } = await runApp(plan({ mode, end: 'flush-all', holds: false }))
    expect(events.find(({ name }) => name === 'flushed')?.payload).toMatchObject({
      state: 'acknowledged',
      account: { accepted: 50, pending: 0 },
    })
    expect(await queue.numbers(50)).toEqual(upTo(50))
  })

  test('that publishes to a server that is killed and started again loses nothing', async (context) => {
    const own = await natsServers({}, context.onTestFinished)
    const { queue, plan } = preparePublishing(context, own)
    await queue.create()
    const app = startApp(plan({ count: 200, end: 'hold', pausesAt: 100 }))
    await app.heard('ingest:delivered')
    await app.heard('paused')
    await own.killAll()
    app.child.kill('SIGUSR2')
    await own.startAll()
    await app.heard('holding')
    expect(await queue.numbers(200)).toEqual(upTo(200))
    expect(errorsOf(await endApp(app))).toEqual([])
  })

  test('delivers by TLS with a private CA and a client certificate', async (context) => {
    const file = (name: string): string => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))
    const config = `tls { cert_file: "${file('server.crt')}", key_file: "${file('server.key')}", ca_file: "${file('ca.crt')}", verify: true }`
    const own = await natsServers({ config }, context.onTestFinished)
    const [ca, cert, key] = ['ca.crt', 'client.crt', 'client.key'].map((name) => readFileSync(file(name), 'utf8'))
    const tls = { ca: ca ?? '', cert: cert ?? '', key: key ?? '' }
    const queue = new Queue(own.urls, { tls })
    await queue.create()
    const nats = { servers: own.nodes.map(({ port }) => `tls://localhost:${port}`), tls }
    await runApp({ mode: 'target', end: 'natural', count: 50, options: { nats, spool: false } })
    expect(await queue.numbers(50)).toEqual(upTo(50))
  })
})
