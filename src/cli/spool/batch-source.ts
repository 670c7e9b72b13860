/** Batches that a pipeline reads as its own, so that it delivers all of them before it ends. */
import type { Batch } from '../../batch/batch.js'
import type { SpilledBatches } from '../../delivery/lanes.js'

export class BatchSource implements SpilledBatches {
  /** They are not counted. */
  readonly batches = 1
  hasMore = true
  /** Sequence of the next batch. */
  oldest = 0
  readonly #batches: AsyncIterator<Batch, void>
  #onEnd = (): void => {}
  /** Resolves when no further batch is read. */
  readonly ended = new Promise<void>((resolve) => (this.#onEnd = resolve))

  /** @param batches must not reject */
  constructor(batches: AsyncIterator<Batch, void>) {
    this.#batches = batches
  }

  push(): void {}

  pass(): void {}

  async next(take: (batch: Batch, sequence: number) => void): Promise<boolean> {
    const { value } = await this.#batches.next()
    if (value === undefined) this.end()
    if (value === undefined || !this.hasMore) return false
    this.oldest += 1
    take(value, this.oldest - 1)
    return true
  }

  end(): void {
    this.hasMore = false
    this.oldest = Infinity
    this.#onEnd()
  }
}
