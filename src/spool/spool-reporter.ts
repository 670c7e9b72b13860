/** Reports the messages of the spool. */
import type { DropReason } from '../diagnostics/account.js'
import { SPOOL_MESSAGES } from '../diagnostics/messages.js'
import { SpoolFullError } from './retention/eviction.js'
import type { StrandedEntries } from './retention/expiry.js'
import { toMessage } from '../shared/errors.js'

export interface SpoolReports {
  problem(message: string): void
  note(kind: string, message: string): void
  dropped(count: number, reason: DropReason, detail: string): void
}

/** Maximum number of folders in one message. */
const MAX_NAMED = 5

export class SpoolReporter {
  readonly #report: SpoolReports
  readonly #root: string
  #hasFailed = false

  constructor(report: SpoolReports, root: string) {
    this.#report = report
    this.#root = root
  }

  /** Entries cannot be written to disk. Reported once until writing succeeds again. */
  writeFailed(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    if (error instanceof SpoolFullError) return this.#report.problem(error.message)
    this.#report.problem(SPOOL_MESSAGES.notWritable.text(this.#describe(error)))
  }

  writeResumed(): void {
    if (!this.#hasFailed) return
    this.#hasFailed = false
    this.#report.note('spooling', SPOOL_MESSAGES.writableAgain.text())
  }

  error(error: unknown, kind: 'failed' | 'notReadable' | 'notSynchronized' = 'failed'): void {
    this.#report.problem(SPOOL_MESSAGES[kind].text(this.#describe(error)))
  }

  deadLettersFailed(letters: number, error: unknown): void {
    this.#report.problem(SPOOL_MESSAGES.deadLettersNotSaved.text(letters, this.#describe(error)))
  }

  foreignVersion(path: string): void {
    this.#report.problem(SPOOL_MESSAGES.otherVersion.text(path))
  }

  foreignExpired(folder: string, bytes: number): void {
    this.#report.note('aged', SPOOL_MESSAGES.otherDestinationExpired.text(bytes, folder))
  }

  stranded(folders: readonly StrandedEntries[]): void {
    const bytes = folders.reduce((sum, one) => sum + one.bytes, 0)
    const named = folders.slice(0, MAX_NAMED).map(({ folder }) => folder)
    const rest = folders.length > MAX_NAMED ? ` and ${folders.length - MAX_NAMED} more` : ''
    this.#report.note('stranded', SPOOL_MESSAGES.otherDestination.text(bytes, named.join(', ') + rest))
  }

  claimed(entries: number): void {
    this.#report.note('claimed', SPOOL_MESSAGES.takenOver.text(entries))
  }

  /** Adds the folder, since errors of calls on a descriptor contain no path. */
  #describe(error: unknown): string {
    const message = toMessage(error)
    return message.includes(this.#root) ? message : `${this.#root}: ${message}`
  }
}
