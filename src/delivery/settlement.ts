/** Settles entries: stores dead letters, acknowledges, counts and reports. */
import type { Batch, DeadLetter } from '../batch/batch.js'
import type { Delivered, Refused } from '../batch/outcome.js'
import type { Account } from '../diagnostics/account.js'
import { DROP_MESSAGES, SERVICE_MESSAGES } from '../diagnostics/messages.js'
import type { Reporter } from '../diagnostics/reporter.js'
import type { IngestResultError } from '../protocol/ingest-result.js'
import { LEVELS } from '../protocol/log-entry.js'
import type { Signal } from '../shared/signal.js'
import type { DeliveryEvent } from './delivery-event.js'
import { rootIdOf, toDeadLetters } from './isolation.js'
import { isMemoryOnly } from './job.js'
import type { Job } from './job.js'

export interface SettlementOptions {
  readonly account: Account
  readonly report: Pick<Reporter, 'delivered' | 'rejected' | 'dropped' | 'problem'>
  readonly events: Signal<[event: DeliveryEvent]>
  /**
   * Stores rejected entries of batches whose acknowledgement does not. If it throws, the batch is abandoned. Default:
   * not stored.
   */
  readonly deadLetter?: ((letters: readonly DeadLetter[]) => void) | undefined
  /** Removes secrets from the text of a reply. Default: unchanged. */
  readonly mask?: ((text: string) => string) | undefined
}

const NO_REASON = 'the log service did not say why'
const NOT_NAMED = 'the log service did not say which, so they are not stored as dead letters'

export class Settlement {
  readonly #options: SettlementOptions
  #keptEntries = 0
  #isUnreadableReported = false

  constructor(options: SettlementOptions) {
    this.#options = options
  }

  /** Abandoned entries that are on disk for the next start. */
  get keptEntries(): number {
    return this.#keptEntries
  }

  /** All entries are accepted except those that the reply names or counts as rejected. @throws the errors of the store */
  delivered(job: Job, { accepted, rejected, status = 200, unreadable }: Delivered): void {
    const { count } = job.batch
    if (accepted === count && rejected.length === 0) return this.#settle(job, count, [], undefined, unreadable === true)
    // If none was accepted, all were rejected, also those that the reply does not name.
    const nameless = accepted === 0 ? Array.from({ length: count }, (_, index) => unnamed(index, NO_REASON)) : []
    const named = this.store(job, [...rejected, ...nameless], status)
    const isNamed = new Set(named.map(({ index }) => index))
    // Any of the others may be accepted, so none is a dead letter.
    const others = Array.from({ length: count }, (_, index) => unnamed(index, NOT_NAMED))
      .filter(({ index }) => !isNamed.has(index))
      .slice(0, count - accepted - named.length)
    this.#settle(job, accepted, [...named, ...others], undefined, unreadable === true, others.length)
  }

  /** Settles the only entry of the job. @throws the errors of the store */
  deadLetter(job: Job, { status, reason }: Refused): void {
    this.#settle(job, 0, this.store(job, [unnamed(0, reason)], status))
  }

  /**
   * Stores dead letters. Called before anything is acknowledged, so that after a crash an entry may arrive twice but is not
   * lost.
   * @returns the errors, one for each entry: an entry may have several, and the first one is reported
   * @throws the errors of the store
   */
  store(job: Job, errors: readonly IngestResultError[], status: number): IngestResultError[] {
    const first = new Map<number, IngestResultError>()
    for (const error of errors)
      if (error.index < job.batch.count && !first.has(error.index)) first.set(error.index, error)
    const named = [...first.values()]
    if (named.length === 0) return named
    const { deadLetter, mask = (text) => text } = this.#options
    const letters = toDeadLetters(job, named, status, mask)
    const { acknowledgement } = job.batch
    if (acknowledgement?.storeDeadLetters !== undefined) acknowledgement.storeDeadLetters(letters)
    else deadLetter?.(letters)
    return named
  }

  /** Counts and reports stored entries of a batch of which others are sent again. */
  rejected(job: Job, errors: readonly IngestResultError[]): void {
    this.#settle(job, 0, errors, errors)
  }

  /** Entries that are not on disk are lost. All are counted before any is reported. @param reason describes the loss */
  abandoned(jobs: readonly Job[], reason: string): void {
    let lost = 0
    for (const job of jobs) {
      const { acknowledgement, count } = job.batch
      if (!isMemoryOnly(job)) this.#keptEntries += count
      else {
        // The next start must not send parts that are on disk, because the batch is counted as lost.
        acknowledgement?.acknowledge()
        lost += count
      }
    }
    this.#options.account.dropped.shutdown += lost
    if (lost > 0) this.#options.report.dropped(lost, 'shutdown', reason)
  }

  /** Counts and reports a batch that came too late. */
  loggedAfterClose(batch: Batch): void {
    this.abandoned([{ batch } as Job], DROP_MESSAGES.loggedAfterClose.text())
  }

  /** Counts and reports an entry of a low level that was not admitted. */
  notAdmitted(reason: 'buffer' | 'spool', count: number): void {
    this.#options.account.dropped[reason] += count
    const limit = reason === 'buffer' ? 'maxBufferBytes' : 'spool.maxBytes'
    this.#options.report.dropped(count, reason, DROP_MESSAGES.nearlyFull.text(limit))
  }

  /** Counts all entries before reporting one, since a listener may read the account. */
  dropped(
    batches: readonly Batch[],
    { maxBufferBytes, lastFailure }: { readonly maxBufferBytes: number; readonly lastFailure: string | undefined },
  ): void {
    for (const { count, acknowledgement } of batches) {
      acknowledgement?.acknowledge()
      this.#options.account.dropped.buffer += count
    }
    for (const batch of batches) {
      const detail = DROP_MESSAGES.bufferFull.text(
        maxBufferBytes,
        String(LEVELS[batch.highestSeverity]),
        lastFailure ?? 'the application logs more than the log service accepts',
      )
      this.#options.report.dropped(batch.count, 'buffer', detail)
    }
  }

  /** @param only the settled entries; default: all of the job */
  #settle(
    job: Job,
    accepted: number,
    rejected: readonly IngestResultError[],
    only?: readonly IngestResultError[],
    isUnreadable = false,
    unnamedCount = 0,
  ): void {
    const { account, report, events } = this.#options
    const { batch } = job
    batch.acknowledgement?.acknowledge(only?.map(({ index }) => index))
    account.accepted += accepted
    account.rejected += rejected.length
    events.emit({ kind: 'settled', job, accepted, rejected: rejected.length, unnamed: unnamedCount })
    if (accepted > 0) report.delivered(accepted, rootIdOf(batch))
    if (rejected.length > 0) {
      const { origin } = batch
      const errors = rejected.map((error) => ({ ...error, index: origin?.positions[error.index] ?? error.index }))
      report.rejected(rejected.length, errors, rejected[0]?.message || 'no reason given')
    }
    if (!isUnreadable || this.#isUnreadableReported) return
    this.#isUnreadableReported = true
    report.problem(SERVICE_MESSAGES.unreadableReply.code, SERVICE_MESSAGES.unreadableReply.text())
  }
}

function unnamed(index: number, message: string): IngestResultError {
  return { index, code: '', field: '', message }
}
