/** `pino-ingest forward` with real time: kills, leases, and servers and permissions that come back. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nkeys } from '@nats-io/transport-node'
import { describe, it } from 'vitest'
import { ForwardFleet, logEntry, REQUEST_LOG, until } from './forward-fleet.js'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS, useNatsServers } from './nats-servers.js'

/** Long enough that a forwarder can extend its messages on a busy machine. */
const SLOW_ACK_WAIT_MS = 6_000
const ADMIN = { user: 'admin', pass: 'admin' }

const servers = useNatsServers()

describe.skipIf(SKIPS_NATS).concurrent('forward', UNLESS_IT_HANGS, () => {
  it('after a kill only batches in flight are delivered twice', async (context) => {
    const { expect } = context
    const fleet = await ForwardFleet.start(context, servers(), { ackWaitMs: SLOW_ACK_WAIT_MS })
    const first = await fleet.forwarder({ PINO_INGEST_MAX_CONCURRENCY: '4' })
    for (let index = 0; index < 10; index += 1) await fleet.publish('logs', [logEntry(`early ${index}`)])
    await fleet.untilEmpty()
    const removeFault = fleet.service.faults.add({ kind: 'hang' })
    const ids: string[] = []
    for (let index = 0; index < 10; index += 1) ids.push(await fleet.publish('logs', [logEntry(`late ${index}`)]))
    const hanging = (): (string | null)[] =>
      fleet.service.requests.filter(({ fault }) => fault === 'hang').map(({ batchId }) => batchId)
    // All requests that it sent have arrived.
    let before = 0
    await until(async () => {
      const { length } = hanging()
      const isStable = length > 0 && length === before
      before = length
      await sleep(500)
      return isStable
    })
    first.child.kill('SIGKILL')
    await first.done
    const inFlight = hanging()
    removeFault()
    const second = await fleet.forwarder()
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toHaveLength(20)
    const sent = fleet.service.requests.slice(10).map(({ batchId }) => batchId)
    // Each batch once, except those in flight, which arrive again under the same id.
    expect(sent.toSorted()).toEqual([...ids, ...inFlight].toSorted())
    expect(await second.metric('pino_ingest_forward_batches_total', { outcome: 'redelivered' })).toBeGreaterThanOrEqual(
      new Set(inFlight).size,
    )
  })

  it('honors a Retry-After for log entries and request logs', async (context) => {
    const { expect } = context
    const fleet = await ForwardFleet.start(context, servers())
    await fleet.forwarder()
    const RETRY_AFTER_S = 3
    fleet.service.faults.add({ kind: 'status', status: 429, retryAfter: RETRY_AFTER_S, times: 1 })
    await fleet.publish('logs', [logEntry('first')])
    await until(() => fleet.service.requests.some(({ status }) => status === 429))
    const { endedAt } = fleet.service.requests[0] ?? {}
    for (let index = 0; index < 10; index += 1) await fleet.publish('logs', [logEntry(`later ${index}`)])
    await fleet.publish('requests', [REQUEST_LOG])
    await fleet.untilEmpty()
    const early = fleet.service.requests.filter(
      ({ at, status }) => status !== 429 && at < (endedAt ?? 0) + RETRY_AFTER_S * 1_000,
    )
    expect(early).toEqual([])
    expect(fleet.storedMessages()).toHaveLength(11)
  })

  it('delivers without the bucket', async (context) => {
    const { expect } = context
    const fleet = await ForwardFleet.start(context, servers(), { hasBucket: false })
    await fleet.forwarder()
    for (let index = 0; index < 20; index += 1) await fleet.publish('logs', [logEntry(`${index}`)])
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toHaveLength(20)
    expect(fleet.service.requests).toHaveLength(20)
  })

  it('is ready if its consumers exist, even while the service is down', async (context) => {
    const { expect } = context
    const fleet = await ForwardFleet.start(context, servers(), { isSetUp: false })
    const forwarder = await fleet.forwarder()
    await until(async () => (await forwarder.get('/healthz')).text.includes('forward init'))
    expect((await forwarder.get('/healthz')).status).toBe(503)
    expect(forwarder.said().split('forward init')).toHaveLength(2)
    fleet.service.faults.add({ kind: 'status', status: 503 })
    await fleet.setUp()
    await until(async () => (await forwarder.get('/healthz')).status === 200)
    for (let index = 0; index < 20; index += 1) await fleet.publish('logs', [logEntry(`${index}`)])
    await until(async () => (await forwarder.get('/healthz')).text.includes('503'))
    await until(async () => JSON.parse((await forwarder.get('/healthz')).text).oldestUnsentMs > 0)
    const health = await forwarder.get('/healthz')
    expect(health.status).toBe(200)
    expect(JSON.parse(health.text).lag).toBeGreaterThan(0)
    expect(await forwarder.metric('pino_ingest_forward_in_flight', { kind: 'logs' })).toBeGreaterThan(0)
    expect(await forwarder.metric('pino_ingest_forward_requests_total', { outcome: 'retryable' })).toBeGreaterThan(0)
    expect((await forwarder.get('/other')).status).toBe(404)
  })
})

describe.skipIf(SKIPS_NATS).concurrent('forward with a server of its own', UNLESS_IT_HANGS, () => {
  it('continues when the server returns, and stops while it hangs', async (context) => {
    const { expect, onTestFinished } = context
    const own = await natsServers({}, onTestFinished)
    const fleet = await ForwardFleet.start(context, own)
    const forwarder = await fleet.forwarder()
    await fleet.publish('logs', [logEntry('before')])
    await fleet.untilEmpty()
    await own.killAll()
    await until(async () => (await forwarder.get('/healthz')).status === 503)
    await own.startAll()
    await until(async () => (await forwarder.get('/healthz')).status === 200)
    await until(async () =>
      fleet.publish('logs', [logEntry('after')], { batchId: 'after' }).then(
        () => true,
        () => false,
      ),
    )
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toEqual(['after', 'before'])
    fleet.service.faults.add({ kind: 'hang' })
    const { length } = fleet.service.requests
    await fleet.publish('logs', [logEntry('held')])
    await until(() => fleet.service.requests.length > length)
    await own.nodes[0]?.freeze()
    forwarder.child.kill('SIGTERM')
    expect(await forwarder.done).toBe(0)
    own.nodes[0]?.thaw()
  })

  it('reports rejected credentials and missing permissions once each, and continues when they are back', async (context) => {
    const { expect, onTestFinished } = context
    const user = nkeys.createUser()
    const seed = new TextDecoder().decode(user.getSeed())
    const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-seed-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'forwarder.seed')
    writeFileSync(file, seed)
    const admin = `{ user: ${ADMIN.user}, password: ${ADMIN.pass} }`
    const withUser = (...denied: string[]): string => {
      const deny = `{ allow: ">", deny: ${JSON.stringify(denied)} }`
      return `authorization { users: [ ${admin}, { nkey: ${user.getPublicKey()}, permissions: { publish: ${deny}, subscribe: ${deny} } } ] }`
    }
    const withoutUser = `authorization { users: [ ${admin} ] }`
    const own = await natsServers({ config: withUser() }, onTestFinished)
    const fleet = await ForwardFleet.start(context, own, { connection: ADMIN })
    const start = () => fleet.forwarder({ PINO_INGEST_NATS_CREDENTIALS_FILE: file }, ['--json'])
    const forwarder = await start()
    const reports = (): number => forwarder.said().split('"AUTH"').length - 1
    await fleet.publish('logs', [logEntry('before')])
    await fleet.untilEmpty()

    await own.reload(withoutUser)
    await until(() => reports() === 1)
    expect((await forwarder.get('/healthz')).status).toBe(503)
    await fleet.publish('logs', [logEntry('meanwhile')])
    // Credentials that were never valid.
    const other = await start()
    await until(() => other.said().includes('"AUTH"'))
    await own.reload(withUser())
    await fleet.untilEmpty()
    await until(async () => (await other.get('/healthz')).status === 200)
    expect(reports()).toBe(1)
    expect(forwarder.said() + other.said()).not.toContain(seed)
    other.child.kill('SIGKILL')

    await own.reload(withUser('_INBOX.forward.>'))
    await until(async () => (await forwarder.get('/healthz')).status === 503)
    // One for the requests' replies; the pull requests use the same inbox.
    await until(() => reports() === 2)
    await fleet.publish('logs', [logEntry('without replies')])
    await own.reload(withUser())
    await fleet.untilEmpty()
    expect(reports()).toBe(2)
    await own.reload(withUser('$KV.>'))
    for (const text of ['one', 'two']) {
      await fleet.publish('logs', [logEntry(text)])
      await fleet.untilEmpty()
    }
    await until(() => reports() === 3)
    expect(fleet.storedMessages()).toEqual(['before', 'meanwhile', 'one', 'two', 'without replies'])
  })
})
