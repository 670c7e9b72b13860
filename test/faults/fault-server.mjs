/**
 * A service with scripted faults. It records how often each record was stored, and which requests were in flight at which time.
 *
 * It uses only `node:http` and sockets, and so shares no bugs with the tested code or the
 * package's own local service.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastingPort } from '../reusable-port.mjs'
import { frameworkDetail, ingestResult, parse, toReply } from './formats.mjs'
import { nowMs } from './monotonic.mjs'
import { reply, wire } from './replies.mjs'

/**
 * @typedef {{ kind: 'ok', latencyMs?: number }
 *   | { kind: 'status', status: number, headers?: Readonly<Record<string, string | readonly string[]>>, body?: string }
 *   | { kind: 'hang' }
 *   | { kind: 'reset-in-request' }
 *   | { kind: 'reset-in-reply' }
 *   | { kind: 'lost-reply' }
 *   | { kind: 'reject', form: 'partly' | 'partly-200' | 'none' | 'framework' | 'nameless', isBad: (n: number) => boolean }
 * } Behavior
 * - `hang`: reads the request and never replies
 * - `reset-in-request`: resets the connection after the first bytes of the body
 * - `reset-in-reply`: stores; resets the connection after half of the reply
 * - `lost-reply`: stores; closes the connection without a reply
 * - `reject`: `partly` and `partly-200` store the valid entries; `none` names the bad ones and stores nothing; `framework` does the same
 *   in the framework's format; `nameless` replies 400 to each batch with a bad entry
 */

/**
 * @typedef {object} Call
 * @property {number} at time at which its head arrived, in ms of the monotonic clock
 * @property {Connection} connection
 * @property {number} [answeredAt] time at which the last byte of a complete reply was written
 * @property {number} [status]
 * @property {string} [batchId]
 * @property {string} [client] value of its header `x-client`
 * @property {number} entries
 * @property {readonly number[]} [numbers] record numbers of the entries
 * @property {number} stored number of stored entries
 *
 * @typedef {{ readonly openedAt: number }} Connection
 */

/** Header that identifies a client, if a scenario needs it. */
export const CLIENT_HEADER = 'x-client'

export class FaultServer {
  /** @type {Behavior} */
  behavior = { kind: 'ok' }
  /** @type {Call[]} */
  calls = []
  /** Number of times each record was stored. @type {Map<number, number>} */
  stored = new Map()
  /** Time and batch of the first storage of each record. @type {Map<number, { at: number, batchId: string | undefined }>} */
  first = new Map()
  /** Violations of the protocol by clients, each once. @type {Set<string>} */
  violations = new Set()
  /** Number of records in all requests, stored or not. */
  entriesSeen = 0
  #key
  #replyGraceMs
  #port = 0
  #server
  /** @type {Map<import('node:net').Socket, Connection>} */
  #sockets = new Map()
  /** Hashes by batch id, to check that a batch never changes. @type {Map<string, string>} */
  #digests = new Map()

  /**
   * @param {string} key expected `X-API-Key`
   * @param {number} replyGraceMs time for which a reply may be in transit before a kill, and a request after it
   */
  constructor(key, replyGraceMs) {
    this.#key = key
    this.#replyGraceMs = replyGraceMs
    this.#server = this.#create()
  }

  get origin() {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Listens. The port is always the same. */
  async up() {
    if (this.#server.listening) return
    this.#port ||= await lastingPort()
    this.#server = this.#create()
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Closes the port and destroys all connections. */
  async down() {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets.keys()) socket.destroy()
    await closed
  }

  /**
   * Number of entries that may arrive again: stored, but possibly without a reply received by the application when it was killed
   * or this server went down. Only the last request of each connection counts: by sending it, the application showed that it
   * had received the earlier replies. The next start opens new connections.
   * @param {...number} moments in ms of the monotonic clock
   */
  inFlightAt(...moments) {
    const graceMs = this.#replyGraceMs
    /** @type {Set<Call>} */
    const inFlight = new Set()
    for (const moment of moments) {
      const lastOf = new Map(
        this.calls
          .filter(({ at, connection }) => connection.openedAt <= moment && at <= moment + graceMs)
          .map((call) => [call.connection, call]),
      )
      for (const call of lastOf.values()) {
        if (call.stored > 0 && (call.answeredAt ?? Infinity) > moment - graceMs) inFlight.add(call)
      }
    }
    return sum([...inFlight].map(({ entries }) => entries))
  }

  /** Number of stored entries whose request has no complete reply. */
  get unanswered() {
    return sum(
      this.calls
        .filter(({ stored, answeredAt }) => stored > 0 && answeredAt === undefined)
        .map(({ entries }) => entries),
    )
  }

  /**
   * Number of requests of a client between a refusal and the end of its Retry-After.
   * @param {number} status @param {number} waitMs
   * @param {number} graceMs for requests that were already in transit
   */
  early(status, waitMs, graceMs) {
    const refusals = this.calls.filter((call) => call.status === status && call.answeredAt !== undefined)
    return this.calls.filter(({ at, client }) =>
      refusals.some(
        ({ answeredAt = Infinity, client: refused }) =>
          refused === client && at > answeredAt + graceMs && at < answeredAt + waitMs,
      ),
    ).length
  }

  #create() {
    // No timeouts: slow and hanging behaviors keep connections open, and the client closes idle ones.
    const server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 })
    server.on('connection', (socket) => {
      this.#sockets.set(socket, { openedAt: nowMs() })
      socket.on('close', () => this.#sockets.delete(socket))
      socket.on('error', () => {}) // a killed client resets its connections
    })
    server.on('request', (request, response) => void this.#handle(request, response))
    return server
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  async #handle(request, response) {
    const { behavior } = this
    const { socket } = request
    /** @type {Call} */
    const call = { at: nowMs(), connection: this.#sockets.get(socket) ?? { openedAt: nowMs() }, entries: 0, stored: 0 }
    this.calls.push(call)
    if (behavior.kind === 'reset-in-request') {
      request.once('data', () => socket.resetAndDestroy())
      return
    }
    /** @type {Buffer[]} */
    const chunks = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return // the client was killed while sending
    }
    const parsed = parse(request.headers, Buffer.concat(chunks))
    const client = request.headers[CLIENT_HEADER]
    Object.assign(call, {
      entries: parsed.numbers.length,
      numbers: parsed.numbers,
      ...(parsed.batchId !== undefined && { batchId: parsed.batchId }),
      ...(typeof client === 'string' && { client }),
    })
    this.entriesSeen += parsed.numbers.length
    this.#judge(request, Buffer.concat(chunks), parsed)
    await this.#answer(behavior, call, parsed.numbers, response)
  }

  /** @param {import('node:http').IncomingMessage} request @param {Buffer} body @param {import('./formats.mjs').Parsed} parsed */
  #judge(request, body, { batchId, wrong }) {
    if (wrong !== undefined) this.violations.add(wrong)
    if (this.#key !== undefined && request.headers['x-api-key'] !== this.#key)
      this.violations.add('a request without the key')
    if (this.#key !== undefined && `${request.method} ${request.url}` !== 'POST /api/v1/ingest')
      this.violations.add(`${request.method} ${request.url}`)
    if (batchId === undefined) return
    const digest = createHash('sha1').update(body).digest('base64')
    if (this.#digests.has(batchId) && this.#digests.get(batchId) !== digest)
      this.violations.add(`batch ${batchId} came with other bytes`)
    this.#digests.set(batchId, digest)
  }

  /** @param {Behavior} behavior @param {Call} call @param {readonly number[]} numbers @param {import('node:http').ServerResponse} response */
  async #answer(behavior, call, numbers, response) {
    const accepted = toReply(numbers.length)
    switch (behavior.kind) {
      case 'ok':
        if (behavior.latencyMs !== undefined) await sleep(behavior.latencyMs)
        this.#store(call, numbers)
        return reply(call, response, accepted)
      case 'status':
        return reply(call, response, { body: '{"detail":"refused on purpose"}', ...behavior })
      case 'hang':
        return
      case 'reset-in-reply': {
        this.#store(call, numbers)
        const text = wire(accepted)
        response.socket?.write(text.slice(0, text.length / 2), () => response.socket?.resetAndDestroy())
        return
      }
      case 'lost-reply':
        this.#store(call, numbers)
        return void response.socket?.destroy()
      case 'reject':
        return this.#reject(behavior, call, numbers, response)
    }
  }

  /** @param {Extract<Behavior, { kind: 'reject' }>} behavior @param {Call} call @param {readonly number[]} numbers @param {import('node:http').ServerResponse} response */
  #reject({ form, isBad }, call, numbers, response) {
    const bad = numbers.flatMap((n, index) => (isBad(n) ? [index] : []))
    const count = numbers.length
    if (bad.length === 0 || form === 'partly' || form === 'partly-200') {
      this.#store(
        call,
        numbers.filter((n) => !isBad(n)),
      )
      const answer = toReply(count, bad)
      return reply(call, response, form === 'partly-200' ? { ...answer, status: 200 } : answer)
    }
    if (form === 'none')
      return reply(call, response, { status: 422, body: JSON.stringify({ ...ingestResult(count, bad), accepted: 0 }) })
    if (form === 'framework') return reply(call, response, { status: 422, body: JSON.stringify(frameworkDetail(bad)) })
    return reply(call, response, { status: 400, body: '{"detail":"bad request"}' })
  }

  /** @param {Call} call @param {readonly number[]} numbers */
  #store(call, numbers) {
    call.stored = numbers.length
    const at = nowMs()
    for (const n of numbers) {
      const times = this.stored.get(n) ?? 0
      this.stored.set(n, times + 1)
      if (times === 0) this.first.set(n, { at, batchId: call.batchId })
      else if (this.first.get(n)?.batchId !== call.batchId) this.violations.add(`record ${n} came in a second batch`)
    }
  }
}

/** @param {readonly number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0)
}
