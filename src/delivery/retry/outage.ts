/** Whether the service fails, as one state that begins anew with each success. */
import type { EndpointRejected, Retryable } from '../../batch/outcome.js'

interface Failing {
  readonly reason: string
  /** As in the latest failure. */
  readonly nobodyListens: boolean
  /** Time of the first failure. */
  readonly since: number
  /** Start of the first failed attempt, which may have waited for a reply. */
  readonly failingSince: number | undefined
  /** Failures, for the backoff. */
  readonly attempts: number
}

type State =
  | { readonly kind: 'none' }
  /** Single batches failed while others may be accepted. `since`: undefined until the first of them was delayed. */
  | { readonly kind: 'possible'; readonly since: number | undefined; readonly failingSince: number }
  | ({ readonly kind: 'failing' } & Failing)

export class Outage {
  #state: State = { kind: 'none' }

  /** Reason of the latest failure; undefined outside an outage. */
  get reason(): string | undefined {
    return 'reason' in this.#state ? this.#state.reason : undefined
  }

  /** Whether nothing listened at the latest attempt. */
  get nobodyListens(): boolean {
    return 'nobodyListens' in this.#state && this.#state.nobodyListens
  }

  /** Undefined outside an outage. */
  get since(): number | undefined {
    return this.reason === undefined ? undefined : (this.#state as Failing).since
  }

  get failingSince(): number | undefined {
    return this.#state.kind === 'none' ? undefined : this.#state.failingSince
  }

  get attempts(): number {
    return 'attempts' in this.#state ? this.#state.attempts : 0
  }

  /** Call for each attempt that may succeed later. @param attemptStartedAt its start */
  attemptFailed(attemptStartedAt: number): void {
    const state = this.#state
    if (state.kind === 'none') this.#state = { kind: 'possible', since: undefined, failingSince: attemptStartedAt }
    else if (state.failingSince === undefined) this.#state = { ...state, failingSince: attemptStartedAt }
  }

  /** Call if such a failure only delays its batch. */
  recordSingleFailure(now: number): void {
    if (this.#state.kind === 'possible') this.#state = { ...this.#state, since: this.#state.since ?? now }
  }

  /** @param startOfOutage if none is in progress */
  fail(failure: Retryable | EndpointRejected, startOfOutage: number): void {
    this.#state = {
      kind: 'failing',
      nobodyListens: 'nobodyListens' in failure,
      ...this.#next(failure.reason, startOfOutage),
    }
  }

  restartBackoff(): void {
    if ('attempts' in this.#state) this.#state = { ...this.#state, attempts: 0 }
  }

  end(): void {
    this.#state = { kind: 'none' }
  }

  #next(reason: string, startOfOutage: number): Omit<Failing, 'nobodyListens'> {
    const state = this.#state
    const { failingSince, attempts } = this
    const since = state.kind === 'none' ? startOfOutage : Math.min(state.since ?? startOfOutage, startOfOutage)
    return { reason, since: this.since ?? since, failingSince, attempts: attempts + 1 }
  }
}
