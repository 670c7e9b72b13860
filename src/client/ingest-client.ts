/** The service's five endpoints, typed, checked before sending, tried a bounded number of times. */
import { randomUUID } from 'node:crypto'
import { systemClock } from '../shared/clock.js'
import { IngestError } from '../shared/errors.js'
import { resolveFromProcess } from '../options/resolve-options.js'
import type { IngestOptions } from '../options/resolve-options.js'
import { isPlainObject } from '../options/kinds.js'
import type { IngestBatch, IngestResult } from '../protocol/ingest-result.js'
import { PATHS } from '../protocol/limits.js'
import type { Feedback, RegisteredRelease, Release, RequestLog } from '../protocol/resources.js'
import { resolveLimits } from './call-limits.js'
import type { CallLimits } from './call-limits.js'
import { RetryingCaller } from './retrying-caller.js'
import type { Call, TransportHooks } from './retrying-caller.js'
import { validateRequest } from './request-validation.js'
import { createHeartbeatCall } from './heartbeat-call.js'
import { createHttp } from './http.js'
import type { HttpReply } from './http-types.js'
import { reportUnusedKey } from './key-warning.js'
import { parseIngestResult, parseObject } from './reply-parser.js'

const OPTION_NAMES = [
  'url',
  'apiKey',
  'allowInsecure',
  'tls',
  'proxy',
  'requestTimeoutMs',
  'retryMinMs',
  'retryMaxMs',
] as const

/** As the transport's options of the same names; what is missing comes from the same variables. */
export type IngestClientOptions = Pick<IngestOptions, (typeof OPTION_NAMES)[number]> & CallLimits

export interface CallOptions {
  /** Ends the call, also between two attempts, with `ABORTED`. */
  signal?: AbortSignal | undefined
}

/** Few callers at a time; the transport has connections of its own. */
const MAX_CONNECTIONS = 8

let wire: (client: IngestClient, wiring: TransportHooks) => void

/** A client of a transport's own. @throws as the constructor */
export function createTransportClient(options: IngestClientOptions, wiring: TransportHooks): IngestClient {
  const client = new IngestClient(options)
  wire(client, wiring)
  return client
}

/**
 * A client for the service without pino.
 *
 * Every method throws `IngestError`: `INVALID` before anything is sent, `AUTH`, `REJECTED`, `RATE_LIMITED`, `UNAVAILABLE`,
 * `MISDIRECTED` by the service's reply, `ABORTED` by the caller's signal or `close()`. 408, 425, 429, 5xx, network failures
 * and timeouts are tried again, not before a Retry-After has passed, and until `timeoutMs` is over. What a Retry-After would hold
 * for longer fails at once with `RATE_LIMITED`; `retryAfterMs` of the error says when to come back.
 */
export class IngestClient {
  readonly #calls: RetryingCaller
  #keyWarning: string | undefined

  static {
    // Here alone is `#calls` in reach, and no caller of the constructor's need see a second parameter.
    wire = (client, wiring) => {
      client.#calls.setHooks(wiring)
      client.#keyWarning = undefined // the transport reports it
    }
  }

  /**
   * @throws IngestError `CONFIG` naming what is missing or wrong. Without a URL, and outside production, requests go to the
   * local service of this user, with a fixed key: a key that was given is not used, and a line on stderr says so.
   */
  constructor(options: IngestClientOptions = {}) {
    const given: IngestClientOptions = isPlainObject(options) ? options : {}
    const { maxAttempts, timeoutMs, ...others } = given
    const limits = resolveLimits({ maxAttempts, timeoutMs })
    const settings = resolveFromProcess(isPlainObject(options) ? others : options, OPTION_NAMES)
    const apiKey = settings.apiKey.reveal()
    this.#keyWarning = settings.keyWarning
    this.#calls = new RetryingCaller({
      ...settings,
      ...limits,
      apiKey,
      clock: systemClock,
      random: Math.random,
      http: createHttp({ ...settings, apiKey, maxConnections: MAX_CONNECTIONS }),
    })
  }

  /**
   * Sends at most 100 log entries (interface: POST /ingest). Without a `batch_id` a UUID is made, and kept through every attempt.
   * @returns the result, also where some or all entries were rejected: `errors` names them.
   * @throws IngestError `REJECTED` where the reply is a refusal without such a result, `MISDIRECTED` where a 2xx is.
   */
  async ingest(
    batch: Omit<IngestBatch, 'batch_id'> & { batch_id?: string | undefined },
    options: CallOptions = {},
  ): Promise<IngestResult> {
    validateRequest('batch', batch)
    const body = encode('batch', { ...batch, batch_id: batch.batch_id ?? randomUUID() })
    const { status, text } = await this.#post({
      path: PATHS.ingest,
      body,
      expected: 'ingest-result',
      signal: options.signal,
      isAnswer: (reply) => parseIngestResult(reply.text) !== undefined,
    })
    const result = parseIngestResult(text)
    if (result !== undefined) return result
    // To say that all were accepted would be to make it up.
    throw new IngestError('MISDIRECTED', `the reply is no ingest result (status ${status}); check the url`, { status })
  }

  /** Sends HTTP request records for request analytics (interface: POST /ingest/requests). */
  async ingestRequests(requests: readonly RequestLog[], options: CallOptions = {}): Promise<void> {
    validateRequest('requests', { requests })
    await this.#post({ path: PATHS.requests, body: encode('requests', { requests }), signal: options.signal })
  }

  /** Attaches what a user says to a logged event (interface: POST /feedback). */
  async sendFeedback(feedback: Feedback, options: CallOptions = {}): Promise<void> {
    validateRequest('feedback', feedback)
    await this.#post({ path: PATHS.feedback, body: encode('feedback', feedback), signal: options.signal })
  }

  /**
   * Registers a release (interface: POST /releases/register).
   * @returns its `release_id`, which links later log entries to it.
   * @throws IngestError `MISDIRECTED` where the reply names none.
   */
  async registerRelease(release: Release, options: CallOptions = {}): Promise<RegisteredRelease> {
    validateRequest('release', release)
    const { status, text } = await this.#post({
      path: PATHS.registerRelease,
      body: encode('release', release),
      signal: options.signal,
    })
    const releaseId = releaseIdOf(text)
    if (releaseId !== undefined) return { release_id: releaseId }
    throw new IngestError('MISDIRECTED', `the reply has no release_id (status ${status}); check the url`, { status })
  }

  /** Says that a monitored task is alive (interface: POST /heartbeat/{monitor_token}). The token appears in no error. */
  async heartbeat(token: string, options: CallOptions = {}): Promise<void> {
    await this.#post(createHeartbeatCall(token, options.signal))
  }

  #post(call: Call): Promise<HttpReply> {
    reportUnusedKey({ keyWarning: this.#keyWarning })
    return this.#calls.post(call)
  }

  /** Ends connections; calls under way, and later ones, fail with `ABORTED`. */
  close(): Promise<void> {
    return this.#calls.close()
  }
}

/** @throws IngestError `INVALID` for what only a free-form field can hold: a circle, a BigInt, depth beyond the stack. */
function encode(place: string, value: object): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw new IngestError('INVALID', `${place} must be what JSON can hold, without circles and BigInts`, {
      cause: error,
    })
  }
}

function releaseIdOf(text: string): string | undefined {
  const id = parseObject(text)?.['release_id']
  return typeof id === 'string' && id !== '' ? id : undefined
}
