/** Dead letters of one file, sent once more: what is accepted leaves the file, what is refused again stays with the new reason. */
import { randomBytes, randomUUID } from 'node:crypto'
import { closeSync, fdatasyncSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createBatchBody } from '../../batch/sub-batch.js'
import type { Batch, BatchAcknowledgement, DeadLetter, Outcome } from '../../batch/sender.js'
import { toDeadLetterLine } from '../../spool/dead-letter-file.js'
import { createFile } from '../../shared/safe-files.js'
import type { FoundFile } from '../../spool/spool-files.js'
import { readLines, parseDeadLetter } from './read-dead-letters.js'
import type { StoredDeadLetter } from './read-dead-letters.js'
import type { Job, Source } from './sending.js'

export interface LetterReplayOptions {
  /** Letters in a batch. */
  readonly batchSize: number
  /** Bytes of a batch's entries; a single one beyond it goes alone. */
  readonly batchBytes: number
  readonly wallNow: () => number
}

type Refusal = Pick<StoredDeadLetter, 'at' | 'status' | 'code' | 'field' | 'reason'>

const NEWLINE = Buffer.from('\n')

/** The name that is taken: of a file that was replayed before, without what was added then. */
const NAME = /^(.+?)(?:-r[0-9a-f]{8})?\.ndjson$/

export class LetterReplay implements Source {
  readonly #options: LetterReplayOptions
  readonly #path: string
  /** Lines by their number, with what is known of them. */
  readonly #settled = new Set<number>()
  readonly #refused = new Map<number, Refusal>()
  /** Lines of the batches under way. */
  readonly #batches = new Map<string, readonly number[]>()
  #sent = 0

  /**
   * Takes the file by a rename: who writes letters at the moment begins a new one, and a second replay finds none.
   * @throws the system's errors
   */
  constructor(file: FoundFile, options: LetterReplayOptions) {
    this.#options = options
    const name = NAME.exec(file.name)?.[1] ?? file.name
    this.#path = join(dirname(file.path), `${name}-r${randomBytes(4).toString('hex')}.ndjson`)
    renameSync(file.path, this.#path)
  }

  /** Letters that were read to be sent. */
  get sent(): number {
    return this.#sent
  }

  get accepted(): number {
    return this.#settled.size - this.#refused.size
  }

  get rejected(): number {
    return this.#refused.size
  }

  /** Batches of letters. Rejects with the system's errors and UnsafeError. */
  async *jobs(): AsyncGenerator<Job> {
    const { batchSize, batchBytes } = this.#options
    let lines: number[] = []
    let entries: string[] = []
    let bytes = 0
    let number = -1
    for await (const line of readLines(this.#path)) {
      number += 1
      const entry = parseDeadLetter(line)?.entry
      if (entry === undefined) continue
      if (lines.length >= batchSize || (lines.length > 0 && bytes + entry.length > batchBytes)) {
        yield this.#job(lines, entries)
        lines = []
        entries = []
        bytes = 0
      }
      lines.push(number)
      entries.push(entry)
      bytes += Buffer.byteLength(entry)
    }
    if (lines.length > 0) yield this.#job(lines, entries)
  }

  /** The service refused these. @returns false where they are none of this file */
  setAside(letters: readonly DeadLetter[]): boolean {
    const lines = this.#batches.get(letters[0]?.batchId ?? '')
    if (lines === undefined) return false
    const at = new Date(this.#options.wallNow()).toISOString()
    for (const { index, status, code, field, reason } of letters) {
      const line = lines[index]
      if (line !== undefined) this.#refused.set(line, { at, status, code, field, reason })
    }
    return true
  }

  /**
   * Writes what stays, beside the file and then in its place.
   * @returns letters without an answer, with lines that cannot be read. Rejects with the system's errors: then all stay as they were
   */
  async finish(): Promise<number> {
    const temporary = `${this.#path}.tmp`
    const fd = createFile(temporary)
    let kept = 0
    try {
      let number = -1
      for await (const line of readLines(this.#path)) {
        number += 1
        const refusal = this.#refused.get(number)
        if (line === undefined)
          throw new Error(`${this.#path} has a line that is too long for a letter; the file stays as it was`)
        if ((this.#settled.has(number) && refusal === undefined) || line.length === 0) continue
        kept += 1
        const letter = refusal === undefined ? undefined : parseDeadLetter(line)
        // Not `writeSync`, which may write a part and say so.
        writeFileSync(
          fd,
          letter === undefined
            ? Buffer.concat([line, NEWLINE])
            : toDeadLetterLine({ ...letter, ...refusal }, refusal?.at ?? letter.at),
        )
      }
      fdatasyncSync(fd)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    } finally {
      closeSync(fd)
    }
    if (kept > 0) renameSync(temporary, this.#path)
    else for (const path of [this.#path, temporary]) rmSync(path, { force: true })
    return kept - this.#refused.size
  }

  #job(lines: readonly number[], entries: readonly string[]): Job {
    const batchId = randomUUID()
    this.#sent += lines.length
    this.#batches.set(batchId, lines)
    const batch: Batch = {
      batchId,
      count: lines.length,
      highestSeverity: 0,
      body: createBatchBody(batchId, entries),
      acknowledgement: new LetterHold(lines, (settled) => settled.forEach((line) => this.#settled.add(line))),
    }
    return { batch, done: (outcome) => this.#done(lines, outcome) }
  }

  /** Refused by number, and nobody knows which: rather one twice than one nowhere, so that all but the named stay. */
  #done(lines: readonly number[], outcome: Outcome): void {
    const rejected = outcome.kind === 'delivered' || outcome.kind === 'given-up' ? (outcome.rejected ?? []) : []
    const unnamed = rejected.find(({ index }) => !this.#refused.has(lines[index] ?? -1))
    if (unnamed === undefined) return
    const refusal = {
      at: new Date(this.#options.wallNow()).toISOString(),
      status: 0,
      code: '',
      field: '',
      reason: unnamed.message,
    }
    for (const line of lines) if (this.#settled.has(line) && !this.#refused.has(line)) this.#refused.set(line, refusal)
  }
}

/** Only notes what is settled: the file is written once at the end. */
class LetterHold implements BatchAcknowledgement {
  readonly #lines: readonly number[]
  readonly #onSettled: (lines: readonly number[]) => void

  constructor(lines: readonly number[], onSettled: (lines: readonly number[]) => void) {
    this.#lines = lines
    this.#onSettled = onSettled
  }

  createPart(positions: readonly number[]): BatchAcknowledgement {
    return new LetterHold(this.#at(positions), this.#onSettled)
  }

  acknowledge(positions?: readonly number[]): void {
    this.#onSettled(positions === undefined ? this.#lines : this.#at(positions))
  }

  #at(positions: readonly number[]): number[] {
    return positions.map((at) => this.#lines[at]).filter((line) => line !== undefined)
  }
}
