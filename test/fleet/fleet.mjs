/**
 * A fleet with NATS nodes, forwarders and applications as real processes, and a service with scripted faults.
 * Counts lost and duplicated entries, and finds the reason of each duplicate.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { CLIENT_HEADER, FaultServer } from '../faults/fault-server.mjs'
import { nowMs, until } from '../faults/monotonic.mjs'
import { App } from '../faults/run-app.mjs'
import { runCommand, startCommand } from '../nats/commands.mjs'
import { startNatsServers } from '../nats/nats-servers.mjs'
import { watchQueue } from '../nats/watch-queue.mjs'

const KEY = 'fleet-key-8ad2'
const DEAD_STREAM = 'PINO_INGEST_DEAD'
/** Time from the service's reply to the confirmed acknowledgement. If a forwarder is killed within it, its batch is delivered again. */
const ACKNOWLEDGE_MS = 500
/** `ack_wait` plus a margin for reconnecting. */
const REDELIVERED_MS = 60_000
const UNEXPLAINED = 'unexplained'
const KILLED = 'its forwarder was killed'
/** Servers that have lost one elect a leader within this time. Until then a forwarder cannot record what it has delivered. */
const ELECTION_MS = 20_000

/**
 * @typedef {object} Outcome
 * @property {number} expected
 * @property {number} lost
 * @property {number} duplicated entries that arrived again
 * @property {Record<string, number>} duplicates batches that arrived again, by reason
 * @property {number} deadLettered
 * @property {number} deliveredAfterMs from the end of the faults and of logging until the last entry was stored
 * @property {number} longestPauseMs longest time without a publish while applications logged
 * @property {string[]} wrong
 */

export class Fleet {
  /** @type {App[]} */
  apps = []
  /** @type {(import('../nats/commands.mjs').Process & { name: string })[]} */
  forwarders = []
  folder = mkdtempSync(join(tmpdir(), 'pino-ingest-fleet-'))
  server = new FaultServer(KEY, 50)
  /** Numbers of entries that must arrive. @type {Set<number>} */
  expected = new Set()
  longestPauseMs = 0
  servers
  queue

  /** @param {import('../nats/nats-servers.mjs').NatsServers} servers */
  constructor(servers) {
    this.servers = servers
    this.queue = watchQueue(servers)
  }

  /** Starts the servers and creates the streams, without forwarders. @param {1 | 3} nodes */
  static async start(nodes) {
    const fleet = new Fleet(await startNatsServers({ nodes }))
    try {
      await fleet.server.up()
      await fleet.init()
    } catch (error) {
      await fleet.close()
      throw error
    }
    return fleet
  }

  get #env() {
    return {
      PINO_INGEST_NATS_SERVERS: this.servers.urls.join(','),
      PINO_INGEST_SPOOL_DIR: join(this.folder, 'spool'),
    }
  }

  /** Creates missing streams. */
  async init() {
    const args = ['forward', 'init', '--replicas', String(this.servers.nodes.length), '--max-bytes', '1GiB']
    await runCommand(args, this.#env)
  }

  /** @param {string} name */
  async deleteStream(name) {
    const connection = await connect({ servers: this.servers.urls })
    await (await jetstreamManager(connection)).streams.delete(name)
    await connection.close()
  }

  startForwarder() {
    const name = `forwarder-${this.forwarders.length}`
    const forwarder = startCommand(['forward'], {
      ...this.#env,
      PINO_INGEST_URL: `${this.server.origin}/api/v1`,
      PINO_INGEST_API_KEY: KEY,
      PINO_INGEST_HEADERS: JSON.stringify({ [CLIENT_HEADER]: name }),
    })
    this.forwarders.push(Object.assign(forwarder, { name }))
  }

  get runningForwarders() {
    return this.forwarders.filter(({ isRunning }) => isRunning)
  }

  /** @param {Omit<import('../faults/run-app.mjs').Plan, 'target' | 'options' | 'progress'>} plan */
  startApp(plan) {
    const progress = join(this.folder, `progress-${this.apps.length}`)
    const app = new App({ target: 'pino-ingest', options: {}, progress, ...plan }, this.#env)
    this.apps.push(app)
    return app
  }

  /** Resolves when an application has logged everything. All its records must arrive. @param {App} app @param {number} first */
  async logged(app, first) {
    await app.done
    this.#watchPause()
    this.expect(first, app.loggedAt())
  }

  /** @param {number} first @param {number} last inclusive */
  expect(first, last) {
    for (let n = first; n <= last; n += 1) this.expected.add(n)
  }

  #watchPause() {
    this.longestPauseMs = Math.max(this.longestPauseMs, this.queue.longestPauseMs())
  }

  /** Starts one more application, which delivers the entries on disk. Ends when all have arrived, or none for longer than a redelivery. */
  async settle() {
    this.#watchPause()
    const app = this.startApp({ count: 0, end: 'hold' })
    await app.event('ready')
    const { stored } = this.server
    let calls = -1
    let at = nowMs()
    const isDone = () => [...this.expected].every((n) => stored.has(n)) && this.queue.waiting() === 0
    while (!isDone() && nowMs() - at < REDELIVERED_MS) {
      if (this.server.calls.length !== calls) {
        calls = this.server.calls.length
        at = nowMs()
      }
      await sleep(100)
    }
    app.kill('SIGTERM')
    await app.done
    await until(() => this.queue.waiting() === 0, REDELIVERED_MS)
  }

  /** @param {number} from end of the faults and of logging */
  async outcome(from) {
    const { stored, first, violations } = this.server
    const dead = await (await this.servers.leaderOf(DEAD_STREAM)).streamState(DEAD_STREAM)
    const lost = [...this.expected].filter((n) => !stored.has(n))
    const { duplicates, unexplained } = this.#sentAgain()
    const errors = this.apps.flatMap(({ events }) =>
      events.filter(({ name }) => name === 'error').map(({ payload }) => `an error event: ${payload}`),
    )
    const waiting = this.queue.waiting()
    /** @type {Outcome} */
    return {
      expected: this.expected.size,
      lost: lost.length,
      duplicated: [...stored.values()].reduce((copies, times) => copies + times - 1, 0),
      duplicates,
      deadLettered: dead?.messages ?? 0,
      deliveredAfterMs: Math.round([...first.values()].reduce((last, { at }) => Math.max(last, at - from), 0)),
      longestPauseMs: Math.round(this.longestPauseMs),
      wrong: [
        ...(lost.length === 0 ? [] : [`lost: ${lost.length} from ${lost[0]} to ${lost.at(-1)}`]),
        ...unexplained,
        ...(waiting === 0 ? [] : [`${waiting} batches stay in the queue`]),
        ...violations,
        ...errors,
      ],
    }
  }

  /** Counts duplicated batches by reason. */
  #sentAgain() {
    /** @type {Map<string, import('../faults/fault-server.mjs').Call[]>} */
    const byBatch = new Map()
    for (const call of this.server.calls) {
      if (call.batchId !== undefined && call.stored > 0)
        byBatch.set(call.batchId, [...(byBatch.get(call.batchId) ?? []), call])
    }
    /** @type {Record<string, number>} */
    const duplicates = {}
    /** @type {string[]} */
    const unexplained = []
    for (const calls of byBatch.values()) {
      for (const [index, earlier] of calls.slice(0, -1).entries()) {
        const reason = this.#reasonOf(earlier)
        const next = /** @type {import('../faults/fault-server.mjs').Call} */ (calls[index + 1])
        duplicates[reason] = (duplicates[reason] ?? 0) + 1
        if (reason === UNEXPLAINED)
          unexplained.push(
            `batch ${earlier.batchId} came from ${earlier.client}, and ${Math.round(next.at - earlier.at)} ms later from ${next.client}`,
          )
      }
    }
    return { duplicates, unexplained }
  }

  /** @param {import('../faults/fault-server.mjs').Call} call */
  #reasonOf({ client, answeredAt = Infinity }) {
    const killed = this.forwarders.find(({ name }) => name === client)?.killed
    if (killed?.signal === 'SIGKILL') {
      const failedAt = this.servers.nodes.flatMap((node) => node.failedAt)
      const isInElection = failedAt.some((at) => at < killed.at && killed.at < at + ELECTION_MS)
      if (answeredAt > killed.at - (isInElection ? ELECTION_MS : ACKNOWLEDGE_MS)) return KILLED
    }
    return answeredAt === Infinity ? 'it had no reply' : UNEXPLAINED
  }

  async close() {
    this.queue.stop()
    for (const app of this.apps) if (app.isRunning) app.kill('SIGKILL')
    await Promise.all([...this.apps.map(({ done }) => done), ...this.forwarders.map((one) => one.kill())])
    await this.server.down()
    await this.servers.close()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
