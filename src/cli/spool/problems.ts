/** What went wrong, each problem once. The work continues. */
export class Problems {
  readonly #messages = new Set<string>()

  get messages(): readonly string[] {
    return [...this.#messages]
  }

  add(error: unknown): void {
    this.#messages.add(error instanceof Error ? error.message : String(error))
  }

  /** @returns undefined if it failed */
  attempt<T>(act: () => T): T | undefined {
    try {
      return act()
    } catch (error) {
      this.add(error)
      return undefined
    }
  }
}
