/** One file on its way: what of it is under way, what became of the rest, and what is to be told of it at the end. */
import { closeSync, constants } from 'node:fs'
import { toDeadLetterLine } from '../../spool/dead-letter-file.js'
import { openPrivate, writeAll } from '../../shared/safe-files.js'
import type { DeadLetter, Delivered, Outcome } from '../../batch/sender.js'
import type { Slice } from './cutter.js'
import type { FileState } from './folder.js'
import type { Owner } from './pump.js'
import type { Counts } from './snapshot.js'

/** - `sent`: all that was read is settled - `already`: it was before - `same`: as another that was named - `interrupted`: by the user - `failed`: `reason` says why */
export type ResultKind = 'sent' | 'already' | 'same' | 'interrupted' | 'failed'

export interface FileResult extends Counts {
  readonly name: string
  readonly kind: ResultKind
  /** By earlier runs of the same command. */
  readonly earlier: Counts
  /** Bytes of text that this run settled. */
  readonly bytes: number
  /** ISO 8601: when all was settled. */
  readonly doneAt?: string
  readonly reason?: string
  /** Where rejected entries are, of this run and of earlier ones. */
  readonly rejectedPath?: string
}

export interface FileRunOptions {
  readonly name: string
  readonly state: FileState
  readonly wallNow: () => number
  readonly mask: (text: string) => string
  readonly onDelivered: (outcome: Delivered) => void
  /** Called once. */
  readonly onEnd: (result: FileResult) => void
}

/** Of a file of which nothing was begun. */
export function unbegun(name: string, kind: ResultKind, reason: string): FileResult {
  return { name, kind, ...NONE, earlier: NONE, bytes: 0, reason }
}

const NONE: Counts = { accepted: 0, rejected: 0, filtered: 0 }
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT

export class FileRun implements Owner {
  readonly #options: FileRunOptions
  readonly #earlier: Counts
  readonly #counts = { ...NONE }
  #bytes = 0
  /** Slices that were cut and are not settled. */
  #pending = 0
  /** Bytes on disk, once all of them are cut. */
  #size: number | undefined
  #reason: string | undefined
  #isReading = true
  #hasEnded = false

  constructor(options: FileRunOptions) {
    this.#options = options
    this.#earlier = { ...(options.state.journal?.counts ?? NONE) }
  }

  get counts(): Counts {
    return this.#counts
  }

  /** Of text, settled in this run. */
  get bytes(): number {
    return this.#bytes
  }

  /** A slice is on its way to `settle`. */
  cut(): void {
    this.#pending += 1
  }

  settle({ start, end, openFrom, filtered, batch }: Slice, outcome: Outcome | undefined): void {
    if (outcome !== undefined && outcome.kind !== 'delivered') {
      // Stays pending, so that the file is never done.
      if ('reason' in outcome) this.#reason ??= outcome.reason
      return
    }
    const accepted = outcome?.accepted ?? 0
    const counts = { accepted, rejected: (batch?.count ?? 0) - accepted, filtered }
    this.#options.state.journal?.settle({ start, end, openFrom, ...counts })
    this.#counts.accepted += counts.accepted
    this.#counts.rejected += counts.rejected
    this.#counts.filtered += counts.filtered
    this.#bytes += end - start
    this.#pending -= 1
    if (outcome !== undefined) this.#options.onDelivered(outcome)
    this.#endIfDone()
  }

  setAside(letters: readonly DeadLetter[]): void {
    const { state, wallNow, mask } = this.#options
    const at = new Date(wallNow()).toISOString()
    // The service's words may repeat the key; what was logged is the user's own.
    const lines = letters.map((letter) =>
      toDeadLetterLine(
        { ...letter, code: mask(letter.code), field: mask(letter.field), reason: mask(letter.reason) },
        at,
      ),
    )
    const fd = openPrivate(state.rejectedPath, APPEND)
    try {
      writeAll(fd, Buffer.from(lines.join('')))
    } finally {
      closeSync(fd)
    }
  }

  /** All was read, and is cut. @param size bytes on disk. @throws the system's errors */
  wasRead(size: number): void {
    this.#size = size
    this.#isReading = false
    this.#endIfDone()
  }

  /** No more can be read. What was cut goes on. */
  broke(reason: string): void {
    this.#reason = reason
    this.#isReading = false
    this.#endIfDone()
  }

  /** Nothing of it is to be sent. */
  wasDone(doneAt: string): void {
    this.#end('already', doneAt)
  }

  /** Nothing more is sent. */
  stopped(kind: 'interrupted' | 'failed', reason: string | undefined): void {
    if (this.#hasEnded) return
    this.#reason = reason ?? this.#reason
    this.#end(kind)
  }

  #endIfDone(): void {
    if (this.#isReading || this.#pending > 0) return
    if (this.#size === undefined) return this.#end('failed')
    const at = new Date(this.#options.wallNow()).toISOString()
    try {
      this.#options.state.journal?.finish({ at, size: this.#size })
      this.#end('sent', at)
    } catch (error) {
      // Each batch is recorded: the next run finds that nothing is left.
      this.#reason = `all of it was sent, but that cannot be recorded: ${error instanceof Error ? error.message : String(error)}`
      this.#end('failed')
    }
  }

  #end(kind: ResultKind, doneAt?: string): void {
    const { name, state, onEnd } = this.#options
    this.#hasEnded = true
    const rejected = this.#earlier.rejected + this.#counts.rejected
    state.close()
    onEnd({
      name,
      kind,
      ...this.#counts,
      earlier: this.#earlier,
      bytes: this.#bytes,
      ...(doneAt !== undefined && { doneAt }),
      ...(this.#reason !== undefined && kind !== 'already' && { reason: this.#reason }),
      ...(rejected > 0 && { rejectedPath: state.rejectedPath }),
    })
  }
}
