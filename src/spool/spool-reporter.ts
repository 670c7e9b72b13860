/** Messages of the spool. */
import type { DropReason } from '../diagnostics/account.js'
import type { StrandedEntries } from './retention/expiry.js'
import { SPOOL_MESSAGES } from '../diagnostics/messages.js'
import { SpoolFullError } from './retention/eviction.js'

export interface SpoolReports {
  problem(message: string): void
  note(kind: string, message: string): void
  dropped(count: number, reason: DropReason, detail: string): void
}

/** Folders in one line. */
const MAX_NAMED = 5

export class SpoolReporter {
  readonly #tell: SpoolReports
  #hasFailed = false

  constructor(tell: SpoolReports) {
    this.#tell = tell
  }

  /** Entries cannot be written to disk. Reported once, until they can. */
  writeFailed(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    this.#tell.problem(
      error instanceof SpoolFullError ? error.message : SPOOL_MESSAGES.notWritable.text(wordsOf(error)),
    )
  }

  writeResumed(): void {
    if (!this.#hasFailed) return
    this.#hasFailed = false
    this.#tell.note('spooling', SPOOL_MESSAGES.writableAgain.text())
  }

  error(error: unknown): void {
    this.#tell.problem(SPOOL_MESSAGES.failed.text(wordsOf(error)))
  }

  /** Entries cannot be read at present. They wait; none is lost. */
  readFailed(error: unknown): void {
    this.#tell.problem(SPOOL_MESSAGES.notReadable.text(wordsOf(error)))
  }

  /** Synchronising failed: entries may or may not be on disk. */
  syncFailed(error: unknown): void {
    this.#tell.problem(SPOOL_MESSAGES.notSynchronized.text(wordsOf(error)))
  }

  deadLettersFailed(letters: number, error: unknown): void {
    this.#tell.problem(SPOOL_MESSAGES.deadLettersNotSaved.text(letters, wordsOf(error)))
  }

  /** Reported only if `failed` has not reported already that the disk cannot be written. */
  dropCountsFailed(error: unknown): void {
    if (!this.#hasFailed) this.#tell.problem(SPOOL_MESSAGES.dropCountsNotSaved.text(wordsOf(error)))
  }

  foreignVersion(path: string): void {
    this.#tell.problem(SPOOL_MESSAGES.foreignVersion.text(path))
  }

  foreignExpired(folder: string, bytes: number): void {
    this.#tell.note('aged', SPOOL_MESSAGES.foreignEntriesExpired.text(bytes, folder))
  }

  stranded(folders: readonly StrandedEntries[]): void {
    const bytes = folders.reduce((sum, one) => sum + one.bytes, 0)
    const rest = folders.length - MAX_NAMED
    const places = `${folders
      .slice(0, MAX_NAMED)
      .map(({ folder }) => folder)
      .join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
    this.#tell.note('stranded', SPOOL_MESSAGES.foreignEntries.text(bytes, places))
  }

  claimed(entries: number): void {
    this.#tell.note('claimed', SPOOL_MESSAGES.takenOver.text(entries))
  }
}

/** The system's words name the code, the call and the path. */
function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
