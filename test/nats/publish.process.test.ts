/** Real applications publish to a real server. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'
import { VERSION } from '../../src/version.js'
import { runApp } from '../process/run-app.js'
import type { AppPlan, AppResult } from '../process/run-app.js'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS } from './nats-servers.js'
import type { NatsServers } from './nats-servers.js'
import { publishedBy } from './publish-app.js'
import { Queue, upTo } from './queue.js'

const MODES = ['target', 'stream'] as const

interface Started {
  readonly servers: NatsServers
  readonly queue: Queue
  /** A plan with its own spool. */
  readonly plan: (plan: Partial<AppPlan>, options?: Record<string, unknown>, nats?: object) => AppPlan
  readonly spool: string
}

async function start({ onTestFinished }: TestContext, config = ''): Promise<Started> {
  const servers = await natsServers({ config }, onTestFinished)
  const queue = new Queue(servers.urls)
  const spool = mkdtempSync(join(tmpdir(), 'pino-ingest-publish-'))
  onTestFinished(() => rmSync(spool, { recursive: true, force: true, maxRetries: 5 }))
  return {
    servers,
    queue,
    spool,
    plan: (plan, options = {}, nats = {}) => ({
      mode: 'target',
      count: 50,
      end: 'natural',
      ...plan,
      // The maximum, for slow machines.
      options: {
        nats: { servers: servers.urls, ...nats },
        spool: { dir: spool },
        shutdownTimeoutMs: 8_000,
        ...options,
      },
    }),
  }
}

function accountOf({ events }: AppResult): object {
  return (events.findLast(({ name }) => name === 'ingest:stats')?.payload ?? {}) as object
}

describe.skipIf(SKIPS_NATS).concurrent('an application with nats', UNLESS_IT_HANGS, () => {
  test.for(MODES)('%s: a natural exit delivers everything and ends the process', async (mode, context) => {
    const { queue, plan } = await start(context)
    await queue.create()
    // An open connection of the client would keep the process alive.
    const ended = await runApp(plan({ mode, count: 1_000 }))
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    if (mode === 'stream')
      expect(accountOf(ended)).toMatchObject({ received: 1_000, accepted: 1_000, pending: 0, balances: true })
    expect(await queue.numbers(1_000)).toEqual(upTo(1_000))
  })

  test('a message contains one batch: its id, headers and entries', async (context) => {
    const { queue, plan } = await start(context)
    await queue.create()
    await runApp(plan({ count: 3 }))
    const [message, ...others] = await queue.messages()
    expect(others).toEqual([])
    expect(message).toMatchObject({ subject: 'PINO_INGEST.logs', logs: [{ message: 'numbered' }, {}, {}] })
    expect(message?.headers).toEqual({
      'Nats-Msg-Id': message?.batchId,
      'Nats-Expected-Stream': 'PINO_INGEST',
      'Pino-Ingest-Endpoint': '/ingest',
      'Pino-Ingest-Count': '3',
      'Pino-Ingest-Version': VERSION,
      'Content-Type': 'application/json',
    })
  })

  test('request logs have their own subject and the same batch format', async (context) => {
    const { queue, plan, spool } = await start(context)
    await queue.create()
    const { ingestStream } = (await import('pino-ingest')) as typeof import('../../src/index.js')
    const { default: pino } = await import('pino')
    const { options } = plan({})
    const stream = ingestStream({ ...options, requestLogs: true, spool: { dir: spool } })
    const logger = pino(stream)
    logger.info(
      { req: { id: 1, method: 'GET', url: '/orders' }, res: { statusCode: 200 }, responseTime: 12 },
      'request completed',
    )
    stream.end()
    await new Promise((resolve) => stream.once('close', resolve))
    const messages = await queue.messages()
    expect(messages.map(({ subject }) => subject).toSorted()).toEqual(['PINO_INGEST.logs', 'PINO_INGEST.requests'])
    const requests = messages.find(({ subject }) => subject === 'PINO_INGEST.requests')
    expect(requests?.headers).toMatchObject({
      'Nats-Msg-Id': requests?.batchId,
      'Pino-Ingest-Endpoint': '/ingest/requests',
      'Pino-Ingest-Count': '1',
    })
    expect(requests?.logs).toMatchObject([{ method: 'GET', status_code: 200 }])
  })

  test('uses another name of the stream', async (context) => {
    const { servers, plan } = await start(context)
    const names = { stream: 'SHOP' }
    const queue = new Queue(servers.urls, {}, names)
    await queue.create()
    await runApp(plan({}, {}, names))
    expect((await queue.messages())[0]?.subject).toBe('SHOP.logs')
  })

  test('worker: process.exit() loses nothing', async (context) => {
    const { queue, plan } = await start(context)
    await queue.create()
    const ended = await runApp(plan({ end: 'exit', count: 500 }))
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(await queue.numbers(500)).toEqual(upTo(500))
  })

  test('in-process: process.exit() keeps entries on disk, and the next start publishes them', async (context) => {
    const { queue, plan } = await start(context)
    await queue.create()
    const ended = await runApp(plan({ mode: 'stream', end: 'exit' }))
    expect(ended.code).toBe(0)
    expect(ended.stderr).toContain('kept on disk')
    expect(await publishedBy(plan({ count: 1 }), queue, 51)).toEqual([0, ...upTo(50)])
  })

  test.for(MODES)('%s: flush() resolves when the queue has acknowledged', async (mode, context) => {
    const { queue, plan } = await start(context)
    await queue.create()
    const { events } = await runApp(plan({ mode, end: 'flush-all', holds: false }))
    expect(events.find(({ name }) => name === 'flushed')?.payload).toMatchObject({
      state: 'acknowledged',
      account: { accepted: 50, pending: 0 },
    })
    expect(await queue.numbers(50)).toEqual(upTo(50))
  })

  test('a batch that the queue already contains counts as delivered and is stored once', async (context) => {
    const { queue, plan, spool } = await start(context)
    await queue.create()
    await runApp(plan({ mode: 'stream', end: 'exit' }))
    const copy = mkdtempSync(join(tmpdir(), 'pino-ingest-publish-'))
    context.onTestFinished(() => rmSync(copy, { recursive: true, force: true, maxRetries: 5 }))
    cpSync(spool, copy, { recursive: true })
    expect(await publishedBy(plan({ mode: 'stream', count: 1 }), queue, 51)).toEqual([0, ...upTo(50)])
    const again = await runApp(plan({ mode: 'stream', count: 1 }, { spool: { dir: copy } }))
    expect(accountOf(again)).toMatchObject({ received: 1, recovered: 50, accepted: 51, pending: 0 })
    expect(await queue.numbers(52)).toEqual([0, 0, ...upTo(50)])
  })
})
