/** Dead letters as they stand on disk: one on a line. */
import { closeSync, constants, read } from 'node:fs'
import { promisify } from 'node:util'
import type { DeadLetter } from '../../batch/sender.js'
import { openOwn } from '../../shared/safe-files.js'

export interface StoredDeadLetter extends DeadLetter {
  /** When it was refused. */
  readonly at: string
}

const WINDOW_BYTES = 256 * 1024
/** An entry has at most 16 MiB; what is longer was not written by us. */
const MAX_LINE_BYTES = 32 * 1024 * 1024
const NEWLINE = 0x0a
const ENTRY_KEY = ',"entry":'

const readAsync = promisify(read)

/**
 * The lines of a file, without their ends; the last may lack one. `undefined` stands for a line that is too long to be one.
 * Rejects with the system's errors and UnsafeError.
 */
export async function* readLines(path: string): AsyncGenerator<Buffer | undefined> {
  const fd = openOwn(path, constants.O_RDONLY)
  try {
    const window = Buffer.allocUnsafeSlow(WINDOW_BYTES)
    let parts: Buffer[] = []
    let bytes = 0
    for (;;) {
      const { bytesRead } = await readAsync(fd, window, 0, WINDOW_BYTES, null)
      if (bytesRead === 0) break
      let start = 0
      for (
        let end = window.subarray(0, bytesRead).indexOf(NEWLINE);
        end !== -1;
        end = window.subarray(0, bytesRead).indexOf(NEWLINE, start)
      ) {
        bytes += end - start
        yield bytes > MAX_LINE_BYTES ? undefined : Buffer.concat([...parts, window.subarray(start, end)])
        parts = []
        bytes = 0
        start = end + 1
      }
      bytes += bytesRead - start
      if (bytes <= MAX_LINE_BYTES) parts.push(Buffer.from(window.subarray(start, bytesRead)))
      else parts = []
    }
    if (bytes > 0) yield bytes > MAX_LINE_BYTES ? undefined : Buffer.concat(parts)
  } finally {
    closeSync(fd)
  }
}

/** Undefined where the line is no letter: half written, or not by us. Pure. */
export function parseDeadLetter(line: Buffer | undefined): StoredDeadLetter | undefined {
  const text = line?.toString() ?? ''
  // A quote within a text is escaped, so that the first of these is the key.
  const at = text.indexOf(ENTRY_KEY)
  if (at === -1 || !text.endsWith('}')) return undefined
  const entry = text.slice(at + ENTRY_KEY.length, -1)
  try {
    const head = JSON.parse(`${text.slice(0, at)}}`) as Record<string, unknown>
    const parsed = JSON.parse(entry) as unknown
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
    return {
      at: textIn(head, 'at'),
      batchId: textIn(head, 'batch_id'),
      index: numberIn(head, 'index'),
      status: numberIn(head, 'status'),
      code: textIn(head, 'code'),
      field: textIn(head, 'field'),
      reason: textIn(head, 'reason'),
      entry,
    }
  } catch {
    return undefined
  }
}

/** Why it was refused, in one text. Pure. */
export function formatRejection({ status, code, field, reason }: StoredDeadLetter): string {
  const what = [status === 0 ? '' : String(status), code].filter((word) => word !== '').join(' ')
  const where = [what, field].filter((word) => word !== '').join(', ')
  return [where, reason].filter((word) => word !== '').join(': ')
}

function textIn(head: Record<string, unknown>, name: string): string {
  const value = head[name]
  return typeof value === 'string' ? value : ''
}

function numberIn(head: Record<string, unknown>, name: string): number {
  const value = head[name]
  return typeof value === 'number' ? value : 0
}
