/** Real applications publish while servers, stream or credentials fail: nothing is lost, and failures are reported with advice. */
import { nkeys } from '@nats-io/transport-node'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { TestContext } from 'vitest'
import { runApp, startApp } from '../process/run-app.js'
import type { AppPlan, AppResult, RunningApp } from '../process/run-app.js'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS } from './nats-servers.js'
import type { NatsServers } from './nats-servers.js'
import { endApp, publishedBy } from './publish-app.js'
import { Queue, upTo } from './queue.js'

interface Started {
  readonly servers: NatsServers
  readonly queue: Queue
  readonly plan: (plan: Partial<AppPlan>, options?: Record<string, unknown>, nats?: object) => AppPlan
  readonly spool: string
}

const ADMIN = { user: 'admin', pass: 'admin-password' }
const ADMIN_USER = `{ user: ${ADMIN.user}, password: ${ADMIN.pass} }`

async function start({ onTestFinished }: TestContext, config = ''): Promise<Started> {
  const servers = await natsServers({ config }, onTestFinished)
  const queue = new Queue(servers.urls, config.includes('users') ? ADMIN : {})
  const spool = mkdtempSync(join(tmpdir(), 'pino-ingest-publish-'))
  onTestFinished(() => rmSync(spool, { recursive: true, force: true, maxRetries: 5 }))
  return {
    servers,
    queue,
    spool,
    plan: (plan, options = {}, nats = {}) => ({
      mode: 'target',
      count: 50,
      end: 'hold',
      ...plan,
      options: { nats: { servers: servers.urls, ...nats }, spool: { dir: spool }, ...options },
    }),
  }
}

/** Ends an application with `end: 'hold'`. */
async function ended(app: RunningApp): Promise<AppResult> {
  const result = await endApp(app)
  expect(errorsOf(result)).toEqual([])
  return result
}

/** Errors of the NATS client must not reach the application. */
function errorsOf({ events }: AppResult): unknown[] {
  return events.filter(({ name }) => name === 'error' || name === 'blocked')
}

function problemsOf({ events }: AppResult): { readonly code: string; readonly message: string }[] {
  return events.filter(({ name }) => name === 'ingest:problem').map(({ payload }) => payload as never)
}

function spooledText(dir: string): string {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), 'latin1'))
    .join('\n')
}

describe.skipIf(SKIPS_NATS).concurrent('nothing is lost', UNLESS_IT_HANGS, () => {
  test('if the server is down at the start', async (context) => {
    const { servers, queue, plan } = await start(context)
    await queue.create()
    await servers.killAll()
    const app = startApp(plan({}))
    await app.heard('holding')
    await servers.startAll()
    expect(await queue.numbers(50)).toEqual(upTo(50))
    expect(problemsOf(await ended(app)).filter(({ code }) => code !== 'UNAVAILABLE')).toEqual([])
  })

  test('if the server is killed and started again', async (context) => {
    const { servers, queue, plan } = await start(context)
    await queue.create()
    const app = startApp(plan({ count: 600, perSecond: 200 }))
    await app.heard('ingest:delivered')
    await servers.killAll()
    await servers.startAll()
    await app.heard('holding')
    expect(await queue.numbers(600)).toEqual(upTo(600))
    await ended(app)
  })

  test('if the stream is missing: reported once, delivered after its creation', async (context) => {
    const { queue, plan } = await start(context)
    const app = startApp(plan({}))
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({
      code: 'MISDIRECTED',
      message: expect.stringContaining('PINO_INGEST does not exist'),
    })
    expect(payload).toMatchObject({ message: expect.stringContaining('pino-ingest forward init') })
    await queue.create()
    expect(await queue.numbers(50)).toEqual(upTo(50))
    expect(problemsOf(await ended(app))).toHaveLength(1)
  })

  test('if the stream is full: delivered when there is room', async (context) => {
    const { queue, plan } = await start(context)
    await queue.create(20_000)
    const app = startApp(plan({ count: 400 }))
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('is full') })
    const found: number[] = []
    while (found.length < 400) {
      found.push(...(await queue.take()))
      await sleep(50)
    }
    expect(found.toSorted((a, b) => a - b)).toEqual(upTo(400))
    await ended(app)
  })

  test('if the credentials are revoked and restored; they are never shown', async (context) => {
    const user = nkeys.createUser()
    const seed = new TextDecoder().decode(user.getSeed())
    const withUser = `authorization { users: [ ${ADMIN_USER}, { nkey: ${user.getPublicKey()} } ] }`
    const { servers, queue, plan, spool } = await start(context, withUser)
    await queue.create()
    const app = startApp(plan({ count: 100, pausesAt: 50 }, {}, { credentials: seed }))
    await app.heard('paused')
    expect(await queue.numbers(50)).toEqual(upTo(50))
    await servers.reload(`authorization { users: [ ${ADMIN_USER} ] }`)
    app.child.kill('SIGUSR2')
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({ code: 'AUTH', message: expect.stringContaining('nats.credentials') })
    await servers.reload(withUser)
    expect(await queue.numbers(100)).toEqual(upTo(100))
    const result = await ended(app)
    expect(problemsOf(result)).toHaveLength(1)
    for (const text of [
      result.stderr,
      JSON.stringify(result.events),
      spooledText(spool),
      JSON.stringify(await queue.messages()),
    ]) {
      expect(text).not.toContain(seed)
      expect(text).not.toContain(seed.slice(4, 24))
    }
  })

  test('if the permission is missing: reported once', async (context) => {
    const user = nkeys.createUser()
    const seed = new TextDecoder().decode(user.getSeed())
    const users = (permissions: string): string =>
      `authorization { users: [ ${ADMIN_USER}, { nkey: ${user.getPublicKey()}, permissions: { ${permissions} } } ] }`
    const { servers, queue, plan } = await start(context, users('publish: "other", subscribe: "_INBOX.>"'))
    await queue.create()
    const app = startApp(plan({}, {}, { credentials: seed }))
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({
      code: 'AUTH',
      message: expect.stringMatching(/permission.*PINO_INGEST\.logs/i),
    })
    await servers.reload(
      users('publish: ["PINO_INGEST.logs", "$JS.API.STREAM.INFO.PINO_INGEST"], subscribe: "_INBOX.>"'),
    )
    expect(await queue.numbers(50)).toEqual(upTo(50))
    expect(problemsOf(await ended(app))).toHaveLength(1)
  })

  test('if a recovered batch and a single entry exceed max_payload', async (context) => {
    const { queue, plan } = await start(context, 'max_payload: 4096')
    await queue.create()
    await runApp(plan({ mode: 'stream', end: 'exit', count: 100 }))
    const app = startApp(plan({ count: 20, pinoOptions: { base: { long: 'x'.repeat(5_000) } } }))
    expect(await queue.numbers(120)).toEqual([...upTo(100), ...upTo(20)].toSorted((a, b) => a - b))
    expect(Math.max(...(await queue.messages()).map(({ bytes }) => bytes))).toBeLessThanOrEqual(4096 - 1024)
    expect(problemsOf(await ended(app))).toEqual([])
  })
})

describe.skipIf(SKIPS_NATS).concurrent('TLS', UNLESS_IT_HANGS, () => {
  const file = (name: string): string => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))
  const ca = readFileSync(file('ca.crt'), 'utf8')
  const TLS = `tls { cert_file: "${file('server.crt')}", key_file: "${file('server.key')}", ca_file: "${file('ca.crt')}", verify: true }`

  test('with a private CA and a client certificate', async (context) => {
    const servers = await natsServers({ config: TLS }, context.onTestFinished)
    const tls = { ca, cert: readFileSync(file('client.crt'), 'utf8'), key: readFileSync(file('client.key'), 'utf8') }
    const queue = new Queue(servers.urls, { tls })
    await queue.create()
    const nats = { servers: servers.nodes.map(({ port }) => `tls://localhost:${port}`), tls }
    await runApp({ mode: 'target', end: 'natural', count: 50, options: { nats, spool: false } })
    expect(await queue.numbers(50)).toEqual(upTo(50))
  })

  test('sends nothing to a server without TLS, although the NATS client would', async (context) => {
    const { servers, queue, plan } = await start(context)
    await queue.create()
    const nats = { servers: servers.nodes.map(({ port }) => `tls://localhost:${port}`) }
    const app = startApp(plan({}, {}, nats))
    const { payload } = await app.heard('ingest:problem')
    expect(payload).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(/tls/i) })
    await ended(app)
    expect(await queue.messages()).toEqual([])
  })
})

describe.skipIf(SKIPS_NATS).concurrent('the process ends, with all entries on disk', UNLESS_IT_HANGS, () => {
  test.for([
    ['target', 'natural'],
    ['target', 'exit'],
    ['stream', 'natural'],
    ['stream', 'exit'],
  ] as const)('%s, %s: the server hangs', async ([mode, end], context) => {
    const { servers, queue, plan } = await start(context)
    await queue.create()
    for (const node of servers.nodes) await node.freeze()
    const result = await runApp(plan({ mode, end }))
    const { code, stderr } = result
    for (const node of servers.nodes) node.thaw()
    expect(errorsOf(result)).toEqual([])
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('50 entries are not yet acknowledged'),
    })
    expect(await publishedBy(plan({ count: 1 }), queue, 51)).toEqual([0, ...upTo(50)])
  })

  test.for(['target', 'stream'] as const)('%s: the server hangs after the first batch', async (mode, context) => {
    const { servers, queue, plan } = await start(context)
    await queue.create()
    const app = startApp(plan({ mode, end: 'natural', count: 300, pausesAt: 100 }))
    await app.heard('paused')
    expect(await queue.numbers(100)).toEqual(upTo(100))
    for (const node of servers.nodes) await node.freeze()
    app.child.kill('SIGUSR2')
    const result = await app.done
    const { code, stderr } = result
    for (const node of servers.nodes) node.thaw()
    expect(errorsOf(result)).toEqual([])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('not yet acknowledged') })
    expect(new Set(await publishedBy(plan({ count: 1 }), queue, 301))).toEqual(new Set(upTo(300)))
  })

  test.for(['target', 'stream'] as const)('%s: the server is down', async (mode, context) => {
    const { servers, queue, plan } = await start(context)
    await queue.create()
    await servers.killAll()
    const { code, stderr } = await runApp(plan({ mode, end: 'natural' }))
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('50 entries are not yet acknowledged'),
    })
    await servers.startAll()
    expect(await publishedBy(plan({ count: 1 }), queue, 51)).toEqual([0, ...upTo(50)])
  })
})
