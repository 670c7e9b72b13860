/**
 * The file behind the memory store: one JSON line a record, appended when the record is stored and written again as a
 * whole when it has outgrown what is kept. A line that was torn by a crash is passed over and counted.
 */
import { closeSync, existsSync, fstatSync, fsyncSync, mkdirSync } from 'node:fs'
import { openSync, readdirSync, readSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import sonicBoom from 'sonic-boom'
import type { SonicBoom } from 'sonic-boom'
import { IngestServiceError } from '../errors.js'
import { isObject } from '../rules.js'
import { RECORD_KINDS } from './store.js'
import type { RecordKind, Stored } from './store.js'

/** The class is the CommonJS module itself, which its types describe differently to the two builds. */
const Appender = sonicBoom as unknown as typeof SonicBoom

const HEADER = '{"journal":"pino-ingest local service","version":1}'
const CHUNK_BYTES = 1 << 20
/** A journal holds users' log data: for the owner alone. */
const FILE_MODE = 0o600

export interface JournalOptions {
  /** Called for each record in the file. */
  readonly onRecord: (kind: RecordKind, record: Stored, bytes: number) => void
  /** Called with the greatest `seq` there was when the file was rewritten. */
  readonly onMark: (seq: number) => void
  readonly onProblem: (message: string) => void
}

type Line =
  | { readonly kind: RecordKind; readonly record: Stored }
  | { readonly kind: 'mark'; readonly seq: number }

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
    try {
      mkdirSync(dirname(file), { recursive: true })
      removeUnfinished(file)
      const damaged = existsSync(file) ? this.#load(options) : 0
      if (damaged > 0) onProblem(`${file}: ${damaged} damaged line(s) passed over`)
      this.#open()
    } catch (error) {
      throw asStoreError(file, error)
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
   * The file's content becomes these lines: written beside it, then renamed over it. `lastSeq` is kept too, since the
   * record that bore it may not be among them.
   */
  rewrite(lines: Iterable<string>, lastSeq: number): void {
    if (this.#out === undefined) return
    const fresh = `${this.#file}.${process.pid}.tmp`
    try {
      writeLines(fresh, lines, lastSeq)
      renameSync(fresh, this.#file)
      // What the old writer may still hold was among the lines.
      this.#out.destroy()
      this.#bytes = 0
      this.#open()
    } catch (error) {
      rmSync(fresh, { force: true })
      this.#fail(error)
    }
  }

  close(): void {
    this.#out?.flushSync()
    this.#out?.destroy()
    this.#out = undefined
  }

  #open(): void {
    // sync: the line is with the operating system when the call returns, so a killed process loses none.
    const out = new Appender({ dest: this.#file, append: true, sync: true, mode: FILE_MODE })
    out.on('error', (error: Error) => this.#fail(error))
    this.#out = out
    const size = sizeOf(this.#file)
    this.#bytes = size.bytes
    if (size.bytes === 0) this.append(`${HEADER}\n`, HEADER.length + 1)
    else if (!size.endsInNewline) this.append('\n', 1)
  }

  /** A full or failing disk costs the file, never the service. */
  #fail(error: unknown): void {
    if (this.#out === undefined) return
    this.#out.destroy()
    this.#out = undefined
    this.#onProblem(`${this.#file}: ${messageOf(error)}; from now on records are kept in memory only`)
  }

  #load({ onRecord, onMark }: JournalOptions): number {
    if (!statSync(this.#file).isFile()) throw new Error('it is not a regular file')
    let damaged = 0
    let first = true
    for (const line of readLines(this.#file)) {
      if (first) {
        first = false
        if (line.toString() === HEADER) continue
        throw new Error('it is not a journal of this service and version; name another file')
      }
      if (line.length === 0) continue
      const read = parseLine(line)
      if (read === undefined) damaged++
      else if (read.kind === 'mark') onMark(read.seq)
      else onRecord(read.kind, read.record, line.length + 1)
    }
    return damaged
  }
}

export function journalLine(kind: RecordKind, record: Stored): string {
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

function* readLines(file: string): Generator<Buffer> {
  const fd = openSync(file, 'r')
  try {
    let rest: Buffer[] = []
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const length = readSync(fd, chunk)
      if (length === 0) break
      let from = 0
      for (let at = chunk.indexOf(10); at >= 0 && at < length; at = chunk.indexOf(10, from)) {
        const line = chunk.subarray(from, at)
        yield rest.length === 0 ? line : Buffer.concat([...rest, line])
        rest = []
        from = at + 1
      }
      rest.push(chunk.subarray(from, length))
    }
    const last = Buffer.concat(rest)
    if (last.length > 0) yield last
  } finally {
    closeSync(fd)
  }
}

function writeLines(file: string, lines: Iterable<string>, lastSeq: number): void {
  const fd = openSync(file, 'w', FILE_MODE)
  try {
    let pending = `${HEADER}\n${JSON.stringify({ kind: 'mark', seq: lastSeq })}\n`
    for (const line of lines) {
      pending += line
      if (pending.length < CHUNK_BYTES) continue
      writeAll(fd, pending)
      pending = ''
    }
    writeAll(fd, pending)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
}

function sizeOf(file: string): { bytes: number; endsInNewline: boolean } {
  const fd = openSync(file, 'r')
  try {
    const { size } = fstatSync(fd)
    const last = Buffer.alloc(1)
    if (size > 0) readSync(fd, last, 0, 1, size - 1)
    return { bytes: size, endsInNewline: last[0] === 10 }
  } finally {
    closeSync(fd)
  }
}

/** What a process that was killed while it rewrote the file left beside it: users' log data too. */
function removeUnfinished(file: string): void {
  const folder = dirname(file)
  const start = `${basename(file)}.`
  for (const name of readdirSync(folder)) {
    if (name.startsWith(start) && /^\d+\.tmp$/.test(name.slice(start.length))) rmSync(join(folder, name), { force: true })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function asStoreError(file: string, error: unknown): IngestServiceError {
  return new IngestServiceError('STORE', `cannot use the store's file ${file}: ${messageOf(error)}`, error)
}
