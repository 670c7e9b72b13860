/** Memory that many requests share: each takes what it needs, and gives it back as a whole when it is done. */

export interface Share {
  take(bytes: number): void
  release(): void
}

export class Budget {
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

  share(): Share {
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
