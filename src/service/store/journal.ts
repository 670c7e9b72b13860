/**
 * The journal of the store: a file with one JSON line per record, appended when the record is stored. It is rewritten when it is much
 * larger than the stored records. Incomplete lines after a crash are skipped and counted.
 */
import { closeSync, constants, readSync } from 'node:fs'
import { isObject } from '../../shared/argument-checks.js'
import { openPrivate, removeTemporaries, replaceFile } from '../../shared/safe-files.js'
import { TextAppender } from '../../shared/text-appender.js'
import { createStoreError } from './store-file.js'
import type { StoreFile } from './store-file.js'
import { RECORD_KINDS } from './stored-record.js'
import type { RecordKind, Stored } from './stored-record.js'
import { toMessage } from '../../shared/errors.js'

const HEADER = '{"journal":"pino-ingest local service","version":1}'
const CHUNK_BYTES = 1 << 20
const NEWLINE = 10
/** 128 MiB. Longer lines are damaged: a record is not longer than a request, 5 MiB by default. */
const MAX_LINE_BYTES = 128 << 20

export interface JournalOptions {
  readonly onRecord: (kind: RecordKind, record: Stored, bytes: number) => void
  readonly onLastSeq: (seq: number) => void
  readonly onProblem: (message: string) => void
}

export class Journal {
  readonly #file: StoreFile
  readonly #onProblem: (message: string) => void
  /** Undefined after a write failure or close. */
  #fd: number | undefined
  #appender: TextAppender | undefined

  /** @throws IngestServiceError `STORE` if the file is not a journal of this version, or cannot be opened. */
  constructor(file: StoreFile, options: JournalOptions) {
    this.#file = file
    this.#onProblem = options.onProblem
    let fd: number | undefined
    try {
      removeTemporaries(file.path)
      // Private to the owner, because a journal contains users' log data.
      fd = openPrivate(file.path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT)
      const damaged = load(fd, options)
      if (damaged > 0) options.onProblem(`${file.name}: ${damaged} damaged line(s) were skipped`)
      this.#appendTo(fd)
      // After a crash the last line can be incomplete; the line feed separates it from the next record.
      this.append(this.bytes === 0 ? `${HEADER}\n` : '\n')
    } catch (error) {
      if (fd !== undefined) closeSync(fd)
      throw createStoreError(file.name, error)
    }
  }

  /** Size of the file in bytes; 0 after a write failure or close. */
  get bytes(): number {
    return this.#appender?.size ?? 0
  }

  /** Writes synchronously: once this returns, a killed process does not lose the lines. */
  append(lines: string): void {
    try {
      this.#appender?.append(lines)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Replaces the file's content. Stores `lastSeq` too, because the record with this `seq` may have been dropped. */
  rewrite(lines: Iterable<string>, lastSeq: number): void {
    if (this.#fd === undefined) return
    try {
      const fd = replaceFile(this.#file.path, (fresh) => {
        writeLines(fresh, lines, lastSeq)
        this.close() // before it is replaced: Windows replaces no open file
      })
      this.#appendTo(fd)
    } catch (error) {
      this.#fail(error)
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
    this.#appender = undefined
  }

  #appendTo(fd: number): void {
    this.#fd = fd
    this.#appender = new TextAppender(fd)
  }

  /** After a write error, such as a full disk, the service continues without the file. */
  #fail(error: unknown): void {
    this.close()
    const reason = toMessage(error)
    this.#onProblem(`${this.#file.name}: ${reason}; new records are stored in memory only`)
  }
}

export function formatJournalLine(kind: RecordKind, record: Stored): string {
  return `${JSON.stringify({ kind, record })}\n`
}

/** @returns number of skipped lines @throws system errors; Error if the file is not a journal of this version */
function load(fd: number, { onRecord, onLastSeq }: JournalOptions): number {
  let damaged = 0
  let isFirst = true
  for (const line of readLines(fd)) {
    if (isFirst && line !== HEADER) throw new Error('it is not a journal of this service version; use another file')
    const parsed = isFirst || line === '' ? undefined : parseLine(line)
    if (parsed?.kind === 'mark') onLastSeq(parsed.seq)
    else if (parsed !== undefined) onRecord(parsed.kind, parsed.record, Buffer.byteLength(line) + 1)
    else if (!isFirst && line !== '') damaged++
    isFirst = false
  }
  return damaged
}

type Line = { readonly kind: RecordKind; readonly record: Stored } | { readonly kind: 'mark'; readonly seq: number }

/** @returns undefined for a damaged line */
function parseLine(line: string): Line | undefined {
  const value = parseJson(line)
  if (!isObject(value)) return undefined
  const { kind, record, seq: lastSeq } = value
  if (kind === 'mark') return Number.isSafeInteger(lastSeq) ? { kind, seq: lastSeq as number } : undefined
  const knownKind = RECORD_KINDS.find((known) => known === kind)
  if (knownKind === undefined || !isObject(record)) return undefined
  const { id, seq, received_at } = record
  if (typeof id !== 'string' || !Number.isSafeInteger(seq) || typeof received_at !== 'string') return undefined
  return { kind: knownKind, record: record as unknown as Stored }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function* readLines(fd: number): Generator<string> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let rest = Buffer.alloc(0)
  for (let length = readSync(fd, chunk); length > 0; length = readSync(fd, chunk)) {
    const bytes = Buffer.concat([rest, chunk.subarray(0, length)])
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      yield bytes.toString('utf8', from, end)
      from = end + 1
    }
    rest = bytes.subarray(from)
    if (rest.length > MAX_LINE_BYTES) throw new Error(`a line is longer than ${MAX_LINE_BYTES} bytes; use another file`)
  }
  if (rest.length > 0) yield rest.toString()
}

function writeLines(fd: number, lines: Iterable<string>, lastSeq: number): void {
  const file = new TextAppender(fd)
  let pending = `${HEADER}\n${JSON.stringify({ kind: 'mark', seq: lastSeq })}\n`
  for (const line of lines) {
    pending += line
    if (pending.length < CHUNK_BYTES) continue
    file.append(pending)
    pending = ''
  }
  file.append(pending)
}
