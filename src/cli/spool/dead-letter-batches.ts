/**
 * Batches with the dead letters of one file. Entries that the service accepts or rejects are removed from the file; the others are kept.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { closeSync, futimesSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createBatchBody } from '../../batch/sub-batch.js'
import type { Batch, BatchAcknowledgement } from '../../batch/batch.js'
import type { BatchSettings } from '../../options/settings.js'
import { BATCH_BYTES } from '../../options/size-limits.js'
import { replaceFile, writeAll } from '../../shared/safe-files.js'
import type { FoundFile } from '../../spool/spool-files.js'
import { parseDeadLetter, readLines } from './read-dead-letters.js'

export interface DeadLetterBatchesOptions {
  readonly batch: Pick<BatchSettings, 'size'>
}

const NEWLINE = Buffer.from('\n')

/** The name without the suffix that an earlier replay added. */
const NAME = /^(.+?)(?:-r[0-9a-f]{8})?\.ndjson$/

export class DeadLetterBatches {
  readonly #options: DeadLetterBatchesOptions
  readonly #path: string
  readonly #acknowledged = new Set<number>()

  /**
   * Renames the file: a process that writes dead letters at the same time starts a new file, and a second replay does not find this one.
   * @throws the system's errors
   */
  constructor(file: FoundFile, options: DeadLetterBatchesOptions) {
    this.#options = options
    const name = NAME.exec(file.name)?.[1] ?? file.name
    this.#path = join(dirname(file.path), `${name}-r${randomBytes(4).toString('hex')}.ndjson`)
    renameSync(file.path, this.#path)
  }

  /** @throws the system's errors, UnsafeError */
  *batches(): Generator<Batch> {
    const { batch } = this.#options
    let lines: number[] = []
    let entries: string[] = []
    let bytes = 0
    for (const [number, line] of readLines(this.#path).entries()) {
      const entry = parseDeadLetter(line)?.entry
      if (entry === undefined) continue
      if (lines.length >= batch.size || (lines.length > 0 && bytes + Buffer.byteLength(entry) > BATCH_BYTES)) {
        yield this.#createBatch(lines, entries)
        lines = []
        entries = []
        bytes = 0
      }
      lines.push(number)
      entries.push(entry)
      bytes += Buffer.byteLength(entry)
    }
    if (lines.length > 0) yield this.#createBatch(lines, entries)
  }

  /**
   * Removes the acknowledged lines from the file, which keeps its time: `maxAgeMs` applies to it.
   * @returns the number of remaining lines
   * @throws the system's errors; then all lines remain
   */
  finish(): number {
    const left = readLines(this.#path).filter((line, number) => line.length > 0 && !this.#acknowledged.has(number))
    if (left.length === 0) rmSync(this.#path, { force: true })
    else if (this.#acknowledged.size > 0) {
      const { atime, mtime } = statSync(this.#path)
      const write = (fd: number): void => {
        writeAll(fd, Buffer.concat(left.flatMap((line) => [line, NEWLINE])))
        futimesSync(fd, atime, mtime)
      }
      closeSync(replaceFile(this.#path, write))
    }
    return left.length
  }

  #createBatch(lines: readonly number[], entries: readonly string[]): Batch {
    const batchId = randomUUID()
    return {
      batchId,
      count: lines.length,
      highestSeverity: 0,
      body: createBatchBody(batchId, entries),
      acknowledgement: new LineAcknowledgement(lines, this.#acknowledged),
    }
  }
}

/** Collects the acknowledged lines. The file is written once, at the end. */
export class LineAcknowledgement implements BatchAcknowledgement {
  readonly isDurable = true
  readonly #lines: readonly number[]
  readonly #acknowledged: Set<number>

  constructor(lines: readonly number[], acknowledged: Set<number>) {
    this.#lines = lines
    this.#acknowledged = acknowledged
  }

  createPart(positions: readonly number[]): BatchAcknowledgement {
    return new LineAcknowledgement(this.#select(positions), this.#acknowledged)
  }

  acknowledge(positions?: readonly number[]): void {
    for (const line of positions === undefined ? this.#lines : this.#select(positions)) this.#acknowledged.add(line)
  }

  /** Keeps all lines: the service rejected some of them without saying which. */
  keep(): void {
    for (const line of this.#lines) this.#acknowledged.delete(line)
  }

  #select(positions: readonly number[]): number[] {
    return positions.map((at) => this.#lines[at]).filter((line) => line !== undefined)
  }
}
