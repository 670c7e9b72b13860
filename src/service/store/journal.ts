/**
 * The file behind the memory store: one JSON line a record, appended when the record is stored and written again as a
 * whole when it has outgrown what is kept. A line that was torn by a crash is passed over and counted.
 */
import { closeSync, constants, fstatSync, readSync } from 'node:fs'
import sonicBoom from 'sonic-boom'
import type { SonicBoom } from 'sonic-boom'
import { openPrivate, removeTemporaries, replaceFile, writeAll } from '../../shared/safe-files.js'
import { ensureFolderOf } from '../../shared/safe-folders.js'
import { isObject } from '../ingest/validators.js'
import { createStoreError } from './store-error.js'
import { RECORD_KINDS } from './store.js'
import type { RecordKind, Stored } from './store.js'

/** The class is the CommonJS module itself, which its types describe differently to the two builds. */
const Appender = sonicBoom as unknown as typeof SonicBoom

const HEADER = '{"journal":"pino-ingest local service","version":1}'
const CHUNK_BYTES = 1 << 20
const NEWLINE = 10
/** A record comes in one request, of 5 MiB by default. What is longer is damaged. */
const MAX_LINE_BYTES = 128 << 20

export interface JournalOptions {
  /** Called for each record in the file. */
  readonly onRecord: (kind: RecordKind, record: Stored, bytes: number) => void
  /** Called with the greatest `seq` there was when the file was rewritten. */
  readonly onMark: (seq: number) => void
  readonly onProblem: (message: string) => void
}

type Line = { readonly kind: RecordKind; readonly record: Stored } | { readonly kind: 'mark'; readonly seq: number }

export class Journal {
  readonly #file: string
  readonly #onProblem: (message: string) => void
  #out: SonicBoom | undefined
  #bytes = 0

  /** @throws IngestServiceError `STORE` where the file is not a journal of this version, or cannot be opened. */
  constructor(file: string, options: JournalOptions) {
    const { onProblem } = options
    this.#file = file
    this.#onProblem = onProblem
    let fd: number | undefined
    try {
      ensureFolderOf(file)
      removeTemporaries(file)
      // A journal holds users' log data: for the owner alone.
      fd = openPrivate(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT)
      const damaged = load(fd, options)
      if (damaged > 0) onProblem(`${file}: ${damaged} damaged line(s) passed over`)
      const end = lastByte(fd)
      this.#appendTo(fd)
      if (end === undefined) this.append(`${HEADER}\n`, HEADER.length + 1)
      else if (end !== NEWLINE) this.append('\n', 1)
    } catch (error) {
      if (fd !== undefined) closeSync(fd)
      throw createStoreError(file, error)
    }
  }

  /** Bytes in the file. */
  get bytes(): number {
    return this.#bytes
  }

  append(lines: string, bytes: number): void {
    if (this.#out === undefined) return
    this.#bytes += bytes
    this.#out.write(lines)
  }

  /**
   * The file's content becomes these lines. `lastSeq` is kept too, since the record that bore it may not be among them.
   */
  rewrite(lines: Iterable<string>, lastSeq: number): void {
    if (this.#out === undefined) return
    try {
      const fd = replaceFile(this.#file, (fresh) => writeLines(fresh, lines, lastSeq))
      // What the old writer may still hold was among the lines.
      this.#out.destroy()
      this.#appendTo(fd)
    } catch (error) {
      this.#fail(error)
    }
  }

  close(): void {
    this.#out?.flushSync()
    this.#out?.destroy()
    this.#out = undefined
  }

  #appendTo(fd: number): void {
    // sync: the line is with the operating system when the call returns, so a killed process loses none.
    const out = new Appender({ fd, sync: true })
    out.on('error', (error: Error) => this.#fail(error))
    this.#out = out
    this.#bytes = fstatSync(fd).size
  }

  /** A full or failing disk costs the file, never the service. */
  #fail(error: unknown): void {
    if (this.#out === undefined) return
    this.#out.destroy()
    this.#out = undefined
    this.#onProblem(
      `${this.#file}: ${error instanceof Error ? error.message : String(error)}; from now on records are kept in memory only`,
    )
  }
}

/** @returns lines that were passed over @throws the system's errors; Error where it is no journal of this version */
function load(fd: number, { onRecord, onMark }: JournalOptions): number {
  const head = Buffer.alloc(HEADER.length + 1)
  const headBytes = readSync(fd, head)
  if (headBytes === 0) return 0
  if (head.toString('utf8', 0, headBytes).replace(/\n$/, '') !== HEADER)
    throw new Error('it is not a journal of this service and version; name another file')
  let damaged = 0
  for (const line of readLines(fd)) {
    if (line?.length === 0) continue
    const read = line && parseLine(line)
    if (read === undefined) damaged++
    else if (read.kind === 'mark') onMark(read.seq)
    else onRecord(read.kind, read.record, (line?.length ?? 0) + 1)
  }
  return damaged
}

export function formatJournalLine(kind: RecordKind, record: Stored): string {
  return `${JSON.stringify({ kind, record })}\n`
}

function parseLine(line: Buffer): Line | undefined {
  let value: unknown
  try {
    value = JSON.parse(line.toString())
  } catch {
    return undefined
  }
  if (!isObject(value)) return undefined
  if (value['kind'] === 'mark') {
    return Number.isSafeInteger(value['seq']) ? { kind: 'mark', seq: value['seq'] as number } : undefined
  }
  if (!isObject(value['record'])) return undefined
  const kind = RECORD_KINDS.find((known) => known === value['kind'])
  const { id, seq, received_at } = value['record']
  if (kind === undefined || typeof id !== 'string' || typeof received_at !== 'string') return undefined
  return Number.isSafeInteger(seq) ? { kind, record: value['record'] as unknown as Stored } : undefined
}

/** From where the descriptor is, without their ends. `undefined` stands for a line that is too long. */
function* readLines(fd: number): Generator<Buffer | undefined> {
  let rest: Buffer[] = []
  let restBytes = 0
  let chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (;;) {
    const length = readSync(fd, chunk)
    if (length === 0) break
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && at < length; at = chunk.indexOf(NEWLINE, from)) {
      const line = chunk.subarray(from, at)
      if (restBytes + line.length > MAX_LINE_BYTES) yield undefined
      else yield rest.length === 0 ? line : Buffer.concat([...rest, line])
      rest = []
      restBytes = 0
      from = at + 1
    }
    restBytes += length - from
    if (restBytes > MAX_LINE_BYTES) {
      rest = []
      continue
    }
    rest.push(chunk.subarray(from, length))
    chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  }
  if (restBytes > 0) yield restBytes > MAX_LINE_BYTES ? undefined : Buffer.concat(rest)
}

function writeLines(fd: number, lines: Iterable<string>, lastSeq: number): void {
  let pending = `${HEADER}\n${JSON.stringify({ kind: 'mark', seq: lastSeq })}\n`
  for (const line of lines) {
    pending += line
    if (pending.length < CHUNK_BYTES) continue
    writeAll(fd, Buffer.from(pending))
    pending = ''
  }
  writeAll(fd, Buffer.from(pending))
}

/** Undefined for an empty file. */
function lastByte(fd: number): number | undefined {
  const { size } = fstatSync(fd)
  const last = Buffer.alloc(1)
  return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 ? last[0] : undefined
}
