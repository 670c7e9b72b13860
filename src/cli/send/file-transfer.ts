/** The state of one file while it is sent: the outcomes of its records, and its checkpoint. */
import type { Checkpoint, Counts, Position } from './checkpoint.js'
import type { TextSource } from './file-position-log.js'
import type { InputFile } from './file-reader.js'
import type { FileResult, ResultKind } from './send-result.js'

export interface FileTransferOptions {
  readonly file: Pick<InputFile, 'name' | 'mtimeMs'>
  readonly checkpoint: Checkpoint
  /** Offset of the first text to send. */
  readonly offset: number
  readonly onEnd: (result: FileResult) => void
  readonly onWriteError: (reason: string) => void
}

export const NO_COUNTS: Counts = { accepted: 0, rejected: 0, filtered: 0 }

export class FileTransfer implements TextSource {
  readonly #options: FileTransferOptions
  readonly #earlier: Counts
  #counts = NO_COUNTS
  #offset: number
  /** Offset of the end of the text, and the size of the file at that time. */
  #end: { readonly offset: number; readonly size: number } | undefined
  #reason: string | null = null
  #hasEnded = false

  constructor(options: FileTransferOptions) {
    this.#options = options
    this.#offset = options.offset
    this.#earlier = options.checkpoint.state.counts
  }

  get namespace(): string {
    return this.#options.checkpoint.state.namespace
  }

  get counts(): Counts {
    return this.#counts
  }

  recordTimeMs(): number {
    return this.#options.file.mtimeMs ?? Date.now()
  }

  acknowledge(counts: Counts, position: Position | undefined): void {
    this.#counts = add(this.#counts, counts)
    if (position === undefined) return
    if (position.offset > this.#offset) {
      this.#offset = position.offset
      this.#write(() => this.#options.checkpoint.advance(position, add(this.#earlier, this.#counts)))
    }
    this.#completeAtEnd()
  }

  /** A part of the file cannot be read. */
  fail(reason: string): void {
    this.#reason ??= reason
  }

  /** The file is complete when all text up to `offset` is acknowledged. @param size bytes of the file that were read */
  finishReading(offset: number, size: number): void {
    this.#end = { offset, size }
    this.#completeAtEnd()
  }

  /** No more text of the file will be sent. */
  end(result: ResultKind, reason: string | null): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const { file, checkpoint, offset, onEnd } = this.#options
    checkpoint.close()
    const earlier = this.#earlier
    const doneAt = checkpoint.state.done?.at ?? null
    const bytes = this.#offset - offset
    onEnd({ file: file.name, result, ...this.#counts, earlier, bytes, doneAt, reason: reason ?? this.#reason })
  }

  #completeAtEnd(): void {
    if (this.#end === undefined || this.#offset < this.#end.offset) return
    const { file, checkpoint } = this.#options
    if (this.#reason !== null) return this.end('failed', null)
    if (checkpoint.state.done !== null) return this.end('already', null)
    const { size } = this.#end
    this.#write(() => checkpoint.save({ done: { at: new Date().toISOString(), size, mtimeMs: file.mtimeMs ?? 0 } }))
    this.end(this.#reason === null ? 'sent' : 'failed', null)
  }

  #write(write: () => void): void {
    try {
      write()
    } catch (error) {
      this.#reason = `its checkpoint cannot be written: ${(error as Error).message}`
      this.#options.onWriteError(this.#reason)
    }
  }
}

function add(one: Counts, other: Counts): Counts {
  return {
    accepted: one.accepted + other.accepted,
    rejected: one.rejected + other.rejected,
    filtered: one.filtered + other.filtered,
  }
}
