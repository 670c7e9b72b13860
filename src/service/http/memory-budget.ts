/** Memory that many requests share: each takes what it needs, and gives it back as a whole when it is done. */

export interface MemoryReservation {
  take(bytes: number): void
  release(): void
}

export class MemoryBudget {
  readonly #maxBytes: number
  #takenBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get takenBytes(): number {
    return this.#takenBytes
  }

  /** Whether all shares together are within it. */
  fits(): boolean {
    return this.#takenBytes <= this.#maxBytes
  }

  share(): MemoryReservation {
    let held = 0
    const take = (bytes: number): void => {
      held += bytes
      this.#takenBytes += bytes
    }
    return {
      take,
      release: () => take(-held),
    }
  }
}
