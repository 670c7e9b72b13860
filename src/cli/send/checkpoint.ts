/** Stores the acknowledged position of a file on disk. The next run continues there. */
import { createHash, randomUUID } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, writeSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { isSameFile, openPrivate, readAtMost, replaceFile, writeAll } from '../../shared/safe-files.js'

export interface Counts {
  readonly accepted: number
  readonly rejected: number
  readonly filtered: number
}

/** A position in the text of a file. */
export interface Position {
  readonly offset: number
  /** Start of the last line if it has no newline; otherwise `offset`. */
  readonly lineStart: number
  /** The last bytes before `offset`. */
  readonly tail: Buffer
}

export interface CheckpointState {
  readonly version: number
  readonly offset: number
  readonly lineStart: number
  readonly tailBytes: number
  /** Hash of `tail`. It differs for another or a rewritten file. */
  readonly tailHash: string
  readonly counts: Counts
  /** Set when the whole file is acknowledged: the time, and the file's size and modification time. */
  readonly done: { readonly at: string; readonly size: number; readonly mtimeMs: number } | null
  /** UUID, the namespace of the batch ids. */
  readonly namespace: string
}

const VERSION = 1
/** Fixed size: a write replaces the previous record. It needs no space on a full disk, and after a kill one of the two records is valid. */
const RECORD_BYTES = 1024

export function computeDigest(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32)
}

export class Checkpoint {
  readonly #file: { readonly path: string; readonly fd: number; readonly stats: BigIntStats } | undefined
  #state: CheckpointState

  /**
   * Creates or replaces the file: a process that sends the same file stops at its next `save`.
   * @param path undefined for stdin, which cannot be read again @throws the system's errors
   */
  constructor(state: CheckpointState, path: string | undefined) {
    this.#state = state
    if (path === undefined) return
    closeSync(replaceFile(path, (fd) => writeAll(fd, toRecord(state))))
    const fd = openPrivate(path, constants.O_WRONLY)
    this.#file = { path, fd, stats: fstatSync(fd, { bigint: true }) }
  }

  get state(): CheckpointState {
    return this.#state
  }

  /** Starts at the beginning of the file. @throws as `save` */
  reset(): void {
    this.save(createState())
  }

  /** @throws as `save` */
  advance({ offset, lineStart, tail }: Position, counts: Counts): void {
    this.save({ offset, lineStart, tailBytes: tail.length, tailHash: computeDigest(tail), counts, done: null })
  }

  /**
   * Not synchronized: an older state after a power failure causes only duplicates.
   * @throws the system's errors, and if the file was replaced
   */
  save(changes: Partial<CheckpointState>): void {
    this.#state = { ...this.#state, ...changes }
    if (this.#file === undefined) return
    const { path, fd, stats } = this.#file
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    const isReplaced = found === undefined || !isSameFile(found, stats)
    if (isReplaced) throw new Error(`another process now sends the file, or ${path} was deleted`)
    writeSync(fd, toRecord(this.#state), 0, RECORD_BYTES, 0)
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file.fd)
  }
}

export function createState(): CheckpointState {
  const counts = { accepted: 0, rejected: 0, filtered: 0 }
  return {
    version: VERSION,
    offset: 0,
    lineStart: 0,
    tailBytes: 0,
    tailHash: '',
    counts,
    done: null,
    namespace: randomUUID(),
  }
}

function toRecord(state: CheckpointState): Buffer {
  return Buffer.from(`${JSON.stringify(state).padEnd(RECORD_BYTES - 1)}\n`)
}

/** @throws the system's errors, and errors for a file that is not a checkpoint */
export function readState(path: string): CheckpointState {
  const fd = openPrivate(path, constants.O_RDONLY)
  try {
    const state = JSON.parse(readAtMost(fd, RECORD_BYTES)?.toString() ?? '') as Partial<CheckpointState> | null
    const { version, offset, tailBytes, namespace, counts } = state ?? {}
    const isValid = version === VERSION && Number.isSafeInteger(offset) && Number.isSafeInteger(tailBytes)
    if (isValid && typeof namespace === 'string' && counts !== undefined) return state as CheckpointState
    throw new Error('it is damaged or from another version')
  } finally {
    closeSync(fd)
  }
}
