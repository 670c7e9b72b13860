/**
 * Counts what a gateway that refuses one payload costs the other entries: each reply, each way to the service, as real
 * processes. Takes about 6 min.
 *
 *     npm run build && node test/faults/refused-payloads.mjs [--only PATH[,PATH] --replies NAME[,NAME]]
 *
 * Exits with 1 if a good entry was not delivered, if the first one took longer than 10 s, or if a service that refuses
 * everything got more than two requests a minute or caused a dead letter.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { startNatsServers } from '../nats/nats-servers.mjs'
import { lastingPort } from '../reusable-port.mjs'
import { nowMs } from './monotonic.mjs'

/** @typedef {{ status?: number, body?: unknown, headers?: Record<string, string> }} Reply without a status: resets the connection */
const HTML = '<html><body>Request blocked</body></html>'
const bodyOf = (/** @type {(string | number)[]} */ loc) => ({
  detail: [{ loc, msg: 'not allowed', type: 'value_error' }],
})
/** @type {Record<string, Reply>} */
const REPLIES = {
  ...Object.fromEntries(
    [401, 403, 404, 405, 406, 409, 410, 411, 413, 415, 451].map((status) => [status, { status, body: HTML }]),
  ),
  '422 body.extra': { status: 422, body: bodyOf(['body', 'extra']) },
  '422 field': { status: 422, body: bodyOf(['body', 'LIST', 'INDEX', 'message']) },
  '422 HTML': { status: 422, body: HTML },
  429: { status: 429, body: HTML },
  302: { status: 302, body: '', headers: { location: '/login' } },
  '200 HTML': { status: 200, body: HTML },
  '200 {}': { status: 200, body: {} },
  '200 counts': { status: 200, body: { accepted: 0, rejected: 0, message: '', errors: [] } },
  204: { status: 204 },
  reset: {},
}
/** A 2xx without a result counts as accepted (docs/delivery.md, "How replies are handled"), so its request is lost with all its entries. */
const COUNTS_AS_ACCEPTED = new Set([REPLIES['200 {}'], REPLIES['204']])
const PATHS = ['first', 'middle', 'alone', 'recovered', 'requestLogs', 'send', 'replay', 'forward', 'everything']
/** A 429 and a reset are failures of the service, which has no limit of one request a minute. */
const isTransient = (/** @type {string} */ name) => name === '429' || name === 'reset'

const CLI = fileURLToPath(new URL('../../dist/cjs/cli.js', import.meta.url))
const APP = fileURLToPath(new URL('refused-payloads-app.cjs', import.meta.url))
const CELLS_AT_ONCE = 12
/** After a reset or a 429, a batch is halved only after several attempts. */
const LIMIT_MS = 100_000
const FIRST_MS = 10_000
const MINUTES = 2

/** Gives the reply to each request that contains a bad entry, and accepts all others. */
class Gateway {
  /** @type {Map<string, Set<string>>} */
  good = new Map()
  requests = 0
  /** @type {number | undefined} */
  refusedAt
  /** @type {number | undefined} */
  firstMs
  refusesAll = false
  #server

  /** @param {Reply} reply */
  constructor(reply) {
    this.#server = createServer(async (request, response) => {
      const parts = await request.toArray()
      const raw = Buffer.concat(parts)
      const body = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString()
      this.requests += 1
      if (this.refusesAll || body.includes('bad-entry')) {
        this.refusedAt ??= nowMs()
        if (COUNTS_AS_ACCEPTED.has(reply)) this.#store(request.url, body)
        if (reply.status === undefined) return void request.socket.resetAndDestroy()
        const isJson = typeof reply.body === 'object'
        response.writeHead(reply.status, {
          'content-type': isJson ? 'application/json' : 'text/html',
          ...reply.headers,
        })
        return void response.end(isJson ? nameBad(JSON.stringify(reply.body), body) : reply.body)
      }
      const { logs, requests } = JSON.parse(body)
      const hasGood = this.#store(request.url, body)
      if (this.refusedAt !== undefined && hasGood) this.firstMs ??= nowMs() - this.refusedAt
      const accepted = (logs ?? requests ?? []).length
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ accepted, rejected: 0, message: '', errors: [] }))
    })
  }

  /** @param {string | undefined} path @param {string} body */
  #store(path = '', body) {
    const names = body.match(/good-\d+/g) ?? []
    const seen = this.good.get(path) ?? new Set()
    this.good.set(path, seen)
    for (const name of names) seen.add(name)
    return names.length > 0
  }

  /** The least number of good entries of an endpoint. */
  get delivered() {
    return Math.min(...[...this.good.values()].map(({ size }) => size), this.good.size === 0 ? 0 : Infinity)
  }

  /** @param {number} port */
  async listen(port) {
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  close() {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** @typedef {{ all: number, delivered: number, firstMs: number | undefined, dead: number, requests: number }} Cell */

/** @param {string} reply @param {string} body @returns {string} the reply, with the list and the index of the first bad entry */
function nameBad(reply, body) {
  const { logs, requests } = JSON.parse(body)
  const index = (logs ?? requests).findIndex((/** @type {unknown} */ entry) =>
    JSON.stringify(entry).includes('bad-entry'),
  )
  return reply.replace('LIST', logs === undefined ? 'requests' : 'logs').replace('"INDEX"', String(Math.max(index, 0)))
}

let streams = 0
/** @param {string} path @param {string} name @param {Awaited<ReturnType<typeof startNatsServers>> | undefined} nats @returns {Promise<Cell>} */
async function run(path, name, nats) {
  const gateway = new Gateway(/** @type {Reply} */ (REPLIES[name]))
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-refused-'))
  const port = await lastingPort()
  const stream = `REFUSED_${(streams += 1)}`
  const nats_env = {
    PINO_INGEST_NATS_SERVERS: nats?.urls.join(',') ?? '',
    PINO_INGEST_NATS_STREAM: stream,
  }
  const service = {
    PINO_INGEST_URL: `http://127.0.0.1:${port}/api/v1`,
    PINO_INGEST_API_KEY: 'any',
    PINO_INGEST_SPOOL_DIR: dir,
  }
  /** @type {import('node:child_process').ChildProcess[]} */
  const children = []
  const start = (/** @type {string[]} */ args, /** @type {Record<string, string>} */ env = service) => {
    const clean = Object.entries(process.env).filter(([key]) => !/^(?:PINO_INGEST_|NODE_ENV$)/.test(key))
    const child = spawn(process.execPath, args, { env: { ...Object.fromEntries(clean), ...env }, stdio: 'ignore' })
    children.push(child)
    return child
  }
  const leave = async () => {
    const child = start([APP, 'leave'])
    await once(child, 'exit')
  }
  let all = 40
  try {
    if (path === 'recovered' || path === 'replay') await leave()
    if (path === 'everything') gateway.refusesAll = true
    await gateway.listen(port)
    if (path === 'replay') {
      all = 10
      const child = start([CLI, 'spool', 'replay', '--all', '--timeout', '60'])
      await once(child, 'exit')
    } else if (path === 'send') {
      all = 99
      const lines = Array.from({ length: 100 }, (_, n) =>
        JSON.stringify({ level: 30, time: Date.now(), msg: n === 50 ? 'bad-entry' : `good-${n}` }),
      )
      writeFileSync(join(dir, 'app.log'), `${lines.join('\n')}\n`)
      start([CLI, 'send', join(dir, 'app.log'), '--state', join(dir, 'state')])
    } else if (path === 'forward') {
      await once(
        start(
          [
            CLI,
            'forward',
            'init',
            '--replicas',
            '1',
            '--max-bytes',
            '16mb',
            '--max-dead-bytes',
            '4mb',
            '--max-state-bytes',
            '4mb',
          ],
          { ...service, ...nats_env },
        ),
        'exit',
      )
      start([CLI, 'forward'], { ...service, ...nats_env })
      start([APP, 'middle'], { PINO_INGEST_SPOOL_DIR: dir, ...nats_env })
      all = 45
    } else {
      if (path === 'middle') all = 45
      if (path === 'recovered') all = 50
      if (path === 'alone') all = 0
      start([APP, path === 'recovered' ? 'good' : path === 'everything' ? 'middle' : path])
    }
    const startedAt = nowMs()
    const isTimed = path === 'alone' || path === 'everything'
    const limitMs = isTimed ? MINUTES * 60_000 : LIMIT_MS
    while (nowMs() - startedAt < limitMs && (isTimed || gateway.delivered < all || gateway.refusedAt === undefined))
      await sleep(100)
    // The bad entry becomes a dead letter soon after.
    if (!isTimed) await sleep(2_000)
    const counted = path === 'everything' ? 0 : all
    const dead = path === 'forward' && nats !== undefined ? await countDead(nats, stream) : countLines(dir)
    return { all: counted, delivered: gateway.delivered, firstMs: gateway.firstMs, dead, requests: gateway.requests }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    gateway.close()
    await sleep(100)
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Dead letters on disk. @param {string} dir */
function countLines(dir) {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((file) => /dead.*\.ndjson$/.test(file))
  return files.reduce((sum, file) => sum + readFileSync(join(dir, file), 'utf8').split('\n').length - 1, 0)
}

/** @param {Awaited<ReturnType<typeof startNatsServers>>} nats @param {string} stream */
async function countDead(nats, stream) {
  const state = await nats.nodes[0]?.streamState(`${stream}_DEAD`)
  return state?.messages ?? 0
}

const { values } = parseArgs({ options: { only: { type: 'string' }, replies: { type: 'string' } } })
const paths = values.only?.split(',') ?? PATHS
const names = values.replies?.split(',') ?? Object.keys(REPLIES)
const nats = paths.includes('forward') ? await startNatsServers() : undefined
/** @type {Map<string, Cell>} */
const cells = new Map()
const queue = paths
  .toSorted((a) => (a === 'everything' || a === 'alone' ? -1 : 1))
  .flatMap((path) => names.map((name) => ({ path, name })))
await Promise.all(
  Array.from({ length: CELLS_AT_ONCE }, async () => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift())
      cells.set(`${task.path} ${task.name}`, await run(task.path, task.name, nats))
  }),
)
await nats?.close()

/** @param {string} path @param {string} name @param {Cell} cell */
function isMissed(path, name, { all, delivered, firstMs = 0, dead, requests }) {
  if (path === 'everything' || path === 'alone') return dead > 0 || (!isTransient(name) && requests > 2 * MINUTES + 2)
  return delivered < all || firstMs > FIRST_MS
}
const lines = [`| reply | ${paths.join(' | ')} |`, `|---${'|---'.repeat(paths.length)}|`]
let misses = 0
for (const name of names) {
  const row = paths.map((path) => {
    const cell = /** @type {Cell} */ (cells.get(`${path} ${name}`))
    const { all, delivered, firstMs, dead, requests } = cell
    const isMiss = isMissed(path, name, cell)
    if (isMiss) misses += 1
    const seconds = firstMs === undefined ? '' : `${(firstMs / 1000).toFixed(1)} s, `
    return `${isMiss ? '**missed** ' : ''}${delivered}/${all}, ${seconds}${dead} dead, ${requests} req`
  })
  lines.push(`| ${name} | ${row.join(' | ')} |`)
}
process.stdout.write(`${lines.join('\n')}\n`)
process.exitCode = misses === 0 ? 0 : 1
