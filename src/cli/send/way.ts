/** The way to the service: as the transport's own, without a spool, since the files are the store. */
import { setMaxListeners } from 'node:events'
import { createHttp } from '../../client/http.js'
import type { Clock } from '../../shared/clock.js'
import { createGzipSender } from '../../delivery/gzip-sender.js'
import { CircuitBreaker } from '../../delivery/retry/circuit-breaker.js'
import { createIngestSender } from '../../delivery/ingest-sender.js'
import { createIsolationSender } from '../../delivery/isolation/isolation-sender.js'
import { createRetrySender } from '../../delivery/retry/retry-sender.js'
import { createFailureReporter } from '../../delivery/retry/failure-reporter.js'
import type { Settings } from '../../options/resolve-options.js'
import type { Batch, DeadLetter, Retryable, EndpointRejected, Outcome } from '../../batch/sender.js'

/** An outage may last for hours, in front of a person or in a log. */
const REPEAT_MS = 60_000

export interface WayOptions {
  readonly settings: Settings
  readonly clock: Clock
  /** Batches on their way at once. */
  readonly concurrency: number
  /** Keeps entries that were refused. Should it throw, the batch is given up. */
  readonly setAside: (letters: readonly DeadLetter[]) => void
  /** Takes secrets out. */
  readonly mask: (text: string) => string
  /** For the user; secrets are still in it. */
  readonly tell: (text: string) => void
  /** For each failure. @returns whether it was dealt with, and need not be told */
  readonly onTrouble: (trouble: Retryable | EndpointRejected) => boolean
}

export class Way {
  readonly #breaker: CircuitBreaker
  readonly #send: (batch: Batch) => Promise<Outcome>
  readonly #closeHttp: () => Promise<void>
  readonly #abort = new AbortController()

  constructor({ settings, clock, concurrency, setAside, mask, tell, onTrouble }: WayOptions) {
    const { signal } = this.#abort
    // Every batch under way listens to it.
    setMaxListeners(0, signal)
    const http = createHttp({ ...settings, apiKey: settings.apiKey.reveal(), maxConnections: concurrency })
    this.#closeHttp = () => http.close()
    const teller = createFailureReporter(
      { problem: (_code, message) => tell(message), note: (_kind, message) => tell(message), discard: () => {} },
      clock,
      {
        meanwhile: 'sending is paused at this position',
        repeatMs: REPEAT_MS,
      },
    )
    const breaker = (this.#breaker = new CircuitBreaker({
      ...settings,
      clock,
      maxConcurrency: concurrency,
      onFailure: (trouble, ...rest) => {
        if (!onTrouble(trouble)) teller.onFailure(trouble, ...rest)
      },
      onRecovery: teller.onRecovery,
    }))
    const hint = settings.isLocalDefault
      ? 'start the local service with `npx pino-ingest dev`, or set PINO_INGEST_URL'
      : undefined
    const retrying = createRetrySender(createIngestSender({ http, clock, hint, mask }), breaker)
    const sender = createIsolationSender({
      inner: settings.compression === 'gzip' ? createGzipSender(retrying) : retrying,
      breaker,
      deadLetter: setAside,
    })
    this.#send = (batch) => sender.send(batch, signal)
  }

  /** Batches that may be on their way at the moment. */
  get limit(): number {
    return this.#breaker.limit
  }

  /** Why the service does not take entries, while it does not. */
  get trouble(): string | undefined {
    return this.#breaker.failures.lastFailure
  }

  /** Never rejects: `delivered`, or `given-up` once it was stopped. */
  send(batch: Batch): Promise<Outcome> {
    return this.#send(batch)
  }

  /** Calls `listener` when `limit` has grown by a batch that waits. One listener. */
  onRoom(listener: () => void): void {
    this.#breaker.onCapacity(listener)
  }

  /** Nothing comes any more that could speak for the service: whoever waits for that has waited long enough. */
  hurry(): void {
    this.#breaker.startShutdown(Infinity)
  }

  /** What is under way is given up. */
  abort(): void {
    this.#abort.abort()
  }

  /** Keeps the process no longer. */
  async close(): Promise<void> {
    this.abort()
    // Nobody waits at the breaker any more: its timer must not keep the process.
    this.#breaker.retryNow()
    await this.#closeHttp()
  }
}
