/**
 * A service with scripted faults. It records how often each record was stored, and which requests were in flight at which time.
 *
 * It stands on `node:http` and bare sockets alone, so that it shares no mistake with what it judges, nor with the
 * package's own local service.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { lastingPort } from '../reusable-port.mjs'
import { FORMATS, frameworkDetail, ingestResult } from './formats.mjs'
import { nowMs } from './monotonic.mjs'
import { dribble, reply, wire } from './replies.mjs'

/**
 * @typedef {{ kind: 'ok', latencyMs?: number }
 *   | { kind: 'status', status: number, headers?: Readonly<Record<string, string | readonly string[]>>, body?: string }
 *   | { kind: 'hang' }
 *   | { kind: 'slow-bytes', everyMs: number }
 *   | { kind: 'reset-in-request' }
 *   | { kind: 'reset-in-reply' }
 *   | { kind: 'lost-reply' }
 *   | { kind: 'big-reply', bytes: number }
 *   | { kind: 'reject', form: 'partly' | 'partly-200' | 'none' | 'framework' | 'nameless', isBad: (n: number) => boolean }
 * } Behaviour
 * - `hang`: the request is read and never answered
 * - `slow-bytes`: stored; the reply, head and all, comes byte by byte
 * - `reset-in-request`: reset when the first bytes of the body have come
 * - `reset-in-reply`: stored; reset behind half of the reply
 * - `lost-reply`: stored; closed instead of a reply
 * - `reject`: `partly` and `partly-200` store the others; `none` names the bad ones and stores nothing, `framework` does so
 *   in the other form; `nameless` is a 400 for the whole of a batch that holds a bad one
 */

/**
 * @typedef {object} Call
 * @property {number} at when its head came, in ms of the monotonic clock
 * @property {Connection} connection
 * @property {number} [answeredAt] when the last byte of a whole reply was given to the system
 * @property {number} [status]
 * @property {string} [batchId]
 * @property {string} [client] as a header of its names it
 * @property {number} entries
 * @property {readonly number[]} [numbers] of these
 * @property {number} stored how many of them were stored
 *
 * @typedef {{ readonly openedAt: number, readonly pid?: number | undefined }} Connection
 */

/** Header by which clients tell who they are, if a scenario needs it. */
export const CLIENT_HEADER = 'x-client'

export class FaultServer {
  /** @type {Behaviour} */
  behaviour = { kind: 'ok' }
  /** @type {Call[]} */
  calls = []
  /** How often each record was stored. @type {Map<number, number>} */
  stored = new Map()
  /** When each record was first stored, and in which batch. @type {Map<number, { at: number, batchId: string | undefined }>} */
  first = new Map()
  /** What no client may do, each once. @type {Set<string>} */
  violations = new Set()
  /** Finds the process that uses a client's port, if a scenario needs it. @type {((port: number) => number | undefined) | undefined} */
  identify
  /** Records of all requests, stored or not. */
  entriesSeen = 0
  #format
  #key
  #replyGraceMs
  #port = 0
  #server
  /** @type {Map<import('node:net').Socket, Connection>} */
  #sockets = new Map()
  /** The bytes of a batch never change. @type {Map<string, string>} */
  #digests = new Map()

  /**
   * @param {{ subject: string, replyGraceMs: number, key?: string }} options `subject`: whose format; `replyGraceMs`: for so
   *   long a reply may be on its way before a kill, and a request after it; `key`: of `X-API-Key`
   */
  constructor({ subject, replyGraceMs, key }) {
    const format = FORMATS[subject]
    if (format === undefined)
      throw new Error(`no format known for ${subject}; known: ${Object.keys(FORMATS).join(', ')}`)
    this.#format = format
    this.#key = key
    this.#replyGraceMs = replyGraceMs
    this.#server = this.#create()
  }

  get origin() {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Listens, on the same port each time. */
  async up() {
    if (this.#server.listening) return
    this.#port ||= await lastingPort()
    this.#server = this.#create()
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** The port is closed, and all connections are destroyed. */
  async down() {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets.keys()) socket.destroy()
    await closed
  }

  /**
   * Entries that were stored without the application knowing it for certain when it was killed, or when this server went
   * down: what may come again. Of each connection it is the last request: by sending it, the application showed that it
   * had the replies to those before. The next start opens connections of its own.
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

  /** Entries of requests that were stored and never wholly answered. */
  get unanswered() {
    return sum(
      this.calls
        .filter(({ stored, answeredAt }) => stored > 0 && answeredAt === undefined)
        .map(({ entries }) => entries),
    )
  }

  /**
   * Requests that came after a refusal was answered, and before its Retry-After had passed.
   * @param {number} status @param {number} waitMs
   * @param {number} graceMs for what was on its way when the refusal was
   */
  early(status, waitMs, graceMs) {
    const refusals = this.calls.filter((call) => call.status === status && call.answeredAt !== undefined)
    return this.calls.filter(({ at }) =>
      refusals.some(({ answeredAt = Infinity }) => at > answeredAt + graceMs && at < answeredAt + waitMs),
    ).length
  }

  #create() {
    // What a slow or silent behaviour keeps open is meant to stay open; an idle connection is the client's to close.
    const server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 })
    server.on('connection', (socket) => {
      this.#sockets.set(socket, { openedAt: nowMs(), pid: this.identify?.(socket.remotePort ?? 0) })
      socket.on('close', () => this.#sockets.delete(socket))
      socket.on('error', () => {}) // a client that is killed resets its connections
    })
    server.on('request', (request, response) => void this.#handle(request, response))
    return server
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  async #handle(request, response) {
    const { behaviour } = this
    const { socket } = request
    /** @type {Call} */
    const call = { at: nowMs(), connection: this.#sockets.get(socket) ?? { openedAt: nowMs() }, entries: 0, stored: 0 }
    this.calls.push(call)
    if (behaviour.kind === 'reset-in-request') {
      request.once('data', () => socket.resetAndDestroy())
      return
    }
    /** @type {Buffer[]} */
    const chunks = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return // the client was killed while it sent
    }
    const parsed = this.#format.parse(request.headers, Buffer.concat(chunks))
    const client = request.headers[CLIENT_HEADER]
    Object.assign(call, {
      entries: parsed.numbers.length,
      numbers: parsed.numbers,
      ...(parsed.batchId !== undefined && { batchId: parsed.batchId }),
      ...(typeof client === 'string' && { client }),
    })
    this.entriesSeen += parsed.numbers.length
    this.#judge(request, Buffer.concat(chunks), parsed)
    await this.#answer(behaviour, call, parsed.numbers, response)
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

  /** @param {Behaviour} behaviour @param {Call} call @param {readonly number[]} numbers @param {import('node:http').ServerResponse} response */
  async #answer(behaviour, call, numbers, response) {
    const accepted = this.#format.accepted(numbers.length)
    switch (behaviour.kind) {
      case 'ok':
        if (behaviour.latencyMs !== undefined) await sleep(behaviour.latencyMs)
        this.#store(call, numbers)
        return reply(call, response, accepted)
      case 'status':
        return reply(call, response, { body: '{"detail":"refused on purpose"}', ...behaviour })
      case 'hang':
        return
      case 'slow-bytes':
        this.#store(call, numbers)
        return dribble(call, response, wire(accepted), behaviour.everyMs)
      case 'reset-in-reply': {
        this.#store(call, numbers)
        const text = wire(accepted)
        response.socket?.write(text.slice(0, text.length / 2), () => response.socket?.resetAndDestroy())
        return
      }
      case 'lost-reply':
        this.#store(call, numbers)
        return void response.socket?.destroy()
      case 'big-reply':
        this.#store(call, numbers)
        return reply(call, response, {
          status: 200,
          body: JSON.stringify({ ...ingestResult(numbers.length, []), message: 'x'.repeat(behaviour.bytes) }),
        })
      case 'reject':
        return this.#reject(behaviour, call, numbers, response)
    }
  }

  /** @param {Extract<Behaviour, { kind: 'reject' }>} behaviour @param {Call} call @param {readonly number[]} numbers @param {import('node:http').ServerResponse} response */
  #reject({ form, isBad }, call, numbers, response) {
    const bad = numbers.flatMap((n, index) => (isBad(n) ? [index] : []))
    const count = numbers.length
    if (bad.length === 0 || form === 'partly' || form === 'partly-200') {
      this.#store(
        call,
        numbers.filter((n) => !isBad(n)),
      )
      const answer = bad.length === 0 ? this.#format.accepted(count) : this.#format.partly(count, bad)
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
