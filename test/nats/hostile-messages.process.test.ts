/** Messages that any publisher may send: a forwarder stores those that are not batches, and delivers all others. */
import { afterAll, beforeAll, describe, it } from 'vitest'
import type { TestContext } from 'vitest'
import { ForwardFleet, logEntry, until } from './forward-fleet.js'
import { natsServers, SKIPS_NATS, UNLESS_IT_HANGS } from './nats-servers.js'
import type { NatsServers } from './nats-servers.js'

/** For a longer run: `HOSTILE_MESSAGES=10000`. */
const MESSAGES = Number(process.env['HOSTILE_MESSAGES'] ?? 300)
const AT_ONCE = 50

let servers: NatsServers
let closeServers = async (): Promise<void> => {}

beforeAll(async () => {
  if (!SKIPS_NATS) servers = await natsServers({}, (close) => (closeServers = close))
})
afterAll(() => closeServers())

async function startFleet({ onTestFinished }: TestContext): Promise<ForwardFleet> {
  const fleet = await ForwardFleet.start(servers.urls)
  onTestFinished(() => fleet.close())
  return fleet
}

const withExtra = (id: string): string => JSON.stringify({ batch_id: id, logs: [logEntry('in it')], extra: 1 })

describe.skipIf(SKIPS_NATS)('forward', UNLESS_IT_HANGS, () => {
  it.for([1, 60])(
    'delivers all batches among %i messages with a member that a batch does not have',
    async (count, context) => {
      const { expect } = context
      const fleet = await startFleet(context)
      const forwarder = await fleet.forwarder()
      for (let n = 0; n < count; n += 1)
        await fleet.publish('logs', [logEntry('x')], { batchId: `p${n}`, body: withExtra(`p${n}`) })
      for (let n = 0; n < 20; n += 1) await fleet.publish('logs', [logEntry(`good-${n}`)])
      await fleet.untilEmpty()
      expect(fleet.storedMessages()).toHaveLength(20)
      expect(await fleet.messages(fleet.names.deadStream)).toBe(count)
      expect((await forwarder.get('/healthz')).status).toBe(200)
    },
  )

  it('is not healthy while the service refuses everything, and stays alive', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    const endRefusals = fleet.service.faults.add({ kind: 'status', status: 403 })
    const forwarder = await fleet.forwarder()
    for (let n = 0; n < 20; n += 1) await fleet.publish('logs', [logEntry(`kept-${n}`)])
    await until(async () => (await forwarder.get('/healthz')).status === 503)
    expect(await forwarder.metric('pino_ingest_forward_ready')).toBe(0)
    expect((await forwarder.get('/livez')).status).toBe(200)
    expect(fleet.service.requests.length).toBeLessThanOrEqual(2)
    expect(await fleet.messages(fleet.names.deadStream)).toBe(0)
    endRefusals()
  })

  it('stays healthy while the service refuses only one batch, or only request logs', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    const forwarder = await fleet.forwarder()
    const refused = async (): Promise<{ status: number; isRefused: boolean }> => {
      const { status, text } = await forwarder.get('/healthz')
      return { status, isRefused: JSON.parse(text).lastError !== null }
    }
    await fleet.publish('logs', [logEntry('good')])
    await fleet.untilEmpty()
    const endRefusals = fleet.service.faults.add({ kind: 'status', status: 403 })
    await fleet.publish('logs', [logEntry('refused')])
    await until(async () => (await refused()).isRefused)
    expect(await refused()).toEqual({ status: 200, isRefused: true })
    endRefusals()
    await fleet.publish('logs', [logEntry('good')])
    await until(async () => !(await refused()).isRefused)

    fleet.service.faults.add({ kind: 'status', status: 404, endpoint: 'requests' })
    const request = { method: 'GET', path: '/', status_code: 200, duration_ms: 1 }
    for (let n = 0; n < 5; n += 1) await fleet.publish('requests', [request])
    await until(() => fleet.service.requests.filter(({ status }) => status === 404).length > 1)
    expect(await refused()).toEqual({ status: 200, isRefused: true })
  })

  it('delivers different batches with the same id, and recognizes one that is published again', async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    fleet.service.faults.add({ kind: 'reject-containing', text: 'bad' })
    const forwarder = await fleet.forwarder()
    let messageId = 0
    for (const host of ['a', 'b', 'c', 'b'])
      await fleet.publish('logs', [logEntry(`from ${host}`), logEntry(`bad ${host}`)], {
        batchId: 'nightly-1',
        headers: { 'Nats-Msg-Id': `message-${(messageId += 1)}` },
      })
    await fleet.untilEmpty()
    expect(fleet.storedMessages()).toEqual(['from a', 'from b', 'from c'])
    expect(await fleet.messages(fleet.names.deadStream)).toBe(3)
    expect(await forwarder.metric('pino_ingest_forward_batches_total', { outcome: 'duplicate' })).toBe(1)
  })

  it(`survives ${MESSAGES} generated messages`, { timeout: 60_000 + MESSAGES * 100 }, async (context) => {
    const { expect } = context
    const fleet = await startFleet(context)
    const forwarder = await fleet.forwarder()
    const random = createRandom(7)
    const good = new Set<string>()
    for (let n = 0; n < MESSAGES; n += AT_ONCE) {
      const published = Array.from({ length: AT_ONCE }, async (_, at) => {
        const id = `hostile-${n + at}`
        const { body, headers } = generate(random, id)
        await fleet.publish('logs', [logEntry('any')], { batchId: id, body, headers })
      })
      good.add(`good-${n}`)
      await Promise.all([...published, fleet.publish('logs', [logEntry(`good-${n}`)])])
    }
    await fleet.untilEmpty()
    const stored = fleet.storedMessages().filter((message) => good.has(message))
    expect(stored).toHaveLength(good.size)
    expect(forwarder.child.exitCode).toBeNull()
    expect((await forwarder.get('/healthz')).status).toBe(200)
  })
})

type Random = (below: number) => number

/** Mulberry32. */
function createRandom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  '',
  'text',
  '\u0000\uFEFF\uD800',
  [],
  [[]],
  {},
  { logs: [] },
  'x'.repeat(70_000),
  { level: 'info' },
  { message: 7, level: [], timestamp: {} },
]
const KEYS = ['batch_id', 'logs', 'extra', '__proto__', 'constructor', 'Logs', ' logs', 'requests', '']
const HEADERS = [
  'Pino-Ingest-Count',
  'Pino-Ingest-Endpoint',
  'Content-Encoding',
  'Content-Type',
  'Pino-Ingest-Batch-Id',
]

/** A valid batch that was changed, or no batch at all. */
function generate(random: Random, id: string): { body: string; headers: Record<string, string> } {
  const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T
  const text = JSON.stringify({ batch_id: id, logs: [logEntry(`of ${id}`), pick(VALUES)] })
  const bodies: readonly (() => string)[] = [
    () => JSON.stringify(pick(VALUES)),
    () => text.slice(0, random(text.length)),
    () => text + pick([' ', '\n', '}', ',{}', text, '\u0000', 'x']),
    () => pick(['\uFEFF', ' ', '[', '\u0000']) + text,
    () => JSON.stringify({ batch_id: pick([id, ...VALUES]), logs: pick([VALUES, [], pick(VALUES)]) }),
    () => text.replace('}', `,${JSON.stringify(pick(KEYS))}:${JSON.stringify(pick(VALUES))}}`),
    () => `${text.slice(0, -1)},${JSON.stringify(pick(KEYS))}:${JSON.stringify(pick(VALUES))}}`,
    () => `{"logs":[],${text.slice(1)}`,
    () => `{"batch_id":"${id}","logs":${'['.repeat(1 + random(5_000))}${']'.repeat(random(5_000))}}`,
    () => JSON.stringify({ batch_id: id, logs: Array.from({ length: random(300) }, (_, n) => logEntry(`n${n}`)) }),
    () => text,
  ]
  const headers = random(3) === 0 ? { [pick(HEADERS)]: pick(['-1', '1e9', '', 'x', '/ingest', '__proto__']) } : {}
  return { body: pick(bodies)(), headers }
}
