/** The way to the service for a command that ends: as the transport's own, up to a deadline. */
import { setMaxListeners } from 'node:events'
import { createHttp } from '../../client/http.js'
import type { Clock } from '../../shared/clock.js'
import { createGzipSender } from '../../delivery/gzip-sender.js'
import { CircuitBreaker } from '../../delivery/retry/circuit-breaker.js'
import { createIngestSender } from '../../delivery/ingest-sender.js'
import { createIsolationSender } from '../../delivery/isolation/isolation-sender.js'
import { createRequestsBodySender, createRequestsSender } from '../../delivery/requests-sender.js'
import { createRetrySender } from '../../delivery/retry/retry-sender.js'
import type { Settings } from '../../options/resolve-options.js'
import type { Batch, DeadLetter, Outcome, Sender } from '../../batch/sender.js'
import type { ItemKind } from './item-kind.js'

export interface SendingOptions {
  readonly kind: ItemKind
  readonly settings: Settings
  readonly clock: Clock
  /** Milliseconds for all of it. */
  readonly timeoutMs: number
  /** Takes secrets out. */
  readonly mask: (text: string) => string
  readonly setAside: (letters: readonly DeadLetter[]) => void
  /** The service has asked for silence, for so long. */
  readonly onRetryAfter: (delayMs: number) => void
}

/** A batch, and what is to be done when it is known what became of it. */
export interface Job {
  readonly batch: Batch
  readonly done: (outcome: Outcome) => void
}

/** Where batches come from, and where goes what is not taken. */
export interface Source {
  /** Entries so far. */
  readonly sent: number
  readonly accepted: number
  readonly rejected: number
  /** Rejects with the system's errors and UnsafeError. */
  jobs(): AsyncGenerator<Job>
  /** Keeps what was refused. @returns false where it is of another source */
  setAside(letters: readonly DeadLetter[]): boolean
  /** Puts back what is left. @returns entries without an answer. Rejects with the system's errors */
  finish(): Promise<number>
}

export class Sending {
  readonly #options: SendingOptions
  readonly #abort = new AbortController()
  readonly #breaker: CircuitBreaker
  readonly #sender: Sender
  readonly #deadlineAt: number
  readonly #cancelDeadline: () => void
  readonly #closeHttp: () => Promise<void>
  #running = 0
  #isHopeless = false
  #trouble: string | undefined

  constructor(options: SendingOptions) {
    this.#options = options
    const { kind, settings, clock, timeoutMs, mask, setAside, onRetryAfter } = options
    // Every batch under way listens to it.
    setMaxListeners(0, this.#abort.signal)
    this.#deadlineAt = clock.now() + timeoutMs
    this.#cancelDeadline = clock.timer(timeoutMs, () => this.stop())
    const http = createHttp({ ...settings, apiKey: settings.apiKey.reveal(), maxConnections: settings.maxConcurrency })
    this.#closeHttp = () => http.close()
    const breaker = (this.#breaker = new CircuitBreaker({
      ...settings,
      clock,
      onRetryAfter,
      onFailure: ({ reason }, _ageMs, waitMs) => {
        this.#trouble = reason
        if (clock.now() + waitMs >= this.#deadlineAt) this.#giveUpHope()
      },
      onRecovery: () => {
        this.#trouble = undefined
      },
    }))
    const one =
      kind === 'requests' ? createRequestsSender({ http, clock, mask }) : createIngestSender({ http, clock, mask })
    const retrying = createRetrySender(this.#counting(one), breaker)
    const compressing = settings.compression === 'gzip' ? createGzipSender(retrying) : retrying
    this.#sender = createIsolationSender({
      inner: kind === 'requests' ? createRequestsBodySender(compressing) : compressing,
      breaker,
      deadLetter: setAside,
      isShortenable: kind === 'entries',
    })
  }

  /** Why the service does not take entries, while it does not. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** The other endpoint was asked for silence: it holds for all that carries the key. */
  holdFor(delayMs: number): void {
    this.#breaker.applyRetryAfter(delayMs)
  }

  /** Ends it now: what is under way is given up. */
  stop(): void {
    this.#abort.abort()
  }

  /**
   * Sends what `next` gives until it gives no more, or the time is over.
   * @param next one call at a time; must not reject
   */
  async sendAll(next: () => Promise<Job | undefined>): Promise<void> {
    const { settings, clock } = this.#options
    const { signal } = this.#abort
    let isExhausted = false
    let turn: Promise<unknown> = Promise.resolve()
    const inTurn = (): Promise<Job | undefined> => {
      const job = turn.then(() => (signal.aborted ? undefined : next()))
      turn = job
      return job
    }
    const work = async (): Promise<void> => {
      for (let job = await inTurn(); job !== undefined; job = await inTurn())
        job.done(await this.#sender.send(job.batch, signal))
      if (signal.aborted || isExhausted) return
      isExhausted = true
      // Nothing comes any more that could speak for the service: whoever waits for that has waited long enough.
      this.#breaker.startShutdown(this.#deadlineAt)
    }
    await Promise.all(Array.from({ length: settings.maxConcurrency }, work))
    this.#cancelDeadline()
    // Nobody waits at the breaker any more: its timer must not keep the process.
    this.#breaker.retryNow()
    await this.#closeHttp()
    if (clock.now() >= this.#deadlineAt) this.#trouble ??= 'the time is over (--timeout)'
  }

  /** What opens only after the deadline is not waited for; but what the service has at the moment is let come back. */
  #giveUpHope(): void {
    this.#isHopeless = true
    if (this.#running === 0) this.stop()
  }

  #counting(inner: Sender): Sender {
    return {
      send: async (batch, signal) => {
        this.#running += 1
        try {
          return await inner.send(batch, signal)
        } finally {
          this.#running -= 1
          if (this.#isHopeless && this.#running === 0) this.stop()
        }
      },
    }
  }
}
