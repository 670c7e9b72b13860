/** Whether the service fails, as one state that begins anew with each success. */
import type { EndpointRejected, Retryable } from '../../batch/sender.js'

interface Failing {
  readonly reason: string
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
  | { readonly kind: 'suspected'; readonly since: number | undefined; readonly failingSince: number }
  | ({ readonly kind: 'failing' } & Failing)
  /** The endpoint is assumed to reject everything. `refusedAlone`: id of the refused batch, if all refusals are of one. */
  | ({ readonly kind: 'rejecting'; readonly refusedAlone: string | undefined } & Failing)

export class Outage {
  #state: State = { kind: 'none' }

  /** Reason of the latest failure; undefined outside an outage. */
  get reason(): string | undefined {
    return 'reason' in this.#state ? this.#state.reason : undefined
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

  get isRejecting(): boolean {
    return this.#state.kind === 'rejecting'
  }

  get refusedAlone(): string | undefined {
    return this.#state.kind === 'rejecting' ? this.#state.refusedAlone : undefined
  }

  /** Call for each attempt that may succeed later. @param startedAt its start */
  attemptFailed(startedAt: number): void {
    const state = this.#state
    if (state.kind === 'none') this.#state = { kind: 'suspected', since: undefined, failingSince: startedAt }
    else if (state.failingSince === undefined) this.#state = { ...state, failingSince: startedAt }
  }

  /** Call if such a failure only delays its batch. */
  suspect(now: number): void {
    if (this.#state.kind === 'suspected') this.#state = { ...this.#state, since: this.#state.since ?? now }
  }

  /** @param startedAt start of the outage if none is in progress */
  fail({ reason }: Retryable | EndpointRejected, startedAt: number): void {
    const next = this.#next(reason, startedAt)
    this.#state = this.#state.kind === 'rejecting' ? { ...this.#state, ...next } : { kind: 'failing', ...next }
  }

  /** As `fail`, for a rejection. @param batchId undefined if batches were rejected together */
  reject({ reason }: EndpointRejected, startedAt: number, batchId: string | undefined): void {
    const isOfOne = this.#state.kind !== 'rejecting' || this.#state.refusedAlone === batchId
    const refusedAlone = isOfOne ? batchId : undefined
    this.#state = { kind: 'rejecting', refusedAlone, ...this.#next(reason, startedAt) }
  }

  /** Call for a refusal of an older attempt. @returns whether it shows that more than one batch is refused */
  refusedOther(batchId: string): boolean {
    if (this.#state.kind !== 'rejecting' || [undefined, batchId].includes(this.#state.refusedAlone)) return false
    this.#state = { ...this.#state, refusedAlone: undefined }
    return true
  }

  restartBackoff(): void {
    if ('attempts' in this.#state) this.#state = { ...this.#state, attempts: 0 }
  }

  end(): void {
    this.#state = { kind: 'none' }
  }

  #next(reason: string, startedAt: number): Failing {
    const state = this.#state
    const { failingSince, attempts } = this
    const since = state.kind === 'none' ? startedAt : Math.min(state.since ?? startedAt, startedAt)
    return { reason, since: this.since ?? since, failingSince, attempts: attempts + 1 }
  }
}
