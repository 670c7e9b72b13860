/** Messages of the spool. */
import type { DropReason } from '../diagnostics/account.js'
import type { StrandedEntries } from './retention/expiry.js'
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
    const [why, remedy] =
      error instanceof SpoolFullError
        ? [error.message, '']
        : [
            `entries cannot be kept on disk: ${wordsOf(error)}`,
            '. Set spool.dir or PINO_INGEST_SPOOL_DIR to a folder that can be written',
          ]
    this.#tell.problem(`${why}; they stay in memory, and the disk is tried again${remedy}`)
  }

  writeResumed(): void {
    if (!this.#hasFailed) return
    this.#hasFailed = false
    this.#tell.note('spooling', 'entries are kept on disk again')
  }

  error(error: unknown): void {
    this.#tell.problem(`trouble with the spool, which may send entries twice: ${wordsOf(error)}`)
  }

  /** Entries cannot be read at present. They wait; none is lost. */
  readFailed(error: unknown): void {
    this.#tell.problem(`entries on disk cannot be read for now, and are tried again every 5 s: ${wordsOf(error)}`)
  }

  /** Synchronising failed: entries may or may not be on disk. */
  syncFailed(error: unknown): void {
    this.#tell.problem(`entries on disk may be lost if the power fails: ${wordsOf(error)}`)
  }

  deadLettersFailed(letters: number, error: unknown): void {
    this.#tell.problem(`${letters} rejected entries cannot be set aside: ${wordsOf(error)}`)
  }

  /** Reported only if `failed` has not reported already that the disk cannot be written. */
  dropCountsFailed(error: unknown): void {
    if (!this.#hasFailed) this.#tell.problem(`cannot save the drop counts to disk: ${wordsOf(error)}`)
  }

  foreignVersion(path: string): void {
    this.#tell.problem(`${path} was written by another version of pino-ingest, and is left alone`)
  }

  foreignExpired(folder: string, bytes: number): void {
    this.#tell.note('aged', `${bytes} bytes of entries for another url or key were too old, and are deleted: ${folder}`)
  }

  stranded(folders: readonly StrandedEntries[]): void {
    const bytes = folders.reduce((sum, one) => sum + one.bytes, 0)
    const rest = folders.length - MAX_NAMED
    const places = `${folders
      .slice(0, MAX_NAMED)
      .map(({ folder }) => folder)
      .join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
    this.#tell.note(
      'stranded',
      `${bytes} bytes of entries for another url or key are stored in ${places} and are not sent ` +
        '(a former key belongs into previousApiKeys; npx pino-ingest spool ls shows what it is, replay sends it)',
    )
  }

  claimed(entries: number): void {
    this.#tell.note(
      'claimed',
      `this process stood still for so long that another one took over what it had on disk (${entries} entries)`,
    )
  }
}

/** The system's words name the code, the call and the path. */
function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
