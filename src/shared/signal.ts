/** A typed event. It connects two objects that refer to each other after both are created. */
export class Signal<Args extends readonly unknown[] = []> {
  readonly #listeners: ((...args: Args) => void)[] = []

  on(listener: (...args: Args) => void): void {
    this.#listeners.push(listener)
  }

  emit(...args: Args): void {
    for (const listener of this.#listeners) listener(...args)
  }
}
