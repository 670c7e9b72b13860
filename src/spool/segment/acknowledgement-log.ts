/** Acknowledgement log of a segment: which entries are settled, and which parts of batches were created. */
import { closeSync, constants, ftruncateSync, fstatSync, readSync } from 'node:fs'
import zlib from 'node:zlib'
import { closeQuietly, openOwn, writeAll } from '../../shared/safe-files.js'
import { formatUuid } from './frame.js'
import { PositionSet } from './position-set.js'

/** Not imported by name: see `shared/node-version.ts`. */
const { crc32 } = zlib

const RECORD_BYTES = 40
/** Bytes per read. */
const WINDOW_BYTES = 1_600 * RECORD_BYTES
/**
 * A longer log is damaged. A segment has at most 60,000 entries with about 8 records each: 1 of its own, the others of
 * parts.
 */
const MAX_LOG_BYTES = 1_000_000 * RECORD_BYTES
const SETTLED = 1
const PART = 2
const CRC_FROM = 8
/** The log is missing, is a symbolic link, or is refused by `openOwn` for another reason. */
const UNREADABLE_CODES: readonly unknown[] = ['ENOENT', 'ELOOP', 'UNSAFE']

/** The records of one batch. */
export interface Settlement {
  readonly settled: PositionSet
  /** In the order of their records. */
  readonly parts: readonly PositionSet[]
}

/**
 * Appends synchronously, because after a crash accepted entries without a record are sent again. A failed record is
 * retried with the next record, at each renewal of the lease, and at the close. Until then a crash causes duplicates,
 * but no loss.
 */
export class AcknowledgementLog {
  readonly #path: string
  readonly #onError: (error: unknown) => void
  #fd: number | undefined
  #unwritten: Buffer[] = []

  constructor(path: string, onError: (error: unknown) => void) {
    this.#path = path
    this.#onError = onError
  }

  /** @param id of the batch, 16 bytes */
  recordSettled(id: Uint8Array, positions: PositionSet): void {
    this.#append(SETTLED, id, positions)
  }

  recordPart(id: Uint8Array, positions: PositionSet): void {
    this.#append(PART, id, positions)
  }

  /** Writes all unwritten records, and reports an error. */
  flush(): void {
    this.#write(this.#onError)
  }

  #write(onError: (error: unknown) => void): void {
    if (this.#unwritten.length === 0) return
    try {
      this.#fd ??= openForAppend(this.#path)
      const [only] = this.#unwritten
      writeAll(this.#fd, this.#unwritten.length === 1 && only !== undefined ? only : Buffer.concat(this.#unwritten))
      this.#unwritten = []
    } catch (error) {
      // The file may end with a partial record that could not be removed. Reopening the log removes it.
      this.close()
      onError(error)
    }
  }

  /** Closes the file. Does not write the unwritten records. */
  close(): void {
    if (this.#fd !== undefined) closeQuietly(this.#fd, this.#onError)
    this.#fd = undefined
  }

  #append(kind: number, id: Uint8Array, positions: PositionSet): void {
    const record = Buffer.allocUnsafe(RECORD_BYTES)
    record.writeUInt32LE(kind)
    record.set(id, CRC_FROM)
    record.set(positions.bytes, CRC_FROM + 16)
    // The CRC also covers the kind, as its start value.
    record.writeUInt32LE(crc32(record.subarray(CRC_FROM), kind), 4)
    this.#unwritten.push(record)
    // An error is reported by `flush`, unless all entries are settled and the segment is deleted before.
    this.#write(() => {})
  }
}

/** Removes a partial record at the end, which would shift all later records. Nothing is read beyond `MAX_LOG_BYTES`. */
function openForAppend(path: string): number {
  const fd = openOwn(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT)
  const { size } = fstatSync(fd)
  const end = size > MAX_LOG_BYTES ? endOfRecords(fd) : size - (size % RECORD_BYTES)
  if (end !== size) ftruncateSync(fd, end)
  return fd
}

function endOfRecords(fd: number): number {
  let end = 0
  for (const record of records(fd)) end = record.end
  return end
}

/**
 * Reads the settlements by batch. Skips records with a wrong CRC, and files that are not this user's.
 * @throws the system's errors: without the log, settled entries would be sent again
 */
export function readAcknowledgements(path: string): ReadonlyMap<string, Settlement> {
  const found = new Map<string, { settled: PositionSet; parts: PositionSet[] }>()
  let fd: number | undefined
  try {
    fd = openOwn(path, constants.O_RDONLY)
    for (const { kind, batchId, positions } of records(fd)) {
      let settlement = found.get(batchId)
      if (settlement === undefined) found.set(batchId, (settlement = { settled: PositionSet.empty(), parts: [] }))
      if (kind === SETTLED) settlement.settled = settlement.settled.union(positions)
      else if (kind === PART) settlement.parts.push(positions)
    }
  } catch (error) {
    if (!UNREADABLE_CODES.includes((error as NodeJS.ErrnoException).code)) throw error
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
  return found
}

interface Found {
  readonly kind: number
  readonly batchId: string
  readonly positions: PositionSet
  /** Offset of the end of the record. */
  readonly end: number
}

/** @throws the system's errors */
function* records(fd: number): Generator<Found> {
  const window = Buffer.allocUnsafeSlow(WINDOW_BYTES)
  for (let position = 0; position < MAX_LOG_BYTES;) {
    const bytesRead = readSync(fd, window, 0, WINDOW_BYTES, position)
    for (let at = 0; at + RECORD_BYTES <= bytesRead; at += RECORD_BYTES) {
      const kind = window.readUInt32LE(at)
      const end = at + RECORD_BYTES
      if (crc32(window.subarray(at + CRC_FROM, end), kind) !== window.readUInt32LE(at + 4)) continue
      yield {
        kind,
        batchId: formatUuid(window, at + CRC_FROM),
        positions: new PositionSet(window.subarray(at + CRC_FROM + 16, end)),
        end: position + end,
      }
    }
    if (bytesRead < RECORD_BYTES) return
    position += bytesRead - (bytesRead % RECORD_BYTES)
  }
}
