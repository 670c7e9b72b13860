/** What became of each batch, in the account and in words. */
import type { Account } from '../diagnostics/account.js'
import { DROP_MESSAGES, SERVICE_MESSAGES } from '../diagnostics/messages.js'
import { LEVELS } from '../protocol/log-entry.js'
import type { Reporter } from '../diagnostics/reporter.js'
import type { Batch, Outcome } from '../batch/sender.js'

export interface OutcomeRecorderOptions {
  readonly account: Account
  readonly report: Pick<Reporter, 'delivered' | 'rejected' | 'dropped' | 'problem'>
}

export class OutcomeRecorder {
  readonly #options: OutcomeRecorderOptions
  #keptEntries = 0
  /** Lost entries not yet told: what an exit costs is told in one line at its end. */
  #untold = 0
  #isUnreadableTold = false

  constructor(options: OutcomeRecorderOptions) {
    this.#options = options
  }

  /** Given up here, and on disk for the next start. */
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
        if (outcome.unreadable && !this.#isUnreadableTold) {
          this.#isUnreadableTold = true
          report.problem(SERVICE_MESSAGES.unreadableReply.code, SERVICE_MESSAGES.unreadableReply.text())
        }
        return
      }
      case 'refused':
        account.rejected += batch.count
        return report.rejected(batch.count, outcome.rejected, outcome.reason)
      case 'given-up': {
        const accepted = outcome.accepted ?? 0
        const rejected = outcome.rejected ?? []
        account.accepted += accepted
        account.rejected += rejected.length
        this.recordAbandoned(batch, batch.count - accepted - rejected.length)
        if (accepted > 0) report.delivered(accepted, batch.batchId)
        if (rejected.length > 0) report.rejected(rejected.length, rejected, rejected[0]?.message ?? 'no reason given')
        return
      }
      case 'later':
      case 'misconfigured':
        return this.recordAbandoned(batch, batch.count)
    }
  }

  /** Kept where they are on disk, else lost. The lost are told by `tellLost`. */
  recordAbandoned({ acknowledgement: custody }: Batch, entries: number): void {
    if (custody?.isDurable === true) {
      this.#keptEntries += entries
      return
    }
    // What of it is on disk must not be sent by the next start: it is counted as lost here.
    custody?.acknowledge()
    this.#options.account.dropped.shutdown += entries
    this.#untold += entries
  }

  reportLost(detail: string): void {
    const count = this.#untold
    this.#untold = 0
    if (count > 0) this.#options.report.dropped(count, 'shutdown', detail)
  }

  /** There is no room for a new entry of a low level. */
  recordRefusal(reason: 'buffer' | 'spool'): void {
    this.#options.account.dropped[reason] += 1
    const { text } = reason === 'buffer' ? DROP_MESSAGES.memoryShort : DROP_MESSAGES.diskShort
    this.#options.report.dropped(1, reason, text())
  }

  /**
   * All are counted before any is told: who hears of one may ask for the account.
   * @param newest that it was done for: it may itself not fit beside those in flight
   */
  recordEvicted(
    batches: readonly Batch[],
    newest: Batch,
    { maxBufferBytes, trouble }: { readonly maxBufferBytes: number; readonly trouble: string | undefined },
  ): void {
    for (const { count, acknowledgement: custody } of batches) {
      custody?.acknowledge()
      this.#options.account.dropped.buffer += count
    }
    for (const batch of batches) {
      const detail =
        batch === newest
          ? DROP_MESSAGES.batchTooLarge.text(batch.body.length, maxBufferBytes)
          : DROP_MESSAGES.bufferFull.text(
              maxBufferBytes,
              String(LEVELS[batch.highestSeverity]),
              trouble ?? 'the service accepts entries slower than they are logged',
            )
      this.#options.report.dropped(batch.count, 'buffer', detail)
    }
  }
}
