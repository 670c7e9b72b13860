/** Failure scenarios, each with its own fleet. */
import { setTimeout as sleep } from 'node:timers/promises'
import { chaos } from './chaos.mjs'

const STREAM = 'PINO_INGEST'

/**
 * @typedef {{ minutes: number, seed: number }} RunOptions
 * @typedef {object} Scenario
 * @property {string} key
 * @property {string} name
 * @property {1 | 3} [nodes] default 3
 * @property {(fleet: import('./fleet.mjs').Fleet, options: RunOptions) => Promise<{ notes: readonly string[] } | void>} run
 * @property {number} [seconds] time for which applications log; 0: the scenario starts them
 * @property {boolean} [mayDuplicate] whether batches of a killed forwarder may arrive twice
 * @property {number} [maxPauseMs] limit of the pause between publishes
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
    key: 'chaos',
    name: 'random kills of applications, NATS servers, forwarders and the service',
    seconds: 0,
    mayDuplicate: true,
    run: chaos,
  },
]
