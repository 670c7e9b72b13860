/**
 * Finds the entries that the service rejects, moves them to the dead letters, and delivers the others.
 *
 * If a reply names the bad entries, nothing else is needed. If it names none, the batch is halved until each bad entry
 * is alone. But a gateway that rejects everything would also reject each single entry. So an entry becomes a dead
 * letter only if it was rejected alone, several times in a row, while the service accepted other entries directly before
 * and directly afterwards. Otherwise it waits and is sent again after the next acceptance. Only one batch is searched at a time,
 * because the rejections of a second one would invalidate the proofs of the first.
 *
 * If everything in a search is rejected, the endpoint is assumed to reject everything: the circuit breaker admits one
 * probe per minute. The batches take turns as the probe, with a single entry, since each batch may contain a bad entry.
 *
 * A part that fails without a rejection, such as an entry that resets the connection, is sent outside the search, so it
 * does not delay the others.
 */
import type { Outcome, Refused } from '../../batch/outcome.js'
import type { Sender } from '../../batch/sender.js'
import type { CircuitBreaker } from '../retry/circuit-breaker.js'
import { BatchProgress } from './batch-progress.js'
import type { DeadLetterOptions, SubBatch } from './batch-progress.js'

export interface IsolationOptions extends DeadLetterOptions {
  /** Returns `delivered`, `refused`, `abandoned`, or `retryable` with `sendAs`. */
  readonly inner: Sender
  /** The circuit breaker that `inner` waits for. */
  readonly breaker: Pick<CircuitBreaker, 'failures' | 'limitToOne' | 'openForRejections' | 'suspend'>
  /** Whether a single entry that is too large for the service may be shortened, as a log entry may. Default true. */
  readonly isShortenable?: boolean
  /**
   * After this time without an acceptance, the endpoint counts as rejecting everything. Milliseconds; default 60,000.
   */
  readonly maxWaitMs?: number | undefined
  /** In [0, 1). Selects the first single entry to send, so short processes try different ones. Default `Math.random`. */
  readonly random?: (() => number) | undefined
}

/** Resolves when no other batch is searched. @returns a function that ends the turn */
type TakeTurn = () => Promise<() => void>

/** Never rejects. The outcome is `delivered`, or `abandoned` with the entries settled before. */
export function createIsolationSender(options: IsolationOptions): Sender {
  let last = Promise.resolve()
  const takeTurn: TakeTurn = async () => {
    const previous = last
    let endTurn = (): void => {}
    last = new Promise((resolve) => (endTurn = resolve))
    await previous
    return endTurn
  }
  return {
    async send(batch, signal) {
      let first: Outcome
      try {
        first = await options.inner.send(batch, signal)
        // Fast path for the usual case: tracking each entry would take 4 % of the worker's time.
        if (first.kind === 'delivered' && first.accepted === batch.count && first.rejected.length === 0) {
          batch.acknowledgement?.acknowledge()
          return first
        }
      } catch (bug) {
        // Must not happen.
        return { kind: 'abandoned', reason: String(bug), accepted: 0, rejected: [] }
      }
      const progress = new BatchProgress(batch, options)
      const bisection = new BatchBisection(options, takeTurn, progress, signal)
      try {
        await bisection.isolate(first)
      } catch (bug) {
        // Must not happen. Unsettled entries are counted and reported as abandoned.
        progress.abandon(String(bug))
      } finally {
        bisection.end()
      }
      return progress.outcome
    },
  }
}

/** Unsettled entries. Cut only when they are sent, because the cut is recorded. */
interface Candidate {
  readonly count: number
  readonly cut: () => SubBatch
  /** Set if the entries were rejected together. */
  readonly rejection?: Refused | undefined
  /** Whether one of the entries is provably bad. */
  readonly hasBadEntry?: boolean
}

/** Limits the wait for an acceptance, since the application may log nothing for a while. */
const MAX_WAIT_MS = 60_000

class BatchBisection {
  readonly #breaker: IsolationOptions['breaker']
  readonly #options: IsolationOptions
  readonly #takeTurn: TakeTurn
  readonly #progress: BatchProgress
  readonly #signal: AbortSignal
  /** Candidates to send; the last one that may be sent is next. */
  #open: Candidate[] = []
  /** Parts that are sent outside the search. */
  readonly #separate = new Set<Promise<void>>()
  readonly #rootId: string
  #nextProbe: number
  #acceptedBefore = 0
  /** Rejections in this search that say something about the endpoint. */
  #rejectionCount = 0
  #endTurn: (() => void) | undefined
  #resume: (() => void) | undefined

  constructor(options: IsolationOptions, takeTurn: TakeTurn, progress: BatchProgress, signal: AbortSignal) {
    const { batch } = progress.whole
    this.#rootId = batch.origin?.batchId ?? batch.batchId
    this.#nextProbe = Math.floor((options.random ?? Math.random)() * batch.count)
    this.#breaker = options.breaker
    this.#options = options
    this.#takeTurn = takeTurn
    this.#progress = progress
    this.#signal = signal
  }

  /** @param first outcome of the whole batch */
  async isolate(first: Outcome): Promise<void> {
    const { failures } = this.#breaker
    const { rejections } = failures
    let { rejectsAllCount } = rejections
    this.#acceptedBefore = failures.attempts.accepted
    await this.#send(this.#progress.whole, { first })
    this.#acceptedBefore = failures.attempts.accepted
    while (!this.#progress.isFinished) {
      if (this.#open.length === 0 && this.#separate.size > 0) {
        await Promise.race(this.#separate)
        continue
      }
      if (this.#resume === undefined) {
        this.#breaker.limitToOne()
        this.#resume = this.#breaker.suspend()
      }
      if (this.#wereRejectedAlone && !(await this.#waitForRepeat())) break
      this.#endTurn = await this.#takeTurn()
      rejections.searchedId = this.#rootId
      // By now, the endpoint may accept entries that it rejected before.
      if (rejections.rejectsAllCount !== rejectsAllCount || this.#open.length === 0) this.#startOver()
      rejectsAllCount = rejections.rejectsAllCount
      if (rejections.mayRejectAll) await this.#probe()
      else await this.#search()
      this.#yieldTurn()
      if (!this.#progress.isFinished && this.#open.length > 0) await this.#waitForAcceptance()
    }
  }

  end(): void {
    this.#yieldTurn()
    this.#breaker.failures.rejections.forget(this.#rootId)
    this.#resume?.()
  }

  #yieldTurn(): void {
    if (this.#endTurn === undefined) return
    this.#breaker.failures.rejections.searchedId = undefined
    this.#endTurn()
    this.#endTurn = undefined
  }

  /** Whether the service accepted anything since the batch was rejected. */
  get #hasAccepted(): boolean {
    return this.#breaker.failures.attempts.accepted > this.#acceptedBefore
  }

  /** Whether each entry that is left was rejected alone. */
  get #wereRejectedAlone(): boolean {
    return this.#progress.openEntries > 0 && this.#progress.wereRejectedAlone(this.#progress.remaining)
  }

  get #canSearch(): boolean {
    return !this.#progress.isFinished && !this.#breaker.failures.rejections.mayRejectAll
  }

  /** Descends to a single entry, then sends the other halves. Continues with halves of those if anything was accepted. */
  async #search(): Promise<void> {
    const { failures } = this.#breaker
    if (failures.attempts.accepted === 0 && (await this.#probeTwoSingles())) return
    this.#rejectionCount = 0
    let isDescending = true
    while (this.#canSearch) {
      const hasAccepted = this.#hasAccepted
      const index = this.#open.findLastIndex(({ count, rejection }) =>
        rejection === undefined ? true : count === 1 ? failures.isAccepting : isDescending || hasAccepted,
      )
      const candidate = this.#open[index]
      if (candidate === undefined) break
      const isRejected = await this.#sendFirst(index, candidate, hasAccepted)
      isDescending &&= isRejected && this.#open.at(-1)?.count !== 1
      this.#deadLetterProven()
    }
    const rejection = this.#open.at(-1)?.rejection
    if (this.#canSearch && this.#rejectionCount > 1 && !this.#hasAccepted && rejection !== undefined)
      this.#breaker.openForRejections(rejection, this.#rootId, this.#wereRejectedAlone)
  }

  /**
   * Sends up to two single entries of a batch that was rejected before anything was accepted. Halving would send up to 14
   * requests to a gateway that rejects everything. @returns whether they were rejected; the circuit is open then
   */
  async #probeTwoSingles(): Promise<boolean> {
    const { count, rejection } = this.#open.at(-1) ?? { count: 0 }
    if (rejection === undefined || count === 1) return false
    let latest = rejection
    for (let singles = 0; singles < 2; singles += 1) {
      const rejected = await this.#send(this.#progress.probe(this.#nextProbe++))
      latest = rejected?.rejection ?? latest
      this.#startOver(rejection)
      if (rejected === undefined || !this.#canSearch) return false
    }
    this.#breaker.openForRejections(latest, this.#rootId)
    return true
  }

  /**
   * Sends all entries of a candidate, or half of the entries that were rejected together; the other half is the next
   * candidate. If single entries wait for an acceptance, it sends another single entry, so enough entries are left to
   * prove that each of them is bad.
   * @returns whether they were rejected
   */
  async #sendFirst(
    index: number,
    { count, cut, rejection, hasBadEntry }: Candidate,
    hasAccepted: boolean,
  ): Promise<boolean> {
    const isProofNeeded = hasAccepted && this.#open.some((other) => other.count === 1 && other.rejection !== undefined)
    const size = rejection !== undefined ? Math.ceil(count / 2) : isProofNeeded ? 1 : count
    const whole = cut()
    const rest = { count: count - size, cut: () => this.#progress.slice(whole, size) }
    this.#open.splice(index, 1, ...(size < count ? [rest] : []))
    const part = this.#progress.slice(whole, 0, size)
    const wereRejectedAlone = this.#progress.wereRejectedAlone(part)
    const rejected = await this.#send(part, { hasBadEntry: hasBadEntry === true && size === count })
    const isRejected = rejected !== undefined
    if (isRejected && !wereRejectedAlone) this.#rejectionCount += 1
    // A 413 is only about the size of the entries.
    const isProven =
      hasBadEntry || (rejection !== undefined && rejection.status !== 413 && this.#breaker.failures.isProof(rejection))
    const at = this.#open.indexOf(rest)
    if (isProven && this.#progress.unsettled(part) === undefined && at !== -1)
      this.#open[at] = { ...rest, hasBadEntry: true }
    return isRejected
  }

  async #probe(): Promise<void> {
    const rejected = await this.#send(this.#progress.probe(this.#nextProbe++))
    if (rejected === undefined) this.#startOver()
    else if (this.#progress.openEntries === 1) this.#open = [rejected]
    else this.#open.splice(this.#open.indexOf(rejected), 1)
  }

  #startOver(rejection?: Refused): void {
    const progress = this.#progress
    this.#acceptedBefore = this.#breaker.failures.attempts.accepted
    const count = progress.openEntries
    // The rejection of the batch is not one of its last entry alone.
    if (count === 0) this.#open = []
    else this.#open = [{ count, cut: () => progress.remaining, rejection: count === 1 ? undefined : rejection }]
  }

  /**
   * Sends until all entries are settled, or until the rest is rejected without naming an entry.
   * @param how `first`: outcome of the first attempt, already known. `isSeparate`: outside the search
   * @returns the rest, if it was rejected; it is then a candidate
   */
  async #send(
    subBatch: SubBatch,
    how: { first?: Outcome; hasBadEntry?: boolean; isSeparate?: boolean } = {},
  ): Promise<Candidate | undefined> {
    let { first } = how
    const { hasBadEntry = false, isSeparate = false } = how
    const { failures } = this.#breaker
    /** Rejections in a row of a single entry. */
    let rejectionsInARow = 0
    for (let rest: SubBatch | undefined = subBatch; rest !== undefined; rest = this.#progress.unsettled(rest)) {
      const sent: SubBatch = rest
      const outcome: Outcome = first ?? (await this.#options.inner.send(sent.batch, this.#signal))
      const isFirst = first !== undefined
      first = undefined
      if (outcome.kind === 'delivered') {
        this.#progress.recordDelivered(sent, outcome)
        if (rejectionsInARow > 0) failures.rejections.recordContradiction()
      } else if (outcome.kind === 'refused') {
        const isTooLarge = outcome.status === 413
        const canShorten = isTooLarge && sent.batch.count === 1 && this.#options.isShortenable !== false
        const shortened = canShorten ? this.#progress.shortened(sent) : undefined
        const named = isTooLarge ? 0 : this.#progress.recordRejected(sent, outcome.rejected, outcome.status)
        rejectionsInARow += 1
        const mayProve = hasBadEntry || (!isFirst && outcome.failureNumber !== undefined)
        // One of several nodes may reject everything: another one accepts a good entry.
        const isRepeated =
          sent.batch.count === 1 && !isTooLarge && mayProve && rejectionsInARow < failures.rejections.rejectionsForProof
        if (shortened === undefined && named === 0 && !isRepeated) {
          // A batch of one entry must be rejected again, because nothing else may be sent for minutes before and after
          // it.
          const rejection = isFirst && sent.batch.count === 1 ? { ...outcome, failureNumber: undefined } : outcome
          if (sent.batch.count === 1) this.#progress.recordRejectedAlone(sent)
          const candidate = { count: sent.batch.count, cut: () => sent, rejection, hasBadEntry }
          this.#open.push(candidate)
          return candidate
        }
        rest = shortened ?? sent
      } else if (outcome.kind === 'retryable') {
        if (!isSeparate) {
          await (outcome.sendAs === 'parts' ? this.#sendParts(sent) : this.#sendSeparately(sent))
          return undefined
        }
        // Each failure of this part would invalidate the proofs of the search.
        const isOver = (): boolean => failures.rejections.searchedId !== this.#rootId || failures.isIdleAtEnd
        await failures.until(isOver, this.#signal, this.#options.maxWaitMs ?? MAX_WAIT_MS)
      } else {
        this.#progress.abandon(outcome.reason)
        return undefined
      }
    }
    return undefined
  }

  /**
   * Sends a batch that fails without a rejection, so no entry becomes a dead letter. In an outage, a single entry shows
   * whether the content is the cause, and the others stay together.
   */
  async #sendParts(sent: SubBatch): Promise<void> {
    const { count } = sent.batch
    const isOutage = this.#breaker.failures.lastFailure !== undefined && !this.#hasAccepted
    const size = isOutage ? 1 : Math.ceil(count / 2)
    const parts = [this.#progress.slice(sent, 0, size), this.#progress.slice(sent, size)]
    await Promise.all(
      parts.map((part) => (part.batch.count === 1 ? this.#sendSeparately(part) : this.#send(part).then(() => {}))),
    )
  }

  #sendSeparately(part: SubBatch): void {
    const release = this.#progress.reserve(part)
    const done = this.#send(part, { isSeparate: true })
      .catch((bug) => this.#progress.abandon(String(bug)))
      .then(() => {
        release()
        this.#separate.delete(done)
      })
    this.#separate.add(done)
  }

  #deadLetterProven(): void {
    for (const candidate of this.#open.filter(({ count }) => count === 1)) {
      const { rejection, hasBadEntry, cut } = candidate
      if (rejection === undefined || !(hasBadEntry || this.#breaker.failures.isProof(rejection))) continue
      this.#open.splice(this.#open.indexOf(candidate), 1)
      this.#progress.moveToDeadLetters(cut(), rejection)
      this.#breaker.failures.rejections.recordProof()
    }
  }

  /** Waits while entries that were not rejected alone are better probes. @returns false at the end of the process */
  async #waitForRepeat(): Promise<boolean> {
    const { failures } = this.#breaker
    const { rejections } = failures
    const isOver = (): boolean => rejections.repeatsInMs <= 0 || failures.isIdleAtEnd
    // Other probes may have been rejected in the meantime.
    while (!isOver() && !this.#signal.aborted) await failures.until(isOver, this.#signal, rejections.repeatsInMs)
    if (rejections.repeatsInMs <= 0 && !this.#signal.aborted) return true
    this.#progress.abandon(this.#open.at(-1)?.rejection?.reason ?? 'rejected')
    return false
  }

  /**
   * Waits for other batches to show whether the service accepts entries, if this batch has none left for comparison.
   */
  async #waitForAcceptance(): Promise<void> {
    const { failures } = this.#breaker
    const rejection = this.#open.at(-1)?.rejection
    const isOver = (): boolean => failures.isAccepting || failures.rejections.mayRejectAll || failures.isIdleAtEnd
    // Directly after an acceptance the entry is probably bad, so the endpoint is not probed.
    await failures.until(
      isOver,
      this.#signal,
      rejection?.failureNumber === undefined ? (this.#options.maxWaitMs ?? MAX_WAIT_MS) : undefined,
    )
    this.#deadLetterProven()
    if (!this.#canSearch || rejection === undefined || failures.isAccepting) return
    if (failures.isIdleAtEnd || this.#signal.aborted) this.#progress.abandon(rejection.reason)
    else this.#breaker.openForRejections(rejection, this.#rootId, true)
  }
}
