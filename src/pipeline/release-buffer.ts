/**
 * `release: true`: buffers batches for at most a few seconds until the release is registered, so their entries get its
 * id. The batches are already on disk, without the id, so nothing is lost in the meantime.
 */
import { SERVICE_MESSAGES } from '../diagnostics/messages.js'
import type { Batch } from '../batch/batch.js'
import { createBatchBody, parseBatchEntries } from '../batch/sub-batch.js'
import type { Reporter } from '../diagnostics/reporter.js'
import type { Settings } from '../options/settings.js'
import type { Mapper } from '../record/mapper.js'
import type { Clock } from '../shared/clock.js'
import { IngestError } from '../shared/errors.js'
import type { EndpointPipeline } from './endpoint-pipeline.js'
import { createRegistration } from './release-registration.js'

export interface ReleaseHoldOptions {
  readonly settings: Settings
  readonly clock: Clock
  readonly report: Pick<Reporter, 'problem'>
  /** The first one is the endpoint of log entries. */
  readonly endpoints: readonly [EndpointPipeline, ...EndpointPipeline[]]
  /** Adds the id to later entries. */
  readonly mapper: Pick<Mapper, 'setReleaseId'>
}

const MAX_BUFFER_MS = 5_000
/** Limit for all buffered bodies, because adding the id takes 10 ms per MiB. */
const MAX_BUFFER_BYTES = 4 * 1024 * 1024

export class ReleaseBuffer {
  readonly #options: ReleaseHoldOptions
  readonly #entries: EndpointPipeline
  readonly #registerRelease: (signal: AbortSignal) => Promise<string>
  readonly #maxBytes: number
  readonly #abort = new AbortController()
  readonly #cancelTimer: () => void
  #buffered: Batch[] | undefined = []
  #bufferedBytes = 0
  #isRegistering = false
  #isRegistered = false
  #end: () => void = () => {}
  /** Resolves when no more batches are buffered. */
  readonly ended = new Promise<void>((resolve) => {
    this.#end = resolve
  })

  constructor(options: ReleaseHoldOptions) {
    const { settings, clock, endpoints } = options
    const [entries] = endpoints
    this.#options = options
    this.#entries = entries
    this.#maxBytes = Math.min(MAX_BUFFER_BYTES, settings.maxBufferBytes / 2)
    this.#registerRelease = createRegistration({
      settings,
      clock,
      retryAfterLeftMs: () => entries.breaker.failures.retryAfterLeftMs,
      onPostponed: (error) => this.#reportFailure(error),
      onRetryAfter: (delayMs) => {
        for (const { breaker } of endpoints) breaker.applyRetryAfter(delayMs)
      },
    })
    this.#cancelTimer = clock.timer(MAX_BUFFER_MS, () => this.#release(undefined))
  }

  get pendingEntries(): number {
    return (this.#buffered ?? []).reduce((sum, { count }) => sum + count, 0)
  }

  /** Starts an attempt, unless one is in progress or has succeeded. */
  register(): void {
    if (this.#isRegistering || this.#isRegistered || this.#abort.signal.aborted) return
    this.#isRegistering = true
    void this.#register()
  }

  /** Holds the batch or passes it to the endpoint. */
  add(batch: Batch): void {
    // A batch without a body waits on disk only, behind many others.
    if (this.#buffered === undefined || batch.body.length === 0) return this.#entries.add(batch)
    this.#buffered.push(batch)
    this.#bufferedBytes += batch.body.length
    if (this.#bufferedBytes > this.#maxBytes) this.#release(undefined)
  }

  /** Ends the buffering and any attempt. */
  stop(): void {
    this.#abort.abort()
    this.#release(undefined)
  }

  async #register(): Promise<void> {
    let releaseId: string | undefined
    try {
      releaseId = await this.#registerRelease(this.#abort.signal)
      this.#isRegistered = true
      this.#entries.batcher.seal() // its entries get the id together with the buffered batches
      this.#options.mapper.setReleaseId(releaseId)
    } catch (error) {
      if (!this.#abort.signal.aborted)
        this.#reportFailure(error instanceof IngestError ? error : new IngestError('UNAVAILABLE', String(error)))
    } finally {
      this.#isRegistering = false
    }
    this.#release(releaseId)
  }

  #release(releaseId: string | undefined): void {
    const buffered = this.#buffered
    if (buffered === undefined) return
    this.#cancelTimer()
    // Removed one by one: a delivery may report the account immediately, and the remaining batches must be counted as
    // pending.
    for (let batch = buffered.shift(); batch !== undefined; batch = buffered.shift()) {
      this.#entries.add(releaseId === undefined ? batch : addReleaseId(batch, releaseId))
    }
    this.#buffered = undefined
    this.#end()
  }

  #reportFailure({ code, message }: IngestError): void {
    this.#options.report.problem(code, SERVICE_MESSAGES.releaseNotRegistered.text(message))
  }
}

/** Adds the id to each entry without a release id. */
export function addReleaseId(batch: Batch, releaseId: string): Batch {
  const member = `{"release_id":${JSON.stringify(releaseId)},`
  const entries = parseBatchEntries(batch.body).map((entry) =>
    Object.hasOwn(JSON.parse(entry) as object, 'release_id') ? entry : member + entry.slice(1),
  )
  return { ...batch, body: createBatchBody(batch.batchId, entries) }
}
