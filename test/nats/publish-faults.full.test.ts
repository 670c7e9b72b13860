/** Real applications publish while servers, stream or credentials fail: nothing is lost, and failures are reported with advice. */
import { nkeys } from '@nats-io/transport-node'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'
import { runApp, startApp } from '../process/run-app.js'
import type { AppResult, RunningApp } from '../process/run-app.js'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS, useNatsServers } from './nats-servers.js'
import type { NatsServers } from './nats-servers.js'
import { endApp, errorsOf, preparePublishing, problemsOf, publishedBy } from './publish-app.js'
import type { Publishing } from './publish-app.js'
import { upTo } from './queue.js'

const ADMIN = { user: 'admin', pass: 'admin-password' }
const ADMIN_USER = `{ user: ${ADMIN.user}, password: ${ADMIN.pass} }`

const shared = useNatsServers()

/** With a server of its own. */
async function start(context: TestContext, config = ''): Promise<Publishing & { readonly servers: NatsServers }> {
  const servers = await natsServers({ config }, context.onTestFinished)
  const connection = config.includes('users') ? ADMIN : {}
  return { servers, ...preparePublishing(context, servers, { connection, stream: 'PINO_INGEST' }) }
}

/** Ends an application with `end: 'hold'`. */
async function ended(app: RunningApp): Promise<AppResult> {
  const result = await endApp(app)
  expect(errorsOf(result)).toEqual([])
  return result
}

function createUser(): { readonly seed: string; readonly nkey: string } {
  const user = nkeys.createUser()
  return { seed: new TextDecoder().decode(user.getSeed()), nkey: user.getPublicKey() }
}

function spooledText(dir: string): string {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), 'latin1'))
    .join('\n')
}

describe.skipIf(SKIPS_NATS).concurrent('nothing is lost', UNLESS_IT_HANGS, () => {
  test('if the stream is missing: reported once, delivered after its creation', async (context) => {
    const { queue, plan } = preparePublishing(context, shared())
    const app = startApp(plan({ end: 'hold' }))
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({
      code: 'MISDIRECTED',
      message: expect.stringContaining(`${queue.names.stream} does not exist`),
    })
    await queue.create()
    expect(await queue.numbers(50)).toEqual(upTo(50))
    expect(problemsOf(await ended(app))).toHaveLength(1)
  })

  test('if the stream is full: delivered when there is room', async (context) => {
    const { queue, plan } = preparePublishing(context, shared())
    await queue.create(20_000)
    const app = startApp(plan({ end: 'hold', count: 200 }, { retry: { maxMs: 500 } }))
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('is full') })
    const found: number[] = []
    while (found.length < 200) {
      found.push(...(await queue.take()))
      await sleep(50)
    }
    expect(found.toSorted((a, b) => a - b)).toEqual(upTo(200))
    await ended(app)
  })

  test('if the credentials are revoked and restored, and a permission: reported once each, and never shown', async (context) => {
    const { seed, nkey } = createUser()
    const users = (user = ''): string => `authorization { users: [ ${ADMIN_USER}, ${user} ] }`
    const permitted = `{ nkey: ${nkey} }`
    const { servers, queue, plan, spool } = await start(context, users(permitted))
    await queue.create()
    const app = startApp(plan({ end: 'hold', count: 100, pausesAt: 50 }, {}, { credentials: seed }))
    await app.heard('paused')
    expect(await queue.numbers(50)).toEqual(upTo(50))
    await servers.reload(users())
    app.child.kill('SIGUSR2')
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({ code: 'AUTH', message: expect.stringContaining('nats.credentials') })
    await servers.reload(users(permitted))
    expect(await queue.numbers(100)).toEqual(upTo(100))
    const result = await ended(app)
    expect(problemsOf(result)).toHaveLength(1)
    const stored = JSON.stringify(await queue.messages())
    for (const text of [result.stderr, JSON.stringify(result.events), spooledText(spool), stored])
      expect(text).not.toContain(seed.slice(4, 24))

    await servers.reload(users(`{ nkey: ${nkey}, permissions: { publish: "other", subscribe: "_INBOX.>" } }`))
    const other = startApp(plan({ end: 'hold' }, {}, { credentials: seed }))
    expect((await other.heard('ingest:problem')).payload).toMatchObject({
      code: 'AUTH',
      message: expect.stringMatching(/permission.*PINO_INGEST\.logs/i),
    })
    await servers.reload(users(permitted))
    expect(await queue.numbers(150)).toHaveLength(150)
    expect(problemsOf(await ended(other))).toHaveLength(1)
  })

  test('if a batch on disk and a single entry exceed max_payload', async (context) => {
    const { queue, plan } = await start(context, 'max_payload: 4096')
    await queue.create()
    await runApp(plan({ mode: 'stream', end: 'exit', count: 100 }))
    const app = startApp(plan({ end: 'hold', count: 20, pinoOptions: { base: { long: 'x'.repeat(5_000) } } }))
    expect(await queue.numbers(120)).toEqual([...upTo(100), ...upTo(20)].toSorted((a, b) => a - b))
    expect(Math.max(...(await queue.messages()).map(({ bytes }) => bytes))).toBeLessThanOrEqual(4096 - 1024)
    expect(problemsOf(await ended(app))).toEqual([])
  })
})

test.skipIf(SKIPS_NATS)(
  'with tls:// nothing is sent to a server without TLS, although the client would',
  UNLESS_IT_HANGS,
  async (context) => {
    const { queue, plan } = preparePublishing(context, shared())
    await queue.create()
    const nats = { servers: shared().nodes.map(({ port }) => `tls://localhost:${port}`) }
    const app = startApp(plan({ end: 'hold' }, {}, nats))
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(/tls/i) })
    await ended(app)
    expect(await queue.messages()).toEqual([])
  },
)

describe.skipIf(SKIPS_NATS).concurrent('the process ends, with all entries on disk', UNLESS_IT_HANGS, () => {
  test.for([
    ['target', 'natural'],
    ['stream', 'exit'],
  ] as const)('%s, %s: the server hangs', async ([mode, end], context) => {
    const { servers, queue, plan } = await start(context)
    await queue.create()
    for (const node of servers.nodes) await node.freeze()
    const result = await runApp(plan({ mode, end }, { shutdownTimeoutMs: 2_000 }))
    for (const node of servers.nodes) node.thaw()
    expect(errorsOf(result)).toEqual([])
    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('50 entries are not yet acknowledged') })
    expect(await publishedBy(plan({ count: 1 }), queue, 51)).toEqual([0, ...upTo(50)])
  })

  test.for(['target', 'stream'] as const)('%s: the server hangs after the first batch', async (mode, context) => {
    const { servers, queue, plan } = await start(context)
    await queue.create()
    const app = startApp(plan({ mode, count: 300, pausesAt: 100 }, { shutdownTimeoutMs: 2_000 }))
    await app.heard('paused')
    expect(await queue.numbers(100)).toEqual(upTo(100))
    for (const node of servers.nodes) await node.freeze()
    app.child.kill('SIGUSR2')
    const result = await app.done
    for (const node of servers.nodes) node.thaw()
    expect(errorsOf(result)).toEqual([])
    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('not yet acknowledged') })
    expect(new Set(await publishedBy(plan({ count: 1 }), queue, 301))).toEqual(new Set(upTo(300)))
  })
})
