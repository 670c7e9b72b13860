/**
 * What is known of one file: which of its bytes are acknowledged. A line is appended for each batch before the next one is
 * sent, so that a process that is killed leaves at most one that was accepted and not recorded.
 */
import { closeSync, constants, fsyncSync, ftruncateSync } from 'node:fs'
import { openPrivate, readAtMost, removeTemporaries, writeAll } from '../../shared/safe-files.js'
import { Ranges } from './ranges.js'
import type { Range } from './ranges.js'
import { JournalError, VERSION, damaged, parseLine, parseSnapshot, writeNew } from './snapshot.js'
import type { Counts, Done, Origin, Snapshot } from './snapshot.js'

/** A slice that is settled. */
export interface Settled extends Counts {
  readonly start: number
  readonly end: number
  readonly openFrom?: number | undefined
}

/** A gigabyte of log makes some 40,000 lines. */
const MAX_LINES = 4096
/** About 100 times the size of MAX_LINES lines. */
const MAX_BYTES = 64 * 1024 * 1024

export class Journal {
  readonly origin: Origin
  readonly settled: Ranges
  readonly #path: string
  #fd: number
  #lines = 0
  #counts: { -readonly [Name in keyof Counts]: number }
  /** A last line without its newline, and where it ends. */
  #open: Range | undefined
  #size: number
  #done: Done | undefined

  private constructor(path: string, fd: number, snapshot: Snapshot) {
    this.#path = path
    this.#fd = fd
    this.origin = snapshot.origin
    this.settled = new Ranges(snapshot.settled)
    this.#counts = { ...snapshot.counts }
    this.#open = snapshot.openFrom === null ? undefined : [snapshot.openFrom, this.settled.prefixEnd]
    this.#size = snapshot.size
    this.#done = snapshot.done ?? undefined
  }

  /** Begins anew. @throws the system's errors, UnsafeError */
  static create(path: string, origin: Origin): Journal {
    const snapshot: Snapshot = {
      version: VERSION,
      origin,
      counts: { accepted: 0, rejected: 0, filtered: 0 },
      settled: [],
      openFrom: null,
      size: 0,
      done: null,
    }
    return new Journal(path, writeNew(path, snapshot), snapshot)
  }

  /** Undefined where there is none. Called by who holds the lock. @throws JournalError, UnsafeError, the system's errors */
  static load(path: string): Journal | undefined {
    removeTemporaries(path)
    let fd: number
    try {
      fd = openPrivate(path, constants.O_RDWR | constants.O_APPEND)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
    try {
      const bytes = readAtMost(fd, MAX_BYTES)
      if (bytes === undefined) throw damaged(path)
      const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1)
      const [first = '', ...lines] = whole.toString().split('\n').slice(0, -1)
      const journal = new Journal(path, fd, parseSnapshot(first, path))
      for (const line of lines) journal.#apply(line)
      // What a power failure left half written would be joined to what comes next.
      if (whole.length < bytes.length) ftruncateSync(fd, whole.length)
      return journal
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }

  /** The origin alone. Undefined for what is no journal. @throws the system's errors, UnsafeError */
  static originIn(path: string): Origin | undefined {
    const fd = openPrivate(path, constants.O_RDONLY)
    try {
      const bytes = readAtMost(fd, MAX_BYTES) ?? Buffer.alloc(0)
      return parseSnapshot(bytes.subarray(0, bytes.indexOf(0x0a)).toString(), path).origin
    } catch (error) {
      if (error instanceof JournalError) return undefined
      throw error
    } finally {
      closeSync(fd)
    }
  }

  get counts(): Counts {
    return this.#counts
  }

  /** Where to read on, in bytes of the text: a line begins there. */
  get resumeAt(): number {
    const { prefixEnd } = this.settled
    return this.#open?.[1] === prefixEnd ? this.#open[0] : prefixEnd
  }

  /** Bytes on disk that the file had when it was last opened to be sent. */
  get size(): number {
    return this.#size
  }

  /** Since everything that was read is settled. */
  get done(): Done | undefined {
    return this.#done
  }

  /** The file is about to be sent, from where it was. @throws the system's errors */
  opened(size: number): void {
    this.#size = size
    this.#done = undefined
    this.#write({ opened: size })
    fsyncSync(this.#fd)
  }

  /** Written when it returns. @throws the system's errors */
  settle({ start, end, accepted, rejected, filtered, openFrom }: Settled): void {
    const line = [start, end, accepted, rejected, filtered, ...(openFrom === undefined ? [] : [openFrom])]
    this.#add(line)
    this.#write(line)
    if (this.#lines >= MAX_LINES) this.#compact()
  }

  /** @throws the system's errors */
  finish(done: Done): void {
    this.#done = done
    this.#compact()
  }

  close(): void {
    closeSync(this.#fd)
  }

  #apply(line: string): void {
    const value = parseLine(line, this.#path)
    if (Array.isArray(value) && value.length >= 5 && value.every((number) => Number.isSafeInteger(number)))
      return this.#add(value as number[])
    const { opened } = value as { opened?: unknown }
    if (typeof opened !== 'number') throw damaged(this.#path)
    this.#size = opened
    this.#done = undefined
  }

  #add([start = 0, end = 0, accepted = 0, rejected = 0, filtered = 0, openFrom]: readonly number[]): void {
    this.settled.add(start, end)
    this.#counts.accepted += accepted
    this.#counts.rejected += rejected
    this.#counts.filtered += filtered
    if (openFrom !== undefined) this.#open = [openFrom, end]
  }

  #write(value: unknown): void {
    writeAll(this.#fd, Buffer.from(`${JSON.stringify(value)}\n`))
    this.#lines += 1
  }

  #compact(): void {
    const { resumeAt, settled, origin } = this
    const snapshot: Snapshot = {
      version: VERSION,
      origin,
      counts: this.#counts,
      settled: settled.list,
      openFrom: resumeAt === settled.prefixEnd ? null : resumeAt,
      size: this.#size,
      done: this.#done ?? null,
    }
    const fd = writeNew(this.#path, snapshot)
    closeSync(this.#fd)
    this.#fd = fd
    this.#lines = 0
  }
}
