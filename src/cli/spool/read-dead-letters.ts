/** Reads dead-letter files, which contain one letter per line. */
import { closeSync, constants } from 'node:fs'
import type { DeadLetter } from '../../batch/batch.js'
import { openOwn, readAtMost } from '../../shared/safe-files.js'

export interface StoredDeadLetter extends DeadLetter {
  readonly at: string
}

/** The writer starts a new file after 4 MiB; one write adds at most a batch of 100 entries. */
const MAX_FILE_BYTES = 256 * 1024 * 1024
const NEWLINE = 0x0a
const ENTRY_KEY = ',"entry":'

/** The lines of a file without their newlines; the last may be incomplete. @throws the system's errors, UnsafeError */
export function readLines(path: string): Buffer[] {
  const fd = openOwn(path, constants.O_RDONLY)
  try {
    const bytes = readAtMost(fd, MAX_FILE_BYTES)
    if (bytes === undefined) throw new Error(`${path} exceeds ${MAX_FILE_BYTES} bytes and is not read`)
    const lines: Buffer[] = []
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      lines.push(bytes.subarray(start, end))
      start = end + 1
    }
    return start < bytes.length ? [...lines, bytes.subarray(start)] : lines
  } finally {
    closeSync(fd)
  }
}

/** Undefined if the line is incomplete or not a dead letter. Pure. */
export function parseDeadLetter(line: Buffer): StoredDeadLetter | undefined {
  const text = line.toString()
  // Quotes within a text are escaped, so the first match is the key.
  const at = text.indexOf(ENTRY_KEY)
  if (at === -1 || !text.endsWith('}')) return undefined
  const entry = text.slice(at + ENTRY_KEY.length, -1)
  try {
    const head = JSON.parse(`${text.slice(0, at)}}`) as Record<string, unknown>
    const parsed = JSON.parse(entry) as unknown
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
    const readText = (name: string): string => (typeof head[name] === 'string' ? head[name] : '')
    const readNumber = (name: string): number => (typeof head[name] === 'number' ? head[name] : 0)
    return {
      at: readText('at'),
      batchId: readText('batch_id'),
      index: readNumber('index'),
      status: readNumber('status'),
      code: readText('code'),
      field: readText('field'),
      reason: readText('reason'),
      entry,
    }
  } catch {
    return undefined
  }
}
