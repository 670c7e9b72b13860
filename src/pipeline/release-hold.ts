/**
 * `release: true`: registers the release at start. What is cut meanwhile waits for the id, for a few seconds at most; on
 * disk it is already, without the id, so that nothing is lost by waiting.
 */
import type { Clock } from '../shared/clock.js'
import { IngestError } from '../shared/errors.js'
import { createBatchBody, parseBatchEntries } from '../batch/sub-batch.js'
import type { Batch } from '../batch/sender.js'

export interface ReleaseHoldOptions {
  readonly clock: Clock
  /** @returns the id. Rejects where there is none. */
  readonly register: (signal: AbortSignal) => Promise<string>
  /** Later entries carry it. */
  readonly onId: (releaseId: string) => void
  readonly onFailure: (error: IngestError) => void
  readonly deliver: (batch: Batch) => void
  /** Bytes of the bodies that wait. */
  readonly maxBytes: number
}

/** Entries are held back for no longer. */
const HOLD_MS = 5_000

export class ReleaseHold {
  readonly #options: ReleaseHoldOptions
  readonly #abort = new AbortController()
  #held: Batch[] | undefined = []
  #heldBytes = 0
  #isRegistering = false
  #isRegistered = false
  #cancelTimer: () => void
  #end: () => void = () => {}
  /** When nothing is held back any more. */
  readonly ended = new Promise<void>((resolve) => {
    this.#end = resolve
  })

  constructor(options: ReleaseHoldOptions) {
    this.#options = options
    this.#cancelTimer = options.clock.timer(HOLD_MS, () => this.#release(undefined))
  }

  get pendingEntries(): number {
    return (this.#held ?? []).reduce((sum, { count }) => sum + count, 0)
  }

  /** Tries, where no other attempt is under way and none has succeeded. */
  register(): void {
    if (this.#isRegistering || this.#isRegistered || this.#abort.signal.aborted) return
    this.#isRegistering = true
    void this.#register()
  }

  /** Holds the batch, or passes it on. */
  add(batch: Batch): void {
    // Without a body it is one of many that wait on disk.
    if (this.#held === undefined || batch.body.length === 0) return this.#options.deliver(batch)
    this.#held.push(batch)
    this.#heldBytes += batch.body.length
    if (this.#heldBytes > this.#options.maxBytes) this.#release(undefined)
  }

  /** Holds nothing back any more. */
  stop(): void {
    this.#abort.abort()
    this.#release(undefined)
  }

  async #register(): Promise<void> {
    let releaseId: string | undefined
    try {
      releaseId = await this.#options.register(this.#abort.signal)
      this.#isRegistered = true
      this.#options.onId(releaseId)
    } catch (error) {
      if (!this.#abort.signal.aborted)
        this.#options.onFailure(error instanceof IngestError ? error : new IngestError('UNAVAILABLE', String(error)))
    } finally {
      this.#isRegistering = false
    }
    this.#release(releaseId)
  }

  #release(releaseId: string | undefined): void {
    const held = this.#held
    if (held === undefined) return
    this.#cancelTimer()
    // One by one: what is delivered may be told at once, and the others are pending still.
    for (let batch = held.shift(); batch !== undefined; batch = held.shift()) {
      this.#options.deliver(releaseId === undefined ? batch : addReleaseId(batch, releaseId))
    }
    this.#held = undefined
    this.#end()
  }
}

/** With the id on each entry that names no release itself. */
export function addReleaseId(batch: Batch, releaseId: string): Batch {
  const member = `{"release_id":${JSON.stringify(releaseId)},`
  const entries = parseBatchEntries(batch.body).map((entry) =>
    Object.hasOwn(JSON.parse(entry) as object, 'release_id') ? entry : member + entry.slice(1),
  )
  return { ...batch, body: createBatchBody(batch.batchId, entries) }
}
