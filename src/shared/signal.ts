/** A typed event, through which two parts that must know each other are connected after both are made. */
export class Signal<Args extends readonly unknown[] = []> {
  readonly #listeners: ((...args: Args) => void)[] = []

  on(listener: (...args: Args) => void): void {
    this.#listeners.push(listener)
  }

  emit(...args: Args): void {
    for (const listener of this.#listeners) listener(...args)
  }
}
