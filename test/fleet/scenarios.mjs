/** Failure scenarios, each with its own fleet. */
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { seeded } from '../faults/random.mjs'
import { chaos } from './chaos.mjs'

const STREAM = 'PINO_INGEST'
const QUOTA_RETRY_S = 3
/** A 429 received by one forwarder reaches the others within this time. */
const SHARED_WITHIN_MS = 1_000

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
 * @property {number} [maxPauseMs] limit of the pause between publishes
 * @property {number} [maxRedeliveryMs] limit for batches that a killed forwarder had in flight
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
    name: 'all nodes are restarted, one after the other',
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
    key: 'nodes',
    name: 'nodes are killed at 8 random moments, one at a time',
    seconds: 90,
    maxPauseMs: 30_000,
    async run({ servers }, { seed }) {
      const random = seeded(seed)
      for (let kills = 0; kills < 8; kills += 1) {
        await sleep(1_000 + random() * 4_000)
        const node = servers.nodes[Math.floor(random() * servers.nodes.length)]
        await node?.kill()
        await sleep(500 + random() * 3_000)
        await node?.start()
        await servers.ready()
      }
    },
  },
  {
    key: 'all',
    name: 'all nodes are killed at once, for 3 s',
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
    key: 'frozen',
    name: 'the leader of the queue is frozen for 10 s',
    seconds: 40,
    maxPauseMs: 30_000,
    async run({ servers }) {
      await sleep(3_000)
      const leader = await servers.leaderOf(STREAM)
      await leader.freeze()
      await sleep(10_000)
      leader.thaw()
    },
  },
  {
    key: 'cut-off',
    name: 'a node answers nobody for 40 s, longer than the others wait for it',
    seconds: 60,
    maxPauseMs: 30_000,
    async run({ servers }) {
      await sleep(3_000)
      const leader = await servers.leaderOf(STREAM)
      await leader.freeze()
      await sleep(40_000)
      leader.thaw()
    },
  },
  {
    key: 'forwarders',
    name: 'a forwarder is killed at 20 random moments',
    seconds: 30,
    mayDuplicate: true,
    // `ack_wait` plus 2 s.
    maxRedeliveryMs: 32_000,
    async run(fleet, { seed }) {
      const random = seeded(seed)
      fleet.server.behavior = { kind: 'ok', latencyMs: 50 }
      for (let kills = 0; kills < 20; kills += 1) {
        await sleep(300 + random() * 1_200)
        const running = fleet.forwarders.filter(({ isRunning }) => isRunning)
        await running[Math.floor(random() * running.length)]?.kill('SIGKILL')
        fleet.startForwarder()
      }
    },
  },
  {
    key: 'quota',
    name: 'two forwarders share one quota',
    nodes: 1,
    seconds: 20,
    async run({ server }) {
      let early = 0
      for (let refusals = 0; refusals < 3; refusals += 1) {
        await sleep(1_500)
        // One request is refused with the text of the quota.
        const calls = server.calls.length
        server.behavior = { kind: 'status', status: 429, headers: { 'retry-after': String(QUOTA_RETRY_S) } }
        while (server.calls.length === calls) await sleep(1)
        await sleep(20)
        server.behavior = { kind: 'ok', latencyMs: 5 }
        await sleep(QUOTA_RETRY_S * 1_000)
        early = server.early(429, QUOTA_RETRY_S * 1_000, SHARED_WITHIN_MS)
      }
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
      const nc = await connect({ servers: fleet.servers.urls })
      await (await jetstreamManager(nc)).streams.delete(STREAM)
      await nc.close()
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
    key: 'slow',
    name: 'the service answers after 2 s, later than it is asked again elsewhere',
    nodes: 1,
    seconds: 15,
    async run({ server }) {
      server.behavior = { kind: 'ok', latencyMs: 2_000 }
      await sleep(15_000)
      server.behavior = { kind: 'ok' }
    },
  },
  {
    key: 'poison',
    name: 'the service refuses each 100th entry',
    nodes: 1,
    seconds: 10,
    isDead: (n) => n % 100 === 50,
    async run({ server }) {
      server.behavior = { kind: 'reject', form: 'none', isBad: (n) => n % 100 === 50 }
    },
  },
  {
    key: 'chaos',
    name: 'random kills of applications, nodes, forwarders and the service',
    seconds: 0,
    mayDuplicate: true,
    run: chaos,
  },
]
