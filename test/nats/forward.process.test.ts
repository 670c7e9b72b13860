/** `pino-ingest forward` as a process between a real NATS server and the local service. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nkeys } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, it } from 'vitest'
import type { TestContext } from 'vitest'
import { readDeadLetters } from '../../src/nats/dead-letter.js'
import type { StoredDeadLetter } from '../../src/nats/dead-letter.js'
import { createIngestService } from '../../src/service/index.js'
import { API_KEY, logEntry, ForwardFleet, until } from './forward-fleet.js'
import type { FleetOptions } from './forward-fleet.js'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS } from './nats-servers.js'
import type { NatsServers } from './nats-servers.js'

/** Long enough that a forwarder can extend its messages on a busy machine. */
const SLOW_ACK_WAIT_MS = 6_000
const NEVER_MS = 3_600_000

const REQUEST_LOG = {
  method: 'GET',
  path: '/x',
  status_code: 200,
  duration_ms: 1,
  request_id: 'r-1',
  timestamp: '2026-01-01T00:00:00.000Z',
}

let servers: NatsServers
let closeServers = async (): Promise<void> => {}

beforeAll(async () => {
  if (!SKIPS_NATS) servers = await natsServers({}, (close) => (closeServers = close))
})
afterAll(() => closeServers())

async function startFleet({ onTestFinished }: TestContext, options: FleetOptions = {}): Promise<ForwardFleet> {
  const fleet = await ForwardFleet.start(servers.urls, options)
  onTestFinished(() => fleet.close())
  return fleet
}

async function deadLetters({ jsm, names }: ForwardFleet): Promise<StoredDeadLetter[]> {
  const letters: StoredDeadLetter[] = []
  for await (const letter of readDeadLetters(jsm, names)) letters.push(letter)
  return letters
}

/** The server accepts names of headers that the client cannot read. */
async function publishBadHeader(url: string, subject: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const headers = 'NATS/1.0\r\nBad Key: 1\r\n\r\n'
  socket.write('CONNECT {"headers":true,"verbose":false,"no_responders":true,"protocol":1}\r\n')
  socket.end(`HPUB ${subject} ${headers.length} ${headers.length + 2}\r\n${headers}{}\r\nPING\r\n`)
  await once(socket.resume(), 'close')
}

describe.skipIf(SKIPS_NATS).concurrent('forward', UNLESS_IT_HANGS, () => {
  it('delivers log entries and request logs under their batch ids, and exits with 0', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    const forwarder = await fleet.forwarder()
    const ids = [
      await fleet.publish('logs', [logEntry('a'), logEntry('b')]),
      await fleet.publish('logs', [logEntry('c')]),
      // Without the transport's headers.
      await fleet.publish('logs', [logEntry('d')], { headers: { 'Pino-Ingest-Count': '' } }),
    ]
    await fleet.publish('requests', [REQUEST_LOG])
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toEqual(['a', 'b', 'c', 'd'])
    expect(fleet.service.requestLogs().items).toHaveLength(1)
    const sent = fleet.service.requests.filter(({ endpoint }) => endpoint === 'ingest').map(({ batchId }) => batchId)
    expect(new Set(sent)).toEqual(new Set(ids))
    expect(sent).toHaveLength(3)
    forwarder.child.kill('SIGTERM')
    expect(await forwarder.done).toBe(0)
  })

  it('stores rejected entries with the reason and delivers the others', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    const batchId = await fleet.publish('logs', [logEntry('good'), { level: 'info' }, logEntry('fine')])
    const forwarder = await fleet.forwarder()
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toEqual(['fine', 'good'])
    const [letter, ...others] = await deadLetters(fleet)
    expect(others).toEqual([])
    expect(letter).toMatchObject({ batchId, index: 1, status: 422, entry: '{"level":"info"}' })
    expect(letter?.reason).not.toBe('')
    expect(await forwarder.metric('pino_ingest_forward_entries_total', { outcome: 'rejected' })).toBe(1)
    expect(forwarder.said()).toContain('npx pino-ingest forward dead ls')
  })

  it('holds a batch until its rejected entries are stored, and does not send it again', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context, { ackWaitMs: 1_000 })
    await fleet.jsm.streams.delete(fleet.names.deadStream)
    await fleet.publish('logs', [logEntry('good'), { level: 'info' }])
    const forwarder = await fleet.forwarder()
    await until(async () => (await forwarder.get('/healthz')).text.includes('dead-letter'))
    await until(() => fleet.storedMessages().length === 1)
    const { length: requests } = fleet.service.requests
    // Other batches are delivered in the meantime.
    await fleet.publish('logs', [logEntry('next')])
    await until(() => fleet.storedMessages().length === 2)
    expect(await fleet.messages()).toBeGreaterThan(0)
    await fleet.addDeadStream()
    await fleet.untilEmpty()
    expect(fleet.service.requests).toHaveLength(requests + 1)
    expect(await deadLetters(fleet)).toHaveLength(1)
  })

  it('gives back a batch whose rejected entries it cannot store, and loses neither', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context, { ackWaitMs: NEVER_MS })
    await fleet.jsm.streams.delete(fleet.names.deadStream)
    const batchId = await fleet.publish('logs', [logEntry('good'), { level: 'info' }])
    const first = await fleet.forwarder()
    await until(() => fleet.storedMessages().length === 1)
    first.child.kill('SIGTERM')
    expect(await first.done).toBe(0)
    await fleet.addDeadStream()
    await fleet.forwarder()
    await fleet.untilEmpty()
    expect(new Set(fleet.storedMessages())).toEqual(new Set(['good']))
    expect(await deadLetters(fleet)).toMatchObject([{ batchId, index: 1, entry: '{"level":"info"}' }])
  })

  it('takes no more than it can send, and leaves the rest to others', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context, { ackWaitMs: NEVER_MS })
    const hanging = await createIngestService()
    context.onTestFinished(() => hanging.close())
    hanging.faults.add({ kind: 'hang' })
    await fleet.forwarder({ PINO_INGEST_URL: hanging.url })
    for (let index = 0; index < 60; index += 1) await fleet.publish('logs', [logEntry(`${index}`)])
    await until(() => hanging.requests.length === 1)
    await fleet.forwarder()
    await until(async () => (await fleet.messages()) <= 4)
    expect(fleet.storedMessages().length).toBeGreaterThanOrEqual(56)
  })

  it('delivers each entry of a batch with a wrong count header', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    const entries = [logEntry('a'), { level: 'info' }, logEntry('b')]
    await fleet.publish('logs', entries, { headers: { 'Pino-Ingest-Count': '1' } })
    await fleet.forwarder()
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toEqual(['a', 'b'])
    expect(await deadLetters(fleet)).toHaveLength(1)
  })

  it('stores invalid messages with the same sequence in a recreated stream as separate letters', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    await fleet.forwarder()
    for (const body of ['one', 'two']) {
      await fleet.js.publish(fleet.names.subjects.logs, body)
      await fleet.untilEmpty()
      if (body === 'two') break
      await fleet.jsm.streams.delete(fleet.names.stream)
      await fleet.setUp()
    }
    expect((await deadLetters(fleet)).map(({ entry }) => entry)).toEqual(['one', 'two'])
  })

  it('delivers batches that together exceed its memory limit', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    fleet.service.faults.add({ kind: 'status', status: 503 })
    // Larger than the rest of a pull request.
    for (let index = 0; index < 10; index += 1) await fleet.publish('logs', [logEntry('y'.repeat(900_000))])
    const forwarder = await fleet.forwarder({ PINO_INGEST_MAX_BUFFER_BYTES: '1048576' })
    await until(() => fleet.service.requests.length > 0)
    fleet.service.faults.clear()
    await fleet.untilEmpty()
    expect(await forwarder.metric('pino_ingest_forward_entries_total', { outcome: 'forwarded' })).toBe(10)
  })

  it('stores messages that are not batches, and continues', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    const bodies: readonly (readonly [string | Uint8Array, Readonly<Record<string, string>>])[] = [
      ['hello', {}],
      ['{"batch_id":"x","logs":[{"message":"cut off"', { 'Pino-Ingest-Count': '1' }],
      [JSON.stringify({ batch_id: 'many', logs: Array.from({ length: 101 }, () => logEntry('one')) }), {}],
      [randomBytes(100), {}],
    ]
    for (const [body, own] of bodies)
      await fleet.publish('logs', [], { body, headers: { 'Pino-Ingest-Count': '', ...own } })
    await publishBadHeader(servers.urls[0] ?? '', fleet.names.subjects.logs)
    await fleet.publish('logs', [logEntry('after')])
    const forwarder = await fleet.forwarder()
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toEqual(['after'])
    const letters = await deadLetters(fleet)
    const invalid = bodies.length + 1
    expect(letters.map(({ code }) => code)).toEqual(Array.from({ length: invalid }, () => 'INVALID'))
    expect(letters.some((letter) => letter.entry === 'hello')).toBe(true)
    expect(await forwarder.metric('pino_ingest_forward_batches_total', { outcome: 'invalid' })).toBe(invalid)
    // Another message with the same id and sequence.
    for (const body of ['one', 'another']) {
      await fleet.jsm.streams.delete(fleet.names.stream)
      await fleet.setUp(false)
      await fleet.publish('logs', [], { body, batchId: 'same' })
      await fleet.untilEmpty()
    }
    expect((await deadLetters(fleet)).slice(invalid).map(({ entry }) => entry)).toEqual(['one', 'another'])
  })

  it('extends a batch that waits for the service longer than ack_wait', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context, { ackWaitMs: SLOW_ACK_WAIT_MS })
    fleet.service.faults.add({ kind: 'delay', delayMs: SLOW_ACK_WAIT_MS * 1.3, times: 1 })
    const [forwarder, other] = await Promise.all([fleet.forwarder(), fleet.forwarder()])
    await fleet.publish('logs', [logEntry('slow')])
    await fleet.untilEmpty()
    expect(fleet.service.requests).toHaveLength(1)
    for (const one of [forwarder, other])
      expect(await one.metric('pino_ingest_forward_batches_total', { outcome: 'redelivered' })).toBe(0)
  })

  it('after a kill only batches in flight are delivered twice', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context, { ackWaitMs: SLOW_ACK_WAIT_MS })
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
    const fleet = await startFleet(context)
    await fleet.forwarder()
    const RETRY_AFTER_S = 6
    fleet.service.faults.add({ kind: 'status', status: 429, retryAfter: RETRY_AFTER_S, times: 1 })
    await fleet.publish('logs', [logEntry('first')])
    await until(() => fleet.service.requests.some(({ status }) => status === 429))
    const { endedAt } = fleet.service.requests[0] ?? {}
    for (let index = 0; index < 10; index += 1) await fleet.publish('logs', [logEntry(`later ${index}`)])
    for (let index = 0; index < 3; index += 1) await fleet.publish('requests', [REQUEST_LOG])
    await fleet.untilEmpty()
    const early = fleet.service.requests.filter(
      ({ at, status }) => status !== 429 && at < (endedAt ?? 0) + RETRY_AFTER_S * 1_000,
    )
    expect(early).toEqual([])
    expect(fleet.storedMessages()).toHaveLength(11)
  })

  it('does not send delivered batches again', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    const known = '11111111-2222-4333-8444-555555555555'
    await fleet.putState(`delivered.${known}`, '')
    await fleet.publish('logs', [logEntry('known')], { batchId: known })
    const unknown = await fleet.publish('logs', [logEntry('unknown')])
    const forwarder = await fleet.forwarder()
    await fleet.untilEmpty()
    expect(fleet.service.requests.map(({ batchId }) => batchId)).toEqual([unknown])
    expect(await forwarder.metric('pino_ingest_forward_batches_total', { outcome: 'duplicate' })).toBe(1)
    // The forwarder saved the id, so a later one finds it.
    const stored = await fleet.jsm.streams.getMessage(`KV_${fleet.names.bucket}`, {
      last_by_subj: `$KV.${fleet.names.bucket}.delivered.${unknown}`,
    })
    expect(stored).not.toBe(null)
  })

  it('delivers without the bucket', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context, { hasBucket: false })
    await fleet.forwarder()
    for (let index = 0; index < 20; index += 1) await fleet.publish('logs', [logEntry(`${index}`)])
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toHaveLength(20)
    expect(fleet.service.requests).toHaveLength(20)
  })

  it('stops while the service hangs, and releases its batches', async (context) => {
    const { expect } = context
    // Only released batches are redelivered within this time.
    const fleet = await startFleet(context, { ackWaitMs: NEVER_MS })
    const removeFault = fleet.service.faults.add({ kind: 'hang' })
    const forwarder = await fleet.forwarder()
    await fleet.publish('logs', [logEntry('held')])
    await until(() => fleet.service.requests.length === 1)
    forwarder.child.kill('SIGTERM')
    expect(await forwarder.done).toBe(0)
    removeFault()
    await fleet.forwarder()
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toEqual(['held'])
  })

  it('exits immediately with 1 at a second signal, without releasing batches', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    fleet.service.faults.add({ kind: 'hang' })
    const forwarder = await fleet.forwarder()
    await fleet.publish('logs', [logEntry('held')])
    await until(() => fleet.service.requests.length === 1)
    const { child } = forwarder
    // Signals within 300 ms count as one.
    await until(() => child.exitCode !== null || !child.kill('SIGTERM'), 5_000)
    expect(await forwarder.done).toBe(1)
  })

  it('is ready if its consumers exist, even while the service is down', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context, { isSetUp: false })
    const forwarder = await fleet.forwarder()
    await until(async () => (await forwarder.get('/healthz')).text.includes('forward init'))
    expect((await forwarder.get('/healthz')).status).toBe(503)
    expect((await forwarder.get('/livez')).status).toBe(200)
    expect(forwarder.said().split('forward init')).toHaveLength(2)
    fleet.service.faults.add({ kind: 'status', status: 503 })
    await fleet.setUp()
    await until(async () => (await forwarder.get('/healthz')).status === 200)
    const inFlight = (): Promise<number> => forwarder.metric('pino_ingest_forward_in_flight', { kind: 'logs' })
    for (let index = 0; index < 20; index += 1) await fleet.publish('logs', [logEntry(`${index}`)])
    await until(async () => (await forwarder.get('/healthz')).text.includes('503'))
    await until(async () => JSON.parse((await forwarder.get('/healthz')).text).oldestUnsentMs > 0)
    const health = await forwarder.get('/healthz')
    expect(health.status).toBe(200)
    expect(await inFlight()).toBeGreaterThan(0)
    expect(JSON.parse(health.text).lag).toBeGreaterThan(0)
    expect(await forwarder.metric('pino_ingest_forward_requests_total', { outcome: 'retryable' })).toBeGreaterThan(0)
    expect((await forwarder.get('/other')).status).toBe(404)
    fleet.service.faults.clear()
    await fleet.untilEmpty()
  })

  it('shows no secret', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    fleet.service.faults.add({ kind: 'status', status: 401, body: { detail: `wrong key ${API_KEY}` }, times: 1 })
    const forwarder = await fleet.forwarder({}, ['--json'])
    await fleet.publish('logs', [logEntry('one')])
    await until(() => forwarder.said().includes('"AUTH"'))
    const shown = [forwarder.said(), (await forwarder.get('/healthz')).text, (await forwarder.get('/metrics')).text]
    expect(shown.join('')).not.toContain(API_KEY)
    expect((await forwarder.get('/healthz')).text).toContain('***')
    const events = forwarder
      .said()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: string }).event)
    expect(events).toEqual(expect.arrayContaining(['forward:start', 'ingest:problem']))
  })

  it('adds the concurrency of each forwarder', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context, { service: { latencyMs: 100 } })
    await Promise.all(Array.from({ length: 4 }, () => fleet.forwarder({ PINO_INGEST_MAX_CONCURRENCY: '2' })))
    let published = 0
    const concurrent = (): number => Math.max(...fleet.service.requests.map((request) => request.concurrent))
    // Publishes until all forwarders have work at the same time.
    await until(async () => {
      for (; (await fleet.messages()) < 40; published += 1) await fleet.publish('logs', [logEntry(`${published}`)])
      return concurrent() > 6
    })
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toHaveLength(published)
  })

  it('exits with 2 for invalid flags and configuration', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context, { isSetUp: false })
    for (const [env, args] of [
      [{ PINO_INGEST_NATS_SERVERS: '' }, []],
      [{ PINO_INGEST_URL: 'ftp://x' }, []],
      // The local service must not be the default destination.
      [{ PINO_INGEST_URL: '', PINO_INGEST_API_KEY: '' }, []],
      [{}, ['--metrics', 'nonsense']],
    ] as const)
      expect(await fleet.exitCode(env, args)).toBe(2)
  })
})

describe.skipIf(SKIPS_NATS).concurrent('forward with a server of its own', UNLESS_IT_HANGS, () => {
  it('stops while the NATS server hangs', async (context) => {
    const { expect, onTestFinished } = context
    const own = await natsServers({}, onTestFinished)
    const fleet = await ForwardFleet.start(own.urls)
    onTestFinished(() => fleet.close())
    fleet.service.faults.add({ kind: 'hang' })
    const forwarder = await fleet.forwarder()
    await fleet.publish('logs', [logEntry('held')])
    await until(() => fleet.service.requests.length === 1)
    await own.nodes[0]?.freeze()
    forwarder.child.kill('SIGTERM')
    expect(await forwarder.done).toBe(0)
    own.nodes[0]?.thaw()
  })

  it('continues when the server returns', async (context) => {
    const { expect, onTestFinished } = context
    const own = await natsServers({}, onTestFinished)
    const fleet = await ForwardFleet.start(own.urls)
    onTestFinished(() => fleet.close())
    const forwarder = await fleet.forwarder()
    await fleet.publish('logs', [logEntry('before')])
    await fleet.untilEmpty()
    await own.nodes[0]?.kill()
    await until(async () => (await forwarder.get('/healthz')).status === 503)
    await own.startAll()
    await until(async () => (await forwarder.get('/healthz')).status === 200)
    await until(async () => {
      try {
        await fleet.publish('logs', [logEntry('after')], { batchId: 'after' })
        return true
      } catch {
        return false
      }
    })
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toEqual(['after', 'before'])
  })

  it('continues when permissions that were revoked are restored, and reports each of them once', async (context) => {
    const { expect, onTestFinished } = context
    const user = nkeys.createUser()
    const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-seed-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'forwarder.seed')
    writeFileSync(file, user.getSeed())
    const config = (...denied: string[]): string => {
      const deny = `{ allow: ">", deny: ${JSON.stringify(denied)} }`
      return `authorization { users: [
        { user: admin, password: admin }
        { nkey: ${user.getPublicKey()}, permissions: { publish: ${deny}, subscribe: ${deny} } }
      ] }`
    }
    const own = await natsServers({ config: config() }, onTestFinished)
    const fleet = await ForwardFleet.start(own.urls, { connection: { user: 'admin', pass: 'admin' } })
    onTestFinished(() => fleet.close())
    const forwarder = await fleet.forwarder({ PINO_INGEST_NATS_CREDENTIALS_FILE: file }, ['--json'])
    const violations = (): number => forwarder.said().split('"AUTH"').length - 1
    await fleet.publish('logs', [logEntry('before')])
    await fleet.untilEmpty()
    await own.reload(config('_INBOX.forward.>'))
    await until(async () => (await forwarder.get('/healthz')).status === 503)
    await fleet.publish('logs', [logEntry('meanwhile')])
    await own.reload(config())
    await fleet.untilEmpty()
    // One for the requests' replies; the pull requests use the same inbox.
    expect(violations()).toBe(1)
    await own.reload(config('$KV.>'))
    for (const text of ['one', 'two', 'three']) {
      await fleet.publish('logs', [logEntry(text)])
      await fleet.untilEmpty()
    }
    await until(() => violations() === 2)
    await own.reload(config())
    expect(fleet.storedMessages().toSorted()).toEqual(['before', 'meanwhile', 'one', 'three', 'two'])
  })

  it('reports rejected credentials once, and continues when they are valid again', async (context) => {
    const { expect, onTestFinished } = context
    const user = nkeys.createUser()
    const seed = new TextDecoder().decode(user.getSeed())
    const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-seed-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'forwarder.seed')
    writeFileSync(file, seed)
    const admin = '{ user: admin, password: admin }'
    const withUser = `authorization { users: [ ${admin}, { nkey: ${user.getPublicKey()} } ] }`
    const own = await natsServers({ config: withUser }, onTestFinished)
    const fleet = await ForwardFleet.start(own.urls, { connection: { user: 'admin', pass: 'admin' } })
    onTestFinished(() => fleet.close())
    const forwarder = await fleet.forwarder({ PINO_INGEST_NATS_CREDENTIALS_FILE: file }, ['--json'])
    await fleet.publish('logs', [logEntry('before')])
    await fleet.untilEmpty()
    await own.reload(`authorization { users: [ ${admin} ] }`)
    await until(() => forwarder.said().includes('"AUTH"'))
    expect((await forwarder.get('/healthz')).status).toBe(503)
    await fleet.publish('logs', [logEntry('meanwhile')])
    await own.reload(withUser)
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toEqual(['before', 'meanwhile'])
    expect(forwarder.said().split('"AUTH"')).toHaveLength(2)
    expect(forwarder.said()).not.toContain(seed)
    // Credentials that were never valid.
    await own.reload(`authorization { users: [ ${admin} ] }`)
    const other = await fleet.forwarder({ PINO_INGEST_NATS_CREDENTIALS_FILE: file }, ['--json'])
    await until(() => other.said().includes('"AUTH"'))
    await own.reload(withUser)
    await until(async () => (await other.get('/healthz')).status === 200)
    expect(other.said()).not.toContain(seed)
  })
})
