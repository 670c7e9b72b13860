/** Records the outcome of each batch in the account and reports it. */
import type { Account } from '../diagnostics/account.js'
import { DROP_MESSAGES, SERVICE_MESSAGES } from '../diagnostics/messages.js'
import { LEVELS } from '../protocol/log-entry.js'
import type { Reporter } from '../diagnostics/reporter.js'
import type { Batch } from '../batch/batch.js'
import type { Outcome } from '../batch/outcome.js'

export interface OutcomeRecorderOptions {
  readonly account: Account
  readonly report: Pick<Reporter, 'delivered' | 'rejected' | 'dropped' | 'problem'>
}

export class OutcomeRecorder {
  readonly #options: OutcomeRecorderOptions
  #keptEntries = 0
  /** Lost entries that are not reported yet. */
  #unreported = 0
  #isUnreadableReported = false

  constructor(options: OutcomeRecorderOptions) {
    this.#options = options
  }

  /** Abandoned entries that are on disk for the next start. */
  get keptEntries(): number {
    return this.#keptEntries
  }

  record(batch: Batch, outcome: Outcome): void {
    const { account, report } = this.#options
    switch (outcome.kind) {
      case 'delivered': {
        const rejected = batch.count - outcome.accepted
        account.accepted += outcome.accepted
        account.rejected += rejected
        if (outcome.accepted > 0) report.delivered(outcome.accepted, batch.batchId)
        if (rejected > 0) report.rejected(rejected, outcome.rejected, outcome.rejected[0]?.message ?? 'no reason given')
        if (outcome.unreadable && !this.#isUnreadableReported) {
          this.#isUnreadableReported = true
          report.problem(SERVICE_MESSAGES.unreadableReply.code, SERVICE_MESSAGES.unreadableReply.text())
        }
        return
      }
      case 'refused':
        account.rejected += batch.count
        return report.rejected(batch.count, outcome.rejected, outcome.reason)
      case 'abandoned': {
        const accepted = outcome.accepted ?? 0
        const rejected = outcome.rejected ?? []
        account.accepted += accepted
        account.rejected += rejected.length
        this.recordAbandoned(batch, batch.count - accepted - rejected.length)
        if (accepted > 0) report.delivered(accepted, batch.batchId)
        if (rejected.length > 0) report.rejected(rejected.length, rejected, rejected[0]?.message ?? 'no reason given')
        return
      }
      case 'retryable':
      case 'endpoint-rejected':
        return this.recordAbandoned(batch, batch.count)
    }
  }

  /** Entries that are not on disk are lost; `reportLost` reports them. */
  recordAbandoned({ acknowledgement }: Batch, entries: number): void {
    if (acknowledgement?.isDurable === true) {
      this.#keptEntries += entries
      return
    }
    // The next start must not send parts that are on disk, because the batch is counted as lost.
    acknowledgement?.acknowledge()
    this.#options.account.dropped.shutdown += entries
    this.#unreported += entries
  }

  reportLost(detail: string): void {
    const count = this.#unreported
    this.#unreported = 0
    if (count > 0) this.#options.report.dropped(count, 'shutdown', detail)
  }

  /** Counts and reports a refused new entry of a low level. */
  recordRefusal(reason: 'buffer' | 'spool'): void {
    this.#options.account.dropped[reason] += 1
    const { text } = reason === 'buffer' ? DROP_MESSAGES.memoryShort : DROP_MESSAGES.diskShort
    this.#options.report.dropped(1, reason, text())
  }

  /**
   * Counts all entries before reporting one, since a listener may read the account.
   * @param newest the batch that needed the memory, which may itself be too large
   */
  recordDropped(
    batches: readonly Batch[],
    newest: Batch,
    { maxBufferBytes, lastFailure }: { readonly maxBufferBytes: number; readonly lastFailure: string | undefined },
  ): void {
    for (const { count, acknowledgement } of batches) {
      acknowledgement?.acknowledge()
      this.#options.account.dropped.buffer += count
    }
    for (const batch of batches) {
      const detail =
        batch === newest
          ? DROP_MESSAGES.batchTooLarge.text(batch.body.length, maxBufferBytes)
          : DROP_MESSAGES.bufferFull.text(
              maxBufferBytes,
              String(LEVELS[batch.highestSeverity]),
              lastFailure ?? 'the application logs more than the service accepts',
            )
      this.#options.report.dropped(batch.count, 'buffer', detail)
    }
  }
}
