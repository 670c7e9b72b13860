/**
 * [own process] Replaces every service: speaks each peer's protocol, and only counts the entries. It can delay its
 * replies, slow down, and refuse requests under load.
 *
 * It receives JSON messages: `{ begin: Service }` before a run, `{ awaits: entries, quietMs, limitMs }` to wait until
 * they have arrived or nothing has arrived for `quietMs`, `{ settleMs }` at the end; `withDeliveries` adds the time
 * of each request to the reply.
 */
import { createServer } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { cpuUs } from '../tools/measure.mjs'
import { MarkCounter, PROTOCOLS, markOf } from './protocols.mjs'

/**
 * @typedef {object} Service
 * @property {string} peer whose protocol to use
 * @property {number} delayMs until it answers
 * @property {number} [capacity] concurrent requests answered in `delayMs`; with more, each waits proportionally
 *   longer
 * @property {number} [refusesAbove] concurrent requests above which it answers 503
 *
 * @typedef {object} Seen
 * @property {number} entries
 * @property {number} requests that were accepted
 * @property {number} refused
 * @property {number} maxInFlight
 * @property {string} lastAnswerNs by the monotonic clock that all processes of the machine share
 * @property {number} cpuUs of this process since the start of the run
 * @property {[number, number][]} [deliveries] ms of that clock, and the number of entries in the request that arrived
 *   then
 * @property {[number, number][]} inFlight ms since the first request, and the maximum of concurrent requests around
 *   that time
 */

/** Compressed bodies are counted after this idle time: a real service would not use the sender's CPU for it. */
const IDLE_MS = 25
const MOST_SETTLE_MS = 3000
const MAX_POINTS = 400

class Run {
  #service
  #protocol
  #mark
  #perEntry
  #entries = 0
  #requests = 0
  #refused = 0
  #inFlight = 0
  #maxInFlight = 0
  #firstNs = 0n
  #lastArrivalNs = process.hrtime.bigint()
  #lastAnswerNs = 0n
  /** @type {[number, number][]} */
  #arrivals = []
  #cpu = process.cpuUsage()
  /** @type {{ body: Buffer, atMs: number }[]} */
  #uncounted = []
  /** @type {[number, number][]} */
  #deliveries = []

  /** @param {Service} service */
  constructor(service) {
    this.#service = service
    this.#protocol = /** @type {import('./protocols.mjs').Protocol} */ (PROTOCOLS[service.peer])
    const { text, perEntry } = markOf(this.#protocol)
    this.#mark = Buffer.from(text)
    this.#perEntry = perEntry
  }

  get entries() {
    return this.#entries
  }

  get quietMs() {
    return Number(process.hrtime.bigint() - this.#lastArrivalNs) / 1e6
  }

  /** Idle time starts now: an application may take seconds until its first request. */
  listens() {
    this.#lastArrivalNs = process.hrtime.bigint()
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  take(request, response) {
    const { delayMs, capacity = Infinity, refusesAbove = Infinity } = this.#service
    this.#arrives()
    response.once('close', () => {
      this.#inFlight -= 1
    })
    if (this.#inFlight > refusesAbove) {
      this.#refused += 1
      request.resume().on('end', () => response.writeHead(503).end())
      return
    }
    const waitMs = delayMs * Math.max(1, this.#inFlight / capacity)
    this.#read(request, (entries) => {
      if (waitMs === 0) this.#answer(response, entries)
      else setTimeout(() => this.#answer(response, entries), waitMs)
    })
  }

  #arrives() {
    const now = process.hrtime.bigint()
    if (this.#firstNs === 0n) this.#firstNs = now
    this.#lastArrivalNs = now
    this.#inFlight += 1
    this.#maxInFlight = Math.max(this.#maxInFlight, this.#inFlight)
    this.#arrivals.push([Number(now - this.#firstNs) / 1e6, this.#inFlight])
  }

  /** @param {import('node:http').IncomingMessage} request @param {(entries: number) => void} onEnd */
  #read(request, onEnd) {
    const isCompressed = request.headers['content-encoding'] === 'gzip'
    const counter = new MarkCounter(this.#mark)
    /** @type {Buffer[]} */
    const pieces = []
    request.on('data', (/** @type {Buffer} */ piece) => (isCompressed ? pieces.push(piece) : counter.write(piece)))
    request.on('end', () => {
      const atMs = Number(process.hrtime.bigint()) / 1e6
      if (isCompressed) this.#uncounted.push({ body: Buffer.concat(pieces), atMs })
      onEnd(this.#add(counter, atMs))
    })
  }

  /** @param {MarkCounter} counter @param {number} atMs time of arrival @returns {number} */
  #add({ count }, atMs) {
    const entries = count / this.#perEntry
    this.#deliveries.push([atMs, entries])
    this.#entries += entries
    return entries
  }

  /** @param {import('node:http').ServerResponse} response @param {number} entries */
  #answer(response, entries) {
    const { status, headers = {}, body } = this.#protocol
    const text = body(entries)
    this.#requests += 1
    response
      .writeHead(status, { ...headers, ...(text !== '' && { 'content-length': Buffer.byteLength(text) }) })
      .end(text)
    this.#lastAnswerNs = process.hrtime.bigint()
  }

  /** Counts one body at a time, so that a request that arrives meanwhile does not wait for all of them. */
  countWhenIdle() {
    if (this.quietMs < IDLE_MS || this.#inFlight > 0) return
    const next = this.#uncounted.shift()
    if (next === undefined) return
    const counter = new MarkCounter(this.#mark)
    counter.write(gunzipSync(next.body))
    this.#add(counter, next.atMs)
  }

  /** Counts and answers everything that has arrived. */
  get isIdle() {
    return this.isCounted && this.#inFlight === 0
  }

  get isCounted() {
    return this.#uncounted.length === 0
  }

  /** @param {boolean} withDeliveries @returns {Seen} */
  report(withDeliveries) {
    return {
      entries: this.#entries,
      requests: this.#requests,
      refused: this.#refused,
      maxInFlight: this.#maxInFlight,
      lastAnswerNs: String(this.#lastAnswerNs),
      cpuUs: cpuUs(this.#cpu),
      ...(withDeliveries && { deliveries: this.#deliveries.filter(([, entries]) => entries > 0) }),
      inFlight: thinned(this.#arrivals),
    }
  }
}

/** @type {Run | undefined} */
let run
const server = createServer((request, response) => {
  if (run === undefined || request.method !== 'POST') request.resume().on('end', () => response.writeHead(404).end())
  else run.take(request, response)
})
// The pause between two runs of a process must not close its connections.
server.keepAliveTimeout = 120_000

process.on('message', async (/** @type {string} */ question) => {
  const { begin, awaits, quietMs, limitMs, settleMs, withDeliveries = false } = JSON.parse(question)
  if (begin !== undefined) run = new Run(begin)
  const current = /** @type {Run} */ (run)
  current.listens()
  const fromMs = performance.now()
  const isLate = () => performance.now() - fromMs > limitMs
  if (awaits !== undefined)
    await until(
      current,
      () => isLate() || (current.isIdle && (current.entries >= awaits || current.quietMs >= quietMs)),
    )
  // Entries after the expected number are duplicates. The wait is limited.
  if (settleMs !== undefined)
    await until(
      current,
      () => (current.isIdle && current.quietMs >= settleMs) || performance.now() - fromMs > MOST_SETTLE_MS,
    )
  process.send?.(current.report(withDeliveries))
})
process.on('disconnect', () => process.exit())

server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.({ url: `http://127.0.0.1:${port}` })
})

/** @param {Run} current @param {() => boolean} isReached @returns {Promise<void>} */
function until(current, isReached) {
  return new Promise((resolve) => {
    const look = () => {
      current.countWhenIdle()
      if (isReached()) resolve()
      else setTimeout(look, current.isCounted || current.quietMs < IDLE_MS ? 5 : 0)
    }
    look()
  })
}

/** The maximum of each period. @param {[number, number][]} points @returns {[number, number][]} */
function thinned(points) {
  const size = Math.ceil(points.length / MAX_POINTS)
  return Array.from({ length: Math.ceil(points.length / (size || 1)) }, (_, n) => {
    const stretch = points.slice(n * size, (n + 1) * size)
    const [at] = /** @type {[number, number]} */ (stretch[0])
    return [Math.round(at), Math.max(...stretch.map(([, inFlight]) => inFlight))]
  })
}
