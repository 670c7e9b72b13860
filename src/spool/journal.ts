/** What need not be sent again, and what goes on as a part: appended beside a segment. */
import { closeSync, constants, ftruncateSync, fstatSync, readSync } from 'node:fs'
import zlib from 'node:zlib'
import { closeQuietly, openOwn, writeAll } from '../shared/safe-files.js'
import { bytesOfUuid, uuidOf } from './frame.js'
import { Positions } from './positions.js'

/** Not imported by name: see `engine.ts`. */
const { crc32 } = zlib

const RECORD_BYTES = 40
/** Read at once. */
const WINDOW_BYTES = 1_600 * RECORD_BYTES
/** What is longer is damaged. A segment has at most 60,000 entries, and an entry some eight records: one of itself, the others of parts. */
const MAX_JOURNAL_BYTES = 1_000_000 * RECORD_BYTES
const SETTLED = 1
const PART = 2
const CRC_FROM = 8
/** Nothing is there, a link, or what else `openOwn` refuses. */
const NO_JOURNAL: readonly unknown[] = ['ENOENT', 'ELOOP', 'UNSAFE']

/** What a journal says of one batch. */
export interface Settlement {
  readonly settled: Positions
  /** In the order of their record. */
  readonly parts: readonly Positions[]
}

/**
 * Appends synchronously: what was accepted while the record was still to be written would be sent again after a crash.
 * A record that cannot be written is kept, and tried again with the next, at each renewal of the lease and at the close:
 * meanwhile it would cost a duplicate, never loss.
 */
export class Journal {
  readonly #path: string
  readonly #onError: (error: unknown) => void
  #fd: number | undefined
  #unwritten: Buffer[] = []

  constructor(path: string, onError: (error: unknown) => void) {
    this.#path = path
    this.#onError = onError
  }

  settle(batchId: string, positions: Positions): void {
    this.#append(SETTLED, batchId, positions)
  }

  part(batchId: string, positions: Positions): void {
    this.#append(PART, batchId, positions)
  }

  /** Writes what could not be written before. */
  flush(): void {
    if (this.#unwritten.length === 0) return
    try {
      this.#fd ??= openForAppend(this.#path)
      writeAll(this.#fd, Buffer.concat(this.#unwritten))
      this.#unwritten = []
    } catch (error) {
      // What of a record could not be cut off is cut off when the journal is opened again.
      this.close()
      this.#onError(error)
    }
  }

  /** Without what could not be written. */
  close(): void {
    if (this.#fd !== undefined) closeQuietly(this.#fd, this.#onError)
    this.#fd = undefined
  }

  #append(kind: number, batchId: string, positions: Positions): void {
    const record = Buffer.alloc(RECORD_BYTES)
    record.writeUInt32LE(kind)
    record.set(bytesOfUuid(batchId), CRC_FROM)
    record.set(positions.bytes, CRC_FROM + 16)
    // The kind is part of what is checked: it is folded into the start value.
    record.writeUInt32LE(crc32(record.subarray(CRC_FROM), kind), 4)
    this.#unwritten.push(record)
    this.flush()
  }
}

/** What a write that was cut short left at the end would shift all that follows; beyond the greatest size nothing is read. */
function openForAppend(path: string): number {
  const fd = openOwn(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT)
  const { size } = fstatSync(fd)
  const end = size > MAX_JOURNAL_BYTES ? endOfRecords(fd) : size - (size % RECORD_BYTES)
  if (end !== size) ftruncateSync(fd, end)
  return fd
}

function endOfRecords(fd: number): number {
  let end = 0
  for (const record of records(fd)) end = record.end
  return end
}

/**
 * By batch. A record whose CRC does not count is as if it had never been written, and what is no file of ours is no journal.
 * @throws the system's errors: what is settled is not known for now, and all of it would be sent again
 */
export function readJournal(path: string): ReadonlyMap<string, Settlement> {
  const found = new Map<string, { settled: Positions, parts: Positions[] }>()
  let fd: number | undefined
  try {
    fd = openOwn(path, constants.O_RDONLY)
    for (const { kind, batchId, positions } of records(fd)) {
      let settlement = found.get(batchId)
      if (settlement === undefined) found.set(batchId, (settlement = { settled: Positions.none(), parts: [] }))
      if (kind === SETTLED) settlement.settled = settlement.settled.union(positions)
      else if (kind === PART) settlement.parts.push(positions)
    }
  } catch (error) {
    if (!NO_JOURNAL.includes((error as NodeJS.ErrnoException).code)) throw error
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
  return found
}

interface Found {
  readonly kind: number
  readonly batchId: string
  readonly positions: Positions
  /** Offset in the file behind the record. */
  readonly end: number
}

/** @throws the system's errors */
function* records(fd: number): Generator<Found> {
  const window = Buffer.allocUnsafeSlow(WINDOW_BYTES)
  for (let position = 0; position < MAX_JOURNAL_BYTES;) {
    const bytesRead = readSync(fd, window, 0, WINDOW_BYTES, position)
    for (let at = 0; at + RECORD_BYTES <= bytesRead; at += RECORD_BYTES) {
      const kind = window.readUInt32LE(at)
      const end = at + RECORD_BYTES
      if (crc32(window.subarray(at + CRC_FROM, end), kind) !== window.readUInt32LE(at + 4)) continue
      yield { kind, batchId: uuidOf(window, at + CRC_FROM), positions: new Positions(window.subarray(at + CRC_FROM + 16, end)), end: position + end }
    }
    if (bytesRead < RECORD_BYTES) return
    position += bytesRead - (bytesRead % RECORD_BYTES)
  }
}
