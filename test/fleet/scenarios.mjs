/** Failure scenarios, each with its own fleet. */
import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '../faults/random.mjs'
import { chaos } from './chaos.mjs'

const STREAM = 'PINO_INGEST'
const BUCKET_STREAM = 'KV_PINO_INGEST_STATE'
const QUOTA_RETRY_S = 3
/** A request may be on its way when its forwarder receives a refusal. */
const TRANSIT_MS = 50

/**
 * @typedef {{ minutes: number, seed: number }} RunOptions
 * @typedef {object} Scenario
 * @property {string} key
 * @property {string} name
 * @property {1 | 3} [nodes] default 3
 * @property {(fleet: import('./fleet.mjs').Fleet, options: RunOptions) => Promise<{ wrong?: readonly string[], notes?: readonly string[] } | void>} run
 * @property {number} [seconds] time for which applications log; 0: the scenario starts them
 * @property {(n: number) => boolean} [isDead] entries that the service rejects
 * @property {boolean} [mayDuplicate] whether batches of a killed forwarder may arrive twice
 * @property {string} [maxBytes] of the queue, default 1GiB
 * @property {number} [maxPauseMs] limit of the pause between publishes
 * @property {number} [maxDeliveryMs] limit of the time until all is delivered, from the end of the faults and of logging
 */

/** @type {readonly Scenario[]} */
export const SCENARIOS = [
  {
    key: 'leader',
    name: 'the leader of the queue is killed, and starts again',
    seconds: 30,
    maxPauseMs: 30_000,
    async run({ servers }) {
      await sleep(3_000)
      const leader = await servers.leaderOf(STREAM)
      await leader.kill()
      await sleep(15_000)
      await leader.start()
    },
  },
  {
    key: 'rolling',
    name: 'all NATS servers are restarted, one after the other',
    seconds: 60,
    maxPauseMs: 30_000,
    async run({ servers }) {
      for (const node of servers.nodes) {
        await sleep(2_000)
        await node.restart()
        await servers.ready()
      }
    },
  },
  {
    key: 'all',
    name: 'all NATS servers are killed at once, for 3 s',
    seconds: 40,
    maxPauseMs: 33_000,
    async run({ servers }) {
      await sleep(3_000)
      await servers.killAll()
      await sleep(3_000)
      await servers.startAll()
    },
  },
  {
    key: 'empty-disk',
    name: 'the leader of the queue starts again with an empty disk, and is then needed for a majority',
    seconds: 40,
    maxPauseMs: 30_000,
    async run({ servers }) {
      await sleep(3_000)
      const leader = await servers.leaderOf(STREAM)
      await leader.startEmpty()
      await servers.ready()
      const other = servers.nodes.find((node) => node !== leader)
      await other?.kill()
      await sleep(10_000)
      await other?.start()
    },
  },
  {
    key: 'cut-off',
    name: 'the leader of the queue is suspended for 30 s',
    seconds: 50,
    maxPauseMs: 30_000,
    async run({ servers }) {
      await sleep(3_000)
      const leader = await servers.leaderOf(STREAM)
      await leader.freeze()
      await sleep(30_000)
      leader.thaw()
    },
  },
  {
    key: 'full',
    name: 'the queue is full for 20 s, since no forwarder runs',
    nodes: 1,
    maxBytes: '1MiB',
    async run(fleet) {
      await sleep(3_000)
      await Promise.all(fleet.forwarders.map((one) => one.kill('SIGTERM')))
      await sleep(20_000)
      const published = fleet.queue.published()
      await sleep(1_000)
      const isFull = fleet.queue.published() === published && fleet.queue.waiting() > 0
      fleet.startForwarder()
      return { wrong: isFull ? [] : ['the queue was not full'] }
    },
  },
  ...[
    { key: 'no-forwarder', role: /** @type {const} */ ('application') },
    { key: 'no-application', role: /** @type {const} */ ('forwarder') },
  ].map(({ key, role }) => ({
    key,
    name: `for 20 s the NATS servers admit only the ${role}s`,
    run: async (/** @type {import('./fleet.mjs').Fleet} */ fleet) => {
      await sleep(3_000)
      await fleet.allow('operator', role)
      await sleep(20_000)
      await fleet.allow()
    },
  })),
  {
    key: 'forwarders',
    name: 'a forwarder is killed at 20 random moments',
    seconds: 15,
    mayDuplicate: true,
    // `ack_wait` plus 2 s.
    maxDeliveryMs: 32_000,
    async run(fleet, { seed }) {
      const random = seeded(seed)
      fleet.server.behavior = { kind: 'ok', latencyMs: 50 }
      for (let kills = 0; kills < 20; kills += 1) {
        await sleep(300 + random() * 1_200)
        const running = fleet.runningForwarders
        await running[Math.floor(random() * running.length)]?.kill()
        fleet.startForwarder()
      }
    },
  },
  {
    key: 'quota',
    name: 'two forwarders share one quota, and each learns of it on its own',
    nodes: 1,
    async run({ server }) {
      for (let refusals = 0; refusals < 3; refusals += 1) {
        await sleep(1_500)
        server.behavior = { kind: 'status', status: 429, headers: { 'retry-after': String(QUOTA_RETRY_S) } }
        await sleep(QUOTA_RETRY_S * 1_000)
        server.behavior = { kind: 'ok', latencyMs: 5 }
      }
      const early = server.early(429, QUOTA_RETRY_S * 1_000, TRANSIT_MS)
      return { wrong: early === 0 ? [] : [`${early} requests before the quota's time`] }
    },
  },
  {
    key: 'deleted',
    name: 'the stream is deleted, and created again',
    nodes: 1,
    seconds: 0,
    async run(fleet) {
      await fleet.logged(fleet.startApp({ count: 2_000, perSecond: 1_000 }), 0)
      await fleet.queue.isEmpty(30_000)
      await fleet.deleteStream(STREAM)
      const app = fleet.startApp({ first: 2_000, count: 2_000, perSecond: 1_000, end: 'hold' })
      await app.event('logged')
      await sleep(1_000)
      await fleet.init()
      await sleep(3_000)
      app.kill('SIGTERM')
      await fleet.logged(app, 2_000)
    },
  },
  {
    key: 'bucket',
    name: 'the bucket is deleted, and created again after 20 s',
    seconds: 30,
    async run(fleet) {
      await sleep(3_000)
      await fleet.deleteStream(BUCKET_STREAM)
      await sleep(20_000)
      await fleet.init()
    },
  },
  {
    key: 'poison',
    name: 'the service refuses batches with each 100th entry, and names none',
    nodes: 1,
    seconds: 10,
    isDead: (n) => n % 100 === 50,
    async run({ server }) {
      server.behavior = { kind: 'reject', form: 'none', isBad: (n) => n % 100 === 50 }
    },
  },
  {
    key: 'chaos',
    name: 'random kills of applications, NATS servers, forwarders and the service',
    seconds: 0,
    mayDuplicate: true,
    run: chaos,
  },
]
