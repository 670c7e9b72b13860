/**
 * A fleet with NATS nodes, forwarders and applications as real processes, and a service with scripted faults.
 * Counts lost and duplicated entries, and finds the reason of each duplicate.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { CLIENT_HEADER, FaultServer } from '../faults/fault-server.mjs'
import { nowMs, until } from '../faults/monotonic.mjs'
import { App } from '../faults/run-app.mjs'
import { startNatsServers } from '../nats/nats-servers.mjs'
import { watchQueue } from '../nats/watch-queue.mjs'

const CLI = fileURLToPath(new URL('../../dist/cjs/cli.js', import.meta.url))
const KEY = 'fleet-key-8ad2'
const STREAM = 'PINO_INGEST'
const DEAD_STREAM = 'PINO_INGEST_DEAD'
/** Time from the service's reply to the confirmed acknowledgement. If a forwarder is killed within it, its batch is delivered again. */
const ACKNOWLEDGE_MS = 500
/** `ack_wait` plus a margin. For a message left behind by a killed node it starts when a forwarder finds the message. */
const REDELIVERED_MS = 60_000
const UNEXPLAINED = 'unexplained'
const KILLED = 'its forwarder was killed'
const KILLED_IN_ELECTION = 'its forwarder was killed while the servers elected a leader'
/** Servers that have lost one elect a leader within this time. Until then a forwarder cannot record what it has delivered. */
const ELECTION_MS = 20_000
const MAX_CHARS = 100_000

/**
 * @typedef {object} Outcome
 * @property {number} expected
 * @property {number} lost neither stored nor in the queue
 * @property {number} undelivered in the queue, but no longer delivered
 * @property {number} duplicated entries that arrived again
 * @property {Record<string, number>} duplicates batches that arrived again, by reason
 * @property {number} deadLettered
 * @property {number} longestRedeliveryMs from the kill of a forwarder until another one delivered its batch in flight
 * @property {number} longestPauseMs longest time without a publish while applications logged
 * @property {string[]} wrong
 */

export class Fleet {
  /** @type {App[]} */
  apps = []
  /** @type {Forwarder[]} */
  forwarders = []
  folder = mkdtempSync(join(tmpdir(), 'pino-ingest-fleet-'))
  server = new FaultServer({ subject: 'pino-ingest', replyGraceMs: 50, key: KEY })
  /** Numbers of entries that must arrive. @type {Set<number>} */
  expected = new Set()
  longestPauseMs = 0
  /** Ranges of record numbers of each application that must arrive. @type {{ first: number, last: number }[]} */
  #runs = []
  servers
  queue

  /** @param {import('../nats/nats-servers.mjs').NatsServers} servers */
  constructor(servers) {
    this.servers = servers
    this.queue = watchQueue(servers)
  }

  /** Starts the servers and creates the streams, without forwarders. @param {{ nodes?: 1 | 3 }} [options] */
  static async start({ nodes = 3 } = {}) {
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

  get #natsEnv() {
    return {
      PINO_INGEST_NATS_SERVERS: this.servers.urls.join(','),
      PINO_INGEST_SPOOL_DIR: join(this.folder, 'spool'),
    }
  }

  /** Creates missing streams. */
  async init() {
    const replicas = String(this.servers.nodes.length)
    const init = this.#command('init', ['forward', 'init', '--replicas', replicas, '--max-bytes', '1GiB'])
    await init.done
    if (init.child.exitCode !== 0) throw new Error(`forward init ended with ${init.child.exitCode}: ${init.said}`)
  }

  startForwarder() {
    const name = `forwarder-${this.forwarders.length}`
    const forwarder = this.#command(name, ['forward'], {
      PINO_INGEST_URL: `${this.server.origin}/api/v1`,
      PINO_INGEST_API_KEY: KEY,
      PINO_INGEST_HEADERS: JSON.stringify({ [CLIENT_HEADER]: name }),
    })
    this.forwarders.push(forwarder)
    return forwarder
  }

  /** @param {string} name @param {readonly string[]} args @param {Record<string, string>} [more] */
  #command(name, args, more = {}) {
    return new Forwarder(name, args, { ...this.#natsEnv, ...more })
  }

  /** @param {Omit<import('../faults/run-app.mjs').Plan, 'target' | 'options' | 'progress'>} plan */
  startApp(plan) {
    const progress = join(this.folder, `progress-${this.apps.length}`)
    const app = new App({ target: 'pino-ingest', options: {}, progress, ...plan }, this.#natsEnv)
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
    this.#runs.push({ first, last })
    for (let n = first; n <= last; n += 1) this.expected.add(n)
  }

  /** Describes lost records. The last ones of a killed application may not be on disk. @param {readonly number[]} lost */
  #describeLost(lost) {
    return this.#runs.flatMap(({ first, last }) => {
      const own = lost.filter((n) => n >= first && n <= last)
      return own.length === 0
        ? []
        : [`lost: ${own.length} from ${own[0]} to ${own.at(-1)}, of ${first} to ${last} of one application`]
    })
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

  /** @param {{ isDead?: (n: number) => boolean }} [options] `isDead`: these must be dead letters */
  async outcome({ isDead = () => false } = {}) {
    const { stored, violations } = this.server
    const dead = (await Promise.all(this.servers.nodes.map((node) => node.streamState(DEAD_STREAM)))).find(
      (state) => state?.isLeader === true,
    )
    const stuck = await this.#inQueue()
    const lost = [...this.expected].filter((n) => !stored.has(n) && !isDead(n) && !stuck.has(n))
    const undelivered = [...stuck].filter((n) => !stored.has(n))
    const { duplicates, unexplained, longestRedeliveryMs } = this.#sentAgain()
    const errors = this.apps.flatMap(({ events }) =>
      events.filter(({ name }) => name === 'error').map(({ payload }) => `an error event: ${payload}`),
    )
    /** @type {Outcome} */
    return {
      expected: this.expected.size,
      lost: lost.length,
      undelivered: undelivered.length,
      duplicated: [...stored.values()].reduce((copies, times) => copies + times - 1, 0),
      duplicates,
      deadLettered: dead?.messages ?? 0,
      longestRedeliveryMs: Math.round(longestRedeliveryMs),
      longestPauseMs: Math.round(this.longestPauseMs),
      wrong: [
        ...this.#describeLost(lost),
        ...unexplained,
        ...(this.queue.waiting() === 0
          ? []
          : [
              `${this.queue.waiting()} batches stay in the queue, with ${undelivered.length} entries that were not delivered`,
            ]),
        ...violations,
        ...errors,
      ],
    }
  }

  /** Numbers of the entries in the queue. @returns {Promise<Set<number>>} */
  async #inQueue() {
    const numbers = new Set()
    if (this.queue.waiting() === 0) return numbers
    const connection = await connect({ servers: this.servers.urls })
    try {
      const { streams } = await jetstreamManager(connection)
      const { state } = await streams.info(STREAM)
      for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
        const message = await streams.getMessage(STREAM, { next_by_subj: '>', seq }).catch(() => null)
        if (message === null) break
        ;({ seq } = message)
        for (const [, n] of message.string().matchAll(/n=(\d+);/g)) numbers.add(Number(n))
      }
    } finally {
      await connection.close()
    }
    return numbers
  }

  /** Counts duplicated batches by reason, and measures the redelivery after a kill of a forwarder. */
  #sentAgain() {
    /** @type {Map<string, import('../faults/fault-server.mjs').Call[]>} */
    const byBatch = new Map()
    for (const call of this.server.calls) {
      if (call.batchId !== undefined) byBatch.set(call.batchId, [...(byBatch.get(call.batchId) ?? []), call])
    }
    const serversFailedAt = this.servers.nodes.flatMap(({ failedAt }) => failedAt)
    const killedAt = new Map(this.forwarders.map(({ name, killedAt: at }) => [name, at]))
    /** @type {Record<string, number>} */
    const duplicates = {}
    /** @type {string[]} */
    const unexplained = []
    let longestRedeliveryMs = 0
    for (const calls of byBatch.values()) {
      for (const [index, earlier] of calls.slice(0, -1).entries()) {
        const diedAt = killedAt.get(earlier.client ?? '')
        const reason = reasonOf(earlier, diedAt, serversFailedAt)
        const next = /** @type {import('../faults/fault-server.mjs').Call} */ (calls[index + 1])
        if (
          (reason === KILLED || reason === KILLED_IN_ELECTION) &&
          diedAt !== undefined &&
          next.client !== earlier.client
        )
          longestRedeliveryMs = Math.max(longestRedeliveryMs, next.at - diedAt)
        if (earlier.stored > 0 && calls.slice(index + 1).some(({ stored }) => stored > 0))
          duplicates[reason] = (duplicates[reason] ?? 0) + 1
        if (reason === UNEXPLAINED && next.stored > 0)
          unexplained.push(
            `batch ${earlier.batchId} came from ${earlier.client}, and ${Math.round(next.at - earlier.at)} ms later from ${next.client}; ${this.#endOf(earlier)}`,
          )
      }
    }
    return { duplicates, unexplained, longestRedeliveryMs }
  }

  /** Describes the end of the forwarder that sent a request. @param {import('../faults/fault-server.mjs').Call} call */
  #endOf({ client, answeredAt = 0 }) {
    const ended = this.forwarders.find(({ name }) => name === client)?.ended
    return ended === undefined
      ? `${client} was not ended`
      : `${client} was ended by ${ended.signal} ${Math.round(ended.at - answeredAt)} ms after the reply`
  }

  async close() {
    this.queue.stop()
    for (const app of this.apps) if (app.isRunning) app.kill('SIGKILL')
    await Promise.all([...this.apps.map(({ done }) => done), ...this.forwarders.map((one) => one.kill('SIGKILL'))])
    await this.server.down()
    await this.servers.close()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** @param {import('../faults/fault-server.mjs').Call} call @param {number | undefined} killedAt @param {readonly number[]} serversFailedAt */
function reasonOf({ answeredAt }, killedAt, serversFailedAt) {
  if (killedAt !== undefined) {
    if ((answeredAt ?? Infinity) > killedAt - ACKNOWLEDGE_MS) return KILLED
    const isInElection = serversFailedAt.some((at) => at < killedAt && killedAt < at + ELECTION_MS)
    if (isInElection && (answeredAt ?? Infinity) > killedAt - ELECTION_MS) return KILLED_IN_ELECTION
  }
  return answeredAt === undefined ? 'it had no reply' : UNEXPLAINED
}

/** @type {Set<Forwarder>} */
const running = new Set()
// No forwarder may outlive this process.
process.once('exit', () => {
  for (const { child } of running) child.kill('SIGKILL')
})

/** A process of the CLI. */
class Forwarder {
  said = ''
  /** Time of the kill on the monotonic clock. @type {number | undefined} */
  killedAt
  /** Signal that ended it, and its time. @type {{ signal: NodeJS.Signals, at: number } | undefined} */
  ended

  /** @param {string} name @param {readonly string[]} args @param {Record<string, string>} env */
  constructor(name, args, env) {
    const clean = Object.entries(process.env).filter(([key]) => !/^(?:PINO_INGEST_|NODE_ENV$|VITEST)/.test(key))
    this.name = name
    this.child = spawn(process.execPath, [CLI, ...args], {
      env: { ...Object.fromEntries(clean), ...env },
      stdio: 'pipe',
    })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.on('data', (chunk) => {
        this.said = `${this.said}${chunk}`.slice(-MAX_CHARS)
      })
    }
    running.add(this)
    /** @type {Promise<void>} */
    this.done = once(this.child, 'close').then(() => void running.delete(this))
  }

  get isRunning() {
    return this.child.exitCode === null && this.child.signalCode === null
  }

  /** @param {NodeJS.Signals} signal */
  async kill(signal) {
    if (this.isRunning) {
      this.ended = { signal, at: nowMs() }
      if (signal === 'SIGKILL') this.killedAt = this.ended.at
      this.child.kill(signal)
    }
    await this.done
  }
}
