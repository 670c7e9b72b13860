/** One listener per signal for all requests: Node warns about more than 10, and adding and removing one costs 3 us. */

export class AbortListeners {
  readonly #held = new Map<AbortSignal, { readonly actions: Set<() => void>; readonly listener: () => void }>()

  /** Runs `action` when `signal` aborts, until `remove`. An aborted signal does nothing. */
  add(signal: AbortSignal, action: () => void): void {
    let held = this.#held.get(signal)
    if (held === undefined) {
      const actions = new Set<() => void>()
      held = {
        actions,
        listener: () => {
          for (const one of actions) one()
        },
      }
      this.#held.set(signal, held)
      signal.addEventListener('abort', held.listener)
    }
    held.actions.add(action)
  }

  remove(signal: AbortSignal, action: () => void): void {
    const held = this.#held.get(signal)
    if (held === undefined) return
    held.actions.delete(action)
    if (held.actions.size > 0) return
    this.#held.delete(signal)
    signal.removeEventListener('abort', held.listener)
  }
}
