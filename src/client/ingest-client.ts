/** Client for the five endpoints of the log service: typed, validated before sending, with a limited number of attempts. */
import { randomUUID } from 'node:crypto'
import { systemClock } from '../shared/clock.js'
import { readOptions } from '../shared/argument-checks.js'
import { IngestError } from '../shared/errors.js'
import { resolveFromProcess } from '../options/resolve-options.js'
import type { IngestOptions } from '../options/resolve-options.js'
import type { Breadcrumb, LogEntry } from '../protocol/log-entry.js'
import type { IngestResult } from '../protocol/ingest-result.js'
import { PATHS } from '../protocol/limits.js'
import type { Feedback, RegisteredRelease, Release, RequestLog } from '../protocol/resources.js'
import { CALL_OPTION_NAMES, readSignal, resolveLimits } from './call-limits.js'
import type { CallLimits } from './call-limits.js'
import { RetryingCaller } from './retrying-caller.js'
import type { Call, TransportHooks } from './retrying-caller.js'
import { validateRequest } from './request-validation.js'
import { createHeartbeatCall } from './heartbeat-call.js'
import type { MonitorName } from './heartbeat-call.js'
import { createHttp } from './http.js'
import type { HttpReply } from './http-types.js'
import { toPlainBatch } from './plain-data.js'
import { canBeResultOf, parseIngestResult, parseObject } from './reply-parser.js'

/**
 * Options of `IngestClient`: those of the transport with the same names, and limits of each call. Missing ones are read from the same
 * variables.
 */
export type IngestClientOptions = Pick<IngestOptions, (typeof CALL_OPTION_NAMES)[number]> & CallLimits

/** A log entry whose free-form fields are any values. */
export type LogEntryInput = Omit<LogEntry, 'metadata' | 'breadcrumbs'> & {
  /** Free-form fields, of any values. */
  metadata?: object
  /** Events before the entry, with `data` of any values. */
  breadcrumbs?: (Omit<Breadcrumb, 'data'> & {
    /** Other values, of any types. */
    data?: object
  })[]
}

/** Argument of `IngestClient.ingest()`. */
export interface IngestInput {
  /** UUID or free-form text. Default: a new UUID. */
  batch_id?: string | undefined
  /** The entries, at most 100 (docs/protocol.md, Requests). */
  logs: readonly LogEntryInput[]
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call, also between two attempts, with `ABORTED`. */
  signal?: AbortSignal | undefined
}

/** Enough for a few concurrent calls, since the transport has its own connections. */
const MAX_CONNECTIONS = 8

let wire: (client: IngestClient, wiring: TransportHooks) => void

/** Creates a client that belongs to a transport. @throws as the constructor */
export function createTransportClient(options: IngestClientOptions, wiring: TransportHooks): IngestClient {
  const client = new IngestClient(options)
  wire(client, wiring)
  return client
}

/**
 * A client for the log service without pino.
 *
 * Every method throws `IngestError`: `INVALID` before anything is sent, `AUTH`, `REJECTED`, `RATE_LIMITED`, `UNAVAILABLE`,
 * `MISDIRECTED` by the log service's reply, `ABORTED` by the caller's signal or `close()`. 408, 425, 429, 5xx, network failures
 * and timeouts are retried after the Retry-After, until `timeoutMs` is over. If the Retry-After is longer, the call fails at once with
 * `RATE_LIMITED`, and `retryAfterMs` of the error is the time to wait.
 */
export class IngestClient {
  readonly #calls: RetryingCaller

  static {
    // A second constructor parameter would be public.
    wire = (client, wiring) => client.#calls.setHooks(wiring)
  }

  /** @throws IngestError `CONFIG` that lists what is missing or invalid. */
  constructor(options: IngestClientOptions = {}) {
    const { maxAttempts, timeoutMs, ...others } = readOptions('new IngestClient()', options)
    const limits = resolveLimits({ maxAttempts, timeoutMs })
    const settings = resolveFromProcess(others, CALL_OPTION_NAMES)
    this.#calls = new RetryingCaller({
      ...settings,
      ...limits,
      clock: systemClock,
      random: Math.random,
      http: createHttp({ ...settings, maxConnections: MAX_CONNECTIONS }),
    })
  }

  /**
   * Sends at most 100 log entries (`POST /ingest`, docs/protocol.md). Without a `batch_id` a UUID is created, and kept through every attempt.
   * In an entry an Error arrives as type, message, stack, causes and its own properties, a BigInt as text, and a cycle as `[Circular]`; other
   * values as JSON. The batch is not changed.
   * @returns the result, also where some or all entries were rejected: `errors` lists them. `accepted` is the log service's number, also where it is
   * larger than that of the entries.
   * @throws IngestError `REJECTED` if the reply is a rejection without such a result, `MISDIRECTED` if it is a 2xx without one, or if
   * its counts cannot be those of the batch and entries may be lost.
   */
  async ingest(batch: IngestInput, options: CallOptions = {}): Promise<IngestResult> {
    const data = toPlainBatch(batch) as IngestInput
    validateRequest('batch', data)
    const body = JSON.stringify({ ...data, batch_id: data.batch_id ?? randomUUID() }, toJsonValue)
    const { status, text } = await this.#post({
      path: PATHS.ingest,
      body,
      expected: 'ingest-result',
      signal: readSignal('ingest()', options),
      isAnswer: (reply) => parseIngestResult(reply.text) !== undefined,
    })
    const result = parseIngestResult(text)
    const { length } = data.logs
    if (result !== undefined && canBeResultOf(length, result)) return result
    // It is unknown whether the entries were accepted.
    const what = result === undefined ? 'is no ingest result' : `cannot be the result of a batch of ${length}`
    throw new IngestError('MISDIRECTED', `the reply ${what} (status ${status}); check the url`, { status })
  }

  /**
   * Sends HTTP request records for request analytics (`POST /ingest/requests`, docs/protocol.md).
   * @throws IngestError `INVALID` for a field, before anything is sent; others as for every method.
   */
  async ingestRequests(requests: readonly RequestLog[], options: CallOptions = {}): Promise<void> {
    validateRequest('requests', { requests })
    await this.#post({
      path: PATHS.requests,
      body: JSON.stringify({ requests }),
      signal: readSignal('ingestRequests()', options),
    })
  }

  /**
   * Attaches feedback of a user to a logged event (`POST /feedback`, docs/protocol.md).
   * @returns `attached`, if the log service says whether it knows an entry with this id.
   * @throws IngestError `INVALID` for a field, before anything is sent; others as for every method.
   */
  async sendFeedback(feedback: Feedback, options: CallOptions = {}): Promise<{ attached?: boolean }> {
    validateRequest('feedback', feedback)
    const { text } = await this.#post({
      path: PATHS.feedback,
      body: JSON.stringify(feedback),
      signal: readSignal('sendFeedback()', options),
    })
    const attached = parseObject(text)?.['attached']
    return typeof attached === 'boolean' ? { attached } : {}
  }

  /**
   * Registers a release (`POST /releases/register`, docs/protocol.md).
   * @returns its `release_id`, which links later log entries to it.
   * @throws IngestError `MISDIRECTED` if the reply has none.
   */
  async registerRelease(release: Release, options: CallOptions = {}): Promise<RegisteredRelease> {
    validateRequest('release', release)
    const { status, text } = await this.#post({
      path: PATHS.registerRelease,
      body: JSON.stringify(release),
      signal: readSignal('registerRelease()', options),
    })
    const releaseId = releaseIdOf(text)
    if (releaseId !== undefined) return { release_id: releaseId }
    throw new IngestError('MISDIRECTED', `the reply has no release_id (status ${status}); check the url`, { status })
  }

  /**
   * Reports that a monitored task is alive (`POST /heartbeat/{monitor_token}`, docs/protocol.md). The key is not sent.
   * @param token any text except the empty text, `.` and `..`; appears in no error
   * @throws IngestError `INVALID` for the token or the name, before anything is sent; others as for every method.
   */
  async heartbeat(token: string, options: CallOptions & MonitorName = {}): Promise<void> {
    const signal = readSignal('heartbeat()', options)
    await this.#post({ ...createHeartbeatCall(token, options), signal })
  }

  #post(call: Call): Promise<HttpReply> {
    return this.#calls.post(call)
  }

  /** Closes all connections. Calls in flight, and later ones, fail with `ABORTED`. */
  close(): Promise<void> {
    return this.#calls.close()
  }
}

/** JSON has no big integers. */
function toJsonValue(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

function releaseIdOf(text: string): string | undefined {
  const id = parseObject(text)?.['release_id']
  return typeof id === 'string' && id !== '' ? id : undefined
}
