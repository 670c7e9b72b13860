/**
 * Real NATS servers with JetStream, on loopback and in a scratch folder: one, or a cluster of three. They can be killed, suspended,
 * restarted and reloaded.
 *
 * Plain JavaScript, since the demo, the fault runs and the benchmarks also use it. Leaders are read from the servers' monitoring,
 * which needs no credentials.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { nowMs } from '../faults/monotonic.mjs'
import { lastingPort } from '../reusable-port.mjs'

const OLDEST = '2.10.23'
/** Shown if there is no nats-server. */
export const HOW_TO_GET_NATS_SERVER = `This needs nats-server ${OLDEST} or later: run test/nats/fetch-nats-server.sh (Debian, Ubuntu), or set NATS_SERVER_BIN to one (https://nats.io/download/).`

const FETCH = fileURLToPath(new URL('fetch-nats-server.sh', import.meta.url))
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/pino-ingest', import.meta.url))
/** The first ones are not in every user's PATH. */
const FOLDERS = ['/usr/sbin', '/usr/bin', '/usr/local/bin', CACHE]
/**
 * A server fails to start if another process takes one of its ports first. A new cluster of three sometimes elects a leader among two,
 * and nats-server 2.10.27 then never adds the third: measured in 2 of 60 starts.
 */
const MOST_ATTEMPTS = 3
const FORMED_TIMEOUT_MS = 20_000
const POLL_MS = 50
const READY_TIMEOUT_MS = 60_000
const PATIENCE_S = 60
/** Limit of a server's captured output. */
const MAX_LOG_CHARS = 200_000

/**
 * NATS_SERVER_BIN, of any version; else the first server of version 2.10.23 or later. If NATS_SERVER_BIN is wrong, no other server is used instead.
 *
 * @param {Readonly<Record<string, string | undefined>>} [env]
 * @param {(path: string) => string | undefined} [versionOf] undefined for no server
 * @returns {string | undefined}
 */
export function findNatsServer(env = process.env, versionOf = askVersion) {
  const given = env['NATS_SERVER_BIN'] ?? ''
  if (given !== '') return versionOf(given) === undefined ? undefined : given
  const folders = [...(env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''), ...FOLDERS]
  const isRecent = (/** @type {string} */ path) =>
    (versionOf(path) ?? '').localeCompare(OLDEST, 'en', { numeric: true }) >= 0
  return folders.map((folder) => join(folder, 'nats-server')).find(isRecent)
}

/** As `findNatsServer()`; without a server it fetches one, and says so on stderr. */
export function findOrFetchNatsServer() {
  const found = findNatsServer()
  if (found !== undefined || (process.env['NATS_SERVER_BIN'] ?? '') !== '') return found
  spawnSync(FETCH, { stdio: ['ignore', 'ignore', 'inherit'] })
  return findNatsServer()
}

/** @param {string} path @returns {string | undefined} */
function askVersion(path) {
  return /[\d.]+/.exec(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[0]
}

/**
 * @typedef {object} ServerOptions
 * @property {1 | 3} [nodes] default 1
 * @property {string} [config] additional server configuration, such as `max_payload: 65536` or `authorization { … }`
 * @property {string} [maxStore] storage of JetStream on each node, such as `1GB`
 */

/**
 * Resolves when all nodes serve JetStream.
 *
 * @param {ServerOptions} [options]
 * @returns {Promise<NatsServers>}
 * @throws if there is no nats-server, with instructions
 */
export async function startNatsServers(options = {}) {
  for (let attempt = 1; ; attempt += 1) {
    const servers = await createServers(options)
    try {
      await servers.startAll(FORMED_TIMEOUT_MS)
      return servers
    } catch (error) {
      await servers.close()
      if (attempt === MOST_ATTEMPTS) throw error
    }
  }
}

/** @param {ServerOptions} options @returns {Promise<NatsServers>} none of them runs yet */
async function createServers({ nodes = 1, config = '', maxStore = '10GB' }) {
  const binary = findNatsServer()
  if (binary === undefined) throw new Error(HOW_TO_GET_NATS_SERVER)
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-nats-'))
  /** @type {number[]} */
  const ports = []
  while (ports.length < nodes * 3) {
    const port = await lastingPort()
    if (!ports.includes(port)) ports.push(port)
  }
  const routes = nodes === 1 ? [] : ports.slice(nodes, 2 * nodes)
  const members = Array.from(
    { length: nodes },
    (_, index) =>
      new NatsNode({
        binary,
        folder: join(folder, `n${index + 1}`),
        name: `n${index + 1}`,
        port: /** @type {number} */ (ports[index]),
        monitorPort: /** @type {number} */ (ports[2 * nodes + index]),
        routes,
        routePort: routes[index],
        maxStore,
        config,
      }),
  )
  return new NatsServers(folder, members)
}

/** All servers of one cluster. */
export class NatsServers {
  #folder

  /** @param {string} folder @param {readonly NatsNode[]} nodes */
  constructor(folder, nodes) {
    this.#folder = folder
    this.nodes = nodes
  }

  /** Value for `nats.servers`. */
  get urls() {
    return this.nodes.map(({ url }) => url)
  }

  /** Starts nodes that are not running. Resolves when all serve JetStream. @param {number} [timeoutMs] */
  async startAll(timeoutMs) {
    await Promise.all(this.nodes.map((node) => node.start()))
    await this.ready(timeoutMs)
  }

  /** Resolves when every node reports that its JetStream is current. @param {number} [timeoutMs] */
  async ready(timeoutMs = READY_TIMEOUT_MS) {
    await until(
      async () => (await Promise.all(this.nodes.map((node) => node.isReady()))).every(Boolean),
      timeoutMs,
      () => this.nodes.map(({ name, log }) => `${name}: ${log.slice(-2_000)}`).join('\n'),
    )
  }

  /** @param {NodeJS.Signals} [signal] default SIGKILL */
  async killAll(signal = 'SIGKILL') {
    await Promise.all(this.nodes.map((node) => node.kill(signal)))
  }

  /** Reloads with another `config`. Clients that are no longer allowed are disconnected. @param {string} config */
  async reload(config) {
    await Promise.all(this.nodes.map((node) => node.reload(config)))
  }

  /** Waits for the node that leads a stream. @param {string} stream @returns {Promise<NatsNode>} */
  async leaderOf(stream) {
    /** @type {NatsNode | undefined} */
    let leader
    await until(
      async () => {
        const states = await Promise.all(this.nodes.map((node) => node.streamState(stream)))
        leader = this.nodes[states.findIndex((state) => state?.isLeader === true)]
        return leader !== undefined
      },
      READY_TIMEOUT_MS,
      () => `no leader of ${stream}`,
    )
    return /** @type {NatsNode} */ (/** @type {unknown} */ (leader))
  }

  /** Kills them and deletes their folder. */
  async close() {
    await this.killAll()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

/**
 * @typedef {object} NodeOptions
 * @property {string} binary
 * @property {string} folder
 * @property {string} name
 * @property {number} port
 * @property {number} monitorPort
 * @property {readonly number[]} routes cluster ports of all nodes; empty without a cluster
 * @property {number | undefined} routePort
 * @property {string} maxStore
 * @property {string} config
 */

/** @typedef {{ isLeader: boolean, messages: number, lastSequence: number }} StreamState */

/** One server. Its files persist across restarts. */
export class NatsNode {
  /** Output of all its runs. */
  log = ''
  /** Times of its kills and suspensions, by the monotonic clock. @type {number[]} */
  failedAt = []
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child
  #options

  /** @param {NodeOptions} options */
  constructor(options) {
    this.#options = options
    this.name = options.name
    this.port = options.port
    this.url = `nats://127.0.0.1:${options.port}`
    this.monitorUrl = `http://127.0.0.1:${options.monitorPort}`
  }

  get pid() {
    return this.#child?.pid
  }

  get isRunning() {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Resolves when it responds. Its JetStream may still wait for other nodes. */
  async start() {
    if (this.isRunning) return
    this.#writeConfig()
    const child = (this.#child = spawn(this.#options.binary, ['-c', this.#configFile], {
      stdio: ['ignore', 'ignore', 'pipe'],
    }))
    // No server may outlive this process.
    const kill = () => void child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    child.stderr?.on('data', (chunk) => {
      this.log = `${this.log}${chunk}`.slice(-MAX_LOG_CHARS)
    })
    const failed = once(child, 'error').then(([error]) => Promise.reject(error))
    const answers = until(
      async () => {
        if (!this.isRunning) throw new Error(`nats-server ended: ${this.log.slice(-2_000)}`)
        return (await this.#monitor('varz')) !== undefined
      },
      READY_TIMEOUT_MS,
      () => this.log.slice(-2_000),
    )
    await Promise.race([answers, failed])
  }

  /** Resolves when the process has ended. @param {NodeJS.Signals} [signal] default SIGKILL */
  async kill(signal = 'SIGKILL') {
    const child = this.#child
    if (child === undefined || !this.isRunning) return
    const ended = once(child, 'exit')
    this.failedAt.push(nowMs())
    child.kill(signal)
    // A suspended process receives other signals only after SIGCONT.
    if (signal !== 'SIGKILL') child.kill('SIGCONT')
    await ended
  }

  /** @param {NodeJS.Signals} [signal] default SIGTERM, like `systemctl restart` */
  async restart(signal = 'SIGTERM') {
    await this.kill(signal)
    await this.start()
  }

  /** Suspends it: connections stay open without replies. */
  async freeze() {
    const { pid } = this
    if (pid === undefined || !this.isRunning) return
    this.failedAt.push(nowMs())
    this.#child?.kill('SIGSTOP')
    // On a busy machine its threads run until one of them has received the signal.
    await until(
      () => isSuspended(pid),
      READY_TIMEOUT_MS,
      () => `${this.name} goes on`,
    )
  }

  thaw() {
    this.#child?.kill('SIGCONT')
  }

  /** @param {string} config */
  async reload(config) {
    this.#options = { ...this.#options, config }
    this.#writeConfig()
    if (!this.isRunning) return
    const reloads = () => this.log.split('Reloaded server configuration').length
    const before = reloads()
    this.#child?.kill('SIGHUP')
    await until(
      () => reloads() > before,
      READY_TIMEOUT_MS,
      () => this.log.slice(-2_000),
    )
  }

  /** Whether its JetStream is available and current. */
  async isReady() {
    if (!this.isRunning) return false
    const [health, jetStream] = await Promise.all([this.#monitor('healthz'), this.#monitor('jsz')])
    const { leader = '', replicas = [] } = jetStream?.meta_cluster ?? {}
    const hasLeader = this.#options.routes.length === 0 || leader !== ''
    // A leader that does not know the others yet has no place for a stream.
    const knowsOthers =
      leader !== this.name || replicas.filter(({ current }) => current).length === this.#options.routes.length - 1
    return health?.status === 'ok' && jetStream !== undefined && hasLeader && knowsOthers
  }

  /**
   * State of a stream on this node; undefined if the node does not respond or has no such stream.
   *
   * @param {string} stream
   * @returns {Promise<StreamState | undefined>}
   */
  async streamState(stream) {
    if (!this.isRunning) return undefined
    const jetStream = await this.#monitor('jsz?accounts=true&streams=true')
    for (const account of jetStream?.account_details ?? []) {
      const found = account.stream_detail?.find((/** @type {{ name: string }} */ { name }) => name === stream)
      if (found === undefined) continue
      const { messages, last_seq: lastSequence } = found.state
      const isLeader = this.#options.routes.length === 0 || found.cluster?.leader === this.name
      return { isLeader, messages, lastSequence }
    }
    return undefined
  }

  get #configFile() {
    return join(this.#options.folder, 'server.conf')
  }

  #writeConfig() {
    const { folder, name, port, monitorPort, routes, routePort, maxStore, config } = this.#options
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const lines = [
      `server_name: ${name}`,
      'host: 127.0.0.1',
      `port: ${port}`,
      `http: "127.0.0.1:${monitorPort}"`,
      `jetstream { store_dir: ${JSON.stringify(join(folder, 'data'))}, max_mem: 64MB, max_file: ${maxStore} }`,
    ]
    if (routePort !== undefined) {
      // All, its own too: a new cluster elects its first leader among as many nodes as there are routes.
      const urls = routes.map((one) => `"nats://127.0.0.1:${one}"`)
      lines.push(`cluster { name: fleet, host: 127.0.0.1, port: ${routePort}, routes: [${urls.join(', ')}] }`)
    }
    writeFileSync(this.#configFile, `${[...lines, withPatience(config)].join('\n')}\n`, { mode: 0o600 })
  }

  /** @param {string} path @returns {Promise<any>} undefined without a reply */
  async #monitor(path) {
    try {
      const response = await fetch(`${this.monitorUrl}/${path}`, { signal: AbortSignal.timeout(2_000) })
      return await response.json()
    } catch {
      return undefined // no reply
    }
  }
}

/** Raises the authentication timeout of 2 s, which clients on a busy machine may exceed. @param {string} config */
function withPatience(config) {
  if (/^(?:operator|accounts):/m.test(config)) return `${config}\nauthorization { timeout: ${PATIENCE_S} }`
  return config.replace(/^(authorization|tls) \{/gm, `$1 { timeout: ${PATIENCE_S}, `)
}

/** Whether all threads of a process are suspended. Assumed on systems other than Linux. @param {number} pid */
function isSuspended(pid) {
  const tasks = `/proc/${pid}/task`
  if (!existsSync(tasks)) return true
  try {
    return readdirSync(tasks).every((task) => /^State:\s+T/m.test(readFileSync(join(tasks, task, 'status'), 'utf8')))
  } catch {
    return false // a thread ended during the check
  }
}

/**
 * @param {() => boolean | Promise<boolean>} condition
 * @param {number} timeoutMs
 * @param {() => string} explain
 */
async function until(condition, timeoutMs, explain) {
  const endsAt = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > endsAt) throw new Error(`not within ${timeoutMs} ms: ${explain()}`)
    await sleep(POLL_MS)
  }
}
