/** The service's five endpoints, typed, checked before sending, tried a bounded number of times. */
import { randomUUID } from 'node:crypto'
import { nextDelayMs } from '../backoff.js'
import { systemClock } from '../clock.js'
import type { Clock } from '../clock.js'
import { IngestError } from '../errors.js'
import { resolveFromProcess } from '../options.js'
import type { IngestOptions } from '../options.js'
import type { IngestBatch, IngestResult } from '../protocol/ingest.js'
import { PATHS } from '../protocol/limits.js'
import type { Feedback, RegisteredRelease, Release, RequestLog } from '../protocol/resources.js'
import { checkToken, checkValue } from './check.js'
import { createHttp } from './http.js'
import { HttpFailure } from './http-types.js'
import type { Http, HttpReply, HttpRequestInit } from './http-types.js'
import { parseIngestResult, reasonOf, replyKind, retryAfterMs } from './reply.js'

/** As the transport's options of the same names; what is missing comes from the same variables. */
export type IngestClientOptions = Pick<
  IngestOptions, 'url' | 'apiKey' | 'allowInsecure' | 'tls' | 'proxy' | 'requestTimeoutMs' | 'retryMinMs' | 'retryMaxMs'
> & {
  /** Attempts for each call, the first among them. Default 3. */
  maxAttempts?: number | undefined
}

export interface CallOptions {
  /** Ends the call, also between two attempts, with `ABORTED`. */
  signal?: AbortSignal
}

/** Few callers at a time; the transport has connections of its own. */
const MAX_CONNECTIONS = 8

/**
 * A client for the service without pino.
 *
 * Every method throws `IngestError`: `INVALID` before anything is sent, `AUTH`, `REJECTED`, `RATE_LIMITED`, `UNAVAILABLE`,
 * `MISDIRECTED` by the service's reply, `ABORTED` by the caller's signal. 408, 425, 429, 5xx, network failures and
 * timeouts are tried again, not before a Retry-After has passed.
 */
export class IngestClient {
  readonly #http: Http
  readonly #clock: Clock
  readonly #apiKey: string
  readonly #maxAttempts: number
  readonly #retry: { readonly retryMinMs: number, readonly retryMaxMs: number }

  /**
   * @throws IngestError `CONFIG` naming what is missing or wrong. Without a URL, and outside production, it is the local
   * service's.
   */
  constructor(options: IngestClientOptions = {}, clock: Clock = systemClock) {
    const { maxAttempts = 3, ...others } = options
    if (!Number.isInteger(maxAttempts) || maxAttempts < 1) {
      throw new IngestError('CONFIG', `maxAttempts must be an integer from 1, got ${String(maxAttempts)}`)
    }
    const settings = resolveFromProcess(others)
    this.#apiKey = settings.apiKey.reveal()
    this.#maxAttempts = maxAttempts
    this.#retry = settings
    this.#clock = clock
    this.#http = createHttp({ ...settings, apiKey: this.#apiKey, maxConnections: MAX_CONNECTIONS })
  }

  /**
   * Sends at most 100 log entries (interface: POST /ingest). Without a `batch_id` a UUID is made, and kept through every attempt.
   * @returns the result, also where some or all entries were rejected: `errors` names them.
   * @throws IngestError `REJECTED` where the reply is a refusal without such a result.
   */
  async ingest(batch: Omit<IngestBatch, 'batch_id'> & { batch_id?: string }, options: CallOptions = {}): Promise<IngestResult> {
    checkValue('batch', batch)
    const reply = await this.#post(PATHS.ingest, { batch_id: randomUUID(), ...batch }, options, (one) => parseIngestResult(one.text) !== undefined)
    return parseIngestResult(reply.text) ?? { accepted: batch.logs.length, rejected: 0, message: '', errors: [] }
  }

  /** Sends HTTP request records for request analytics (interface: POST /ingest/requests). */
  async ingestRequests(requests: readonly RequestLog[], options: CallOptions = {}): Promise<void> {
    checkValue('requests', { requests })
    await this.#post(PATHS.requests, { requests }, options)
  }

  /** Attaches what a user says to a logged event (interface: POST /feedback). */
  async sendFeedback(feedback: Feedback, options: CallOptions = {}): Promise<void> {
    checkValue('feedback', feedback)
    await this.#post(PATHS.feedback, feedback, options)
  }

  /**
   * Registers a release (interface: POST /releases/register).
   * @returns its `release_id`, which links later log entries to it.
   * @throws IngestError `MISDIRECTED` where the reply names none.
   */
  async registerRelease(release: Release, options: CallOptions = {}): Promise<RegisteredRelease> {
    checkValue('release', release)
    const reply = await this.#post(PATHS.registerRelease, release, options)
    const releaseId = releaseIdOf(reply.text)
    if (releaseId !== undefined) return { release_id: releaseId }
    throw new IngestError('MISDIRECTED', `registering the release: the reply has no release_id (status ${reply.status})`, { status: reply.status })
  }

  /** Says that a monitored task is alive (interface: POST /heartbeat/{monitor_token}). The token appears in no error. */
  async heartbeat(token: string, options: CallOptions = {}): Promise<void> {
    await this.#post(PATHS.heartbeat + checkToken(token), null, options, () => false, [token])
  }

  /** Ends connections; calls under way fail. */
  close(): Promise<void> {
    return this.#http.close()
  }

  async #post(
    path: string, value: object | null, { signal }: CallOptions,
    isResult: (reply: HttpReply) => boolean = () => false, secrets: readonly string[] = [],
  ): Promise<HttpReply> {
    const body = value === null ? null : JSON.stringify(value)
    const init: HttpRequestInit = { ...(signal !== undefined && { signal }), keyless: value === null }
    const startedAt = this.#clock.now()
    for (let attempt = 1; ; attempt += 1) {
      const reply = await this.#http.post(path, body, init).catch((failure: unknown) => failure)
      if (signal?.aborted === true) throw new IngestError('ABORTED', 'the call was aborted')
      const kind = reply instanceof Error ? 'later' : replyKind((reply as HttpReply).status)
      if (kind === 'ok' || (kind === 'refused' && isResult(reply as HttpReply))) return reply as HttpReply
      if (kind !== 'later' || attempt === this.#maxAttempts) throw this.#failure(reply as HttpReply | HttpFailure, attempt, secrets)
      const asked = reply instanceof Error ? undefined : retryAfterMs(reply as HttpReply, this.#clock.wallNow())
      const backoff = nextDelayMs({ attempt, outageAgeMs: this.#clock.now() - startedAt, ...this.#retry, random: Math.random })
      await this.#wait(Math.max(asked ?? 0, backoff), signal)
    }
  }

  #wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        cancel()
        reject(new IngestError('ABORTED', 'the call was aborted'))
      }
      const cancel = this.#clock.timer(delayMs, () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      })
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  #failure(reply: HttpReply | HttpFailure, attempts: number, secrets: readonly string[]): IngestError {
    const tried = attempts === 1 ? '' : ` (${attempts} attempts)`
    if (reply instanceof Error) return new IngestError('UNAVAILABLE', `${reply.message}${tried}`)
    const { status } = reply
    let reason = reasonOf(reply)
    for (const secret of [this.#apiKey, ...secrets]) reason = reason.replaceAll(secret, '…')
    if (status === 401 || status === 403) return new IngestError('AUTH', `the service refuses the key: ${reason}`, { status })
    if (status === 429) return new IngestError('RATE_LIMITED', `${reason}${tried}`, { status })
    switch (replyKind(status)) {
      case 'refused': return new IngestError('REJECTED', reason, { status })
      case 'later': return new IngestError('UNAVAILABLE', `${reason}${tried}`, { status })
      default: return new IngestError('MISDIRECTED', `${reason}; check the url`, { status })
    }
  }
}

function releaseIdOf(text: string): string | undefined {
  try {
    const body = JSON.parse(text) as { release_id?: unknown } | null
    return typeof body?.release_id === 'string' ? body.release_id : undefined
  } catch {
    return undefined
  }
}
