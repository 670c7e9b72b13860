/** Batches of one id are delivered one after the other: the outcome of the first decides. */
export class BatchTurns {
  readonly #turns = new Map<string, Promise<void>>()
  #waiting = 0

  /** Batches that wait for one of the same id. */
  get waiting(): number {
    return this.#waiting
  }

  /** Resolves when no other batch of this id is in progress. @returns ends the turn */
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
