/** A mutex per batch id: the outcome of the first batch decides whether the next one is a duplicate. */
export class BatchMutex {
  readonly #turns = new Map<string, Promise<void>>()
  #waiting = 0

  /** Batches that wait for a batch with the same id. */
  get waiting(): number {
    return this.#waiting
  }

  /** Resolves when no other batch with this id is in progress. @returns function that ends the turn */
  async take(batchId: string): Promise<() => void> {
    this.#waiting += 1
    for (let other = this.#turns.get(batchId); other !== undefined; other = this.#turns.get(batchId)) await other
    this.#waiting -= 1
    let end = (): void => {}
    const turn = new Promise<void>((resolve) => (end = resolve))
    this.#turns.set(batchId, turn)
    return () => {
      this.#turns.delete(batchId)
      end()
    }
  }
}
