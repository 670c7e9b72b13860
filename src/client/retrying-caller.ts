/** Sends a request with a limited number of attempts and waits between them. */
import { setMaxListeners } from 'node:events'
import { computeDelayMs } from '../shared/backoff.js'
import type { RetrySettings } from '../options/settings.js'
import type { Secret } from '../options/secret.js'
import type { Clock } from '../shared/clock.js'
import { IngestError } from '../shared/errors.js'
import { KeyPause } from '../shared/key-pause.js'
import { pause } from '../shared/pause.js'
import { createDebugLog } from '../diagnostics/debug-log.js'
import type { DebugLog } from '../diagnostics/debug-log.js'
import { createSecretMask } from '../diagnostics/secret-mask.js'
import { hideToken } from './http.js'
import { HttpFailure } from './http-types.js'
import type { Http, HttpReply } from './http-types.js'
import { classifyReply, describeReply, classifyStatus, parseRetryAfterMs } from './reply-parser.js'
import type { ExpectedBody } from './reply-parser.js'

export interface RetryingCallerOptions {
  readonly http: Pick<Http, 'post' | 'close'>
  readonly clock: Clock
  /** In [0, 1). */
  readonly random: () => number
  /** Masked in errors. */
  readonly secrets: readonly Secret[]
  /** Per call, including the first. */
  readonly maxAttempts: number
  /** Milliseconds per call, including all attempts and waits. */
  readonly timeoutMs: number
  readonly retry: RetrySettings
  /** See `Settings`. */
  readonly isDebug?: boolean
}

/** Connects the client to a transport. Not options of the user. */
export interface TransportHooks {
  /** Replaces the system clock, whose timers keep the process alive. */
  readonly clock: Clock
  /** The pause of the API key. */
  readonly pause: KeyPause
}

export interface Call {
  readonly path: string
  /** `null` for the heartbeat, which has neither a body nor the key. */
  readonly body: string | null
  /** In addition to those of all calls; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body of a 2xx from the log service. Default `json`. */
  readonly expected?: ExpectedBody
  readonly signal?: AbortSignal | undefined
  /** Masked in errors, in addition to those of all calls. */
  readonly secrets?: readonly string[]
  /** Whether a rejection of the content is a result, not an error. */
  readonly isAnswer?: (reply: HttpReply) => boolean
}

export class RetryingCaller {
  #options: RetryingCallerOptions
  readonly #debug: DebugLog | undefined
  readonly #closed = new AbortController()
  /** Of every call with the key, and of every heartbeat. */
  readonly #pauses: { keyed: KeyPause; readonly keyless: KeyPause }

  constructor(options: RetryingCallerOptions) {
    const { clock, random } = options
    this.#options = options
    this.#pauses = { keyed: new KeyPause(clock, random), keyless: new KeyPause(clock, random) }
    this.#debug = createDebugLog(options.isDebug)
    setMaxListeners(0, this.#closed.signal) // each pause between attempts waits for it
  }

  /** Must be called before the first call. */
  setHooks(hooks: TransportHooks): void {
    this.#options = { ...this.#options, clock: hooks.clock }
    this.#pauses.keyed = hooks.pause
  }

  /**
   * @returns a 2xx, or a rejection that is a result
   * @throws IngestError for the last reply, `RATE_LIMITED` at once if a Retry-After ends after the deadline, or `ABORTED`
   */
  async post(call: Call): Promise<HttpReply> {
    const { clock, maxAttempts, random, timeoutMs } = this.#options
    const startedAt = clock.now()
    const deadlineAt = startedAt + timeoutMs
    const keyPause = this.#pauses[call.body === null ? 'keyless' : 'keyed']
    for (let attempt = 1; ; attempt += 1) {
      this.#throwIfEnded(call.signal)
      for (let remainingMs = keyPause.leftMs; remainingMs > 0; remainingMs = keyPause.leftMs) {
        if (clock.now() + remainingMs >= deadlineAt) throw createRateLimitedError(remainingMs)
        this.#debug?.(`POST ${hideToken(call.path)}: wait ${Math.round(remainingMs)} ms, an earlier Retry-After`)
        await this.#wait(remainingMs, call.signal)
      }
      const begunAt = clock.now()
      const reply = await this.#attempt(call, deadlineAt - begunAt)
      this.#debug?.(
        `POST ${hideToken(call.path)}, attempt ${attempt}: ${reply instanceof HttpFailure ? reply.message : `status ${reply.status}`} in ${Math.round(clock.now() - begunAt)} ms`,
      )
      if (reply instanceof HttpFailure && reply.kind === 'aborted') throw this.#aborted(call.signal)
      const kind = reply instanceof HttpFailure ? 'retryable' : classifyReply(reply, call.expected ?? 'json')
      if (!(reply instanceof HttpFailure) && (kind === 'ok' || (kind === 'refused' && call.isAnswer?.(reply) === true)))
        return reply
      const askedMs = reply instanceof HttpFailure ? 0 : (parseRetryAfterMs(reply, clock.wallNow()) ?? 0)
      keyPause.apply(askedMs)
      const backoffMs = computeDelayMs({ attempt, outageAgeMs: clock.now() - startedAt, ...this.#options, random })
      const delayMs = keyPause.leftMs + backoffMs
      const isLate = clock.now() + delayMs >= deadlineAt
      if (kind !== 'retryable' || isLate || attempt === maxAttempts)
        throw this.#failure(call, reply, { attempt, askedMs, isLate })
      this.#debug?.(`POST ${hideToken(call.path)}: retry in ${Math.round(delayMs)} ms`)
      await this.#wait(delayMs, call.signal)
    }
  }

  /** Ends all calls, including waiting ones, with `ABORTED`. */
  close(): Promise<void> {
    this.#closed.abort()
    return this.#options.http.close()
  }

  async #attempt({ path, body, headers, signal }: Call, leftMs: number): Promise<HttpReply | HttpFailure> {
    try {
      return await this.#options.http.post(path, body, {
        keyless: body === null,
        timeoutMs: Math.max(Math.ceil(leftMs), 1),
        ...(headers !== undefined && { headers }),
        ...(signal !== undefined && { signal }),
      })
    } catch (error) {
      if (error instanceof HttpFailure) return error
      throw error
    }
  }

  async #wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    await pause(this.#options.clock, delayMs, this.#closed.signal, ...(signal === undefined ? [] : [signal]))
    this.#throwIfEnded(signal)
  }

  #throwIfEnded(signal: AbortSignal | undefined): void {
    if (this.#closed.signal.aborted || signal?.aborted === true) throw this.#aborted(signal)
  }

  #aborted(signal: AbortSignal | undefined): IngestError {
    return signal?.aborted === true
      ? new IngestError('ABORTED', 'the call was aborted by its signal', { cause: signal.reason })
      : new IngestError('ABORTED', 'the client is closed')
  }

  #failure(
    { body, secrets = [] }: Call,
    reply: HttpReply | HttpFailure,
    { attempt, askedMs, isLate }: Failed,
  ): IngestError {
    const attempts = attempt === 1 ? '1 attempt' : `${attempt} attempts`
    const tried = isLate
      ? ` (${attempts} in timeoutMs ${this.#options.timeoutMs})`
      : attempt === 1
        ? ''
        : ` (${attempts})`
    if (reply instanceof HttpFailure) {
      const remedy = reply.remedy === undefined ? '' : `; ${reply.remedy}`
      return new IngestError('UNAVAILABLE', `${reply.message}${tried}${remedy}`)
    }
    const { status } = reply
    const reason = describeReply(
      reply,
      createSecretMask([...this.#options.secrets.map((one) => one.reveal()), ...secrets]),
    )
    const cure =
      body === null
        ? 'use a valid monitor token'
        : 'set a valid API key (PINO_INGEST_API_KEY or PINO_INGEST_API_KEY_FILE)'
    if (status === 401 || status === 403)
      return new IngestError('AUTH', `${cure}: the log service replied with ${reason}`, { status })
    if (classifyStatus(status) === 'retryable') {
      const code = status === 429 || (askedMs > 0 && isLate) ? 'RATE_LIMITED' : 'UNAVAILABLE'
      return new IngestError(code, `${reason}${tried}${retryHint(askedMs)}`, {
        status,
        ...(askedMs > 0 && { retryAfterMs: askedMs }),
      })
    }
    if (status >= 400)
      return new IngestError('REJECTED', status === 404 || status === 405 ? `${reason}; check the url` : reason, {
        status,
      })
    const why = status < 300 ? "not the log service's answer" : 'redirects are not followed'
    return new IngestError('MISDIRECTED', `${reason}; ${why}, check the url`, { status })
  }
}

/** Details of a failed call. */
interface Failed {
  readonly attempt: number
  /** Milliseconds of the Retry-After; 0 without one. */
  readonly askedMs: number
  /** Whether the next attempt would begin after the deadline. */
  readonly isLate: boolean
}

function createRateLimitedError(remainingMs: number): IngestError {
  return new IngestError(
    'RATE_LIMITED',
    `not sent, since the log service has asked to wait (Retry-After)${retryHint(remainingMs)}`,
    { retryAfterMs: Math.ceil(remainingMs) },
  )
}

function retryHint(waitMs: number): string {
  return waitMs > 0 ? `; try again in ${Math.ceil(waitMs / 1000)} s` : ''
}
