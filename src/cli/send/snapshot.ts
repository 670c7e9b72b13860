/** What a journal's first line says, and how lines come to disk and back. */
import { replaceFile, writeAll } from '../../shared/safe-files.js'
import type { Identity } from './file.js'
import type { Range } from './ranges.js'

export const VERSION = 1

export interface Origin extends Identity {
  /** Name of the service and key that it goes to. */
  readonly destination: string
  /** Stands for the options that the entries are made with. */
  readonly options: string
  /** UUID, the namespace of the batch ids. */
  readonly namespace: string
  /** How often it was begun anew before. */
  readonly run: number
}

export interface Counts {
  readonly accepted: number
  readonly rejected: number
  readonly filtered: number
}

export interface Done {
  /** ISO 8601. */
  readonly at: string
  /** Bytes of the file on disk that were read. */
  readonly size: number
}

export interface Snapshot {
  readonly version: number
  readonly origin: Origin
  readonly counts: Counts
  readonly settled: readonly Range[]
  readonly openFrom: number | null
  readonly size: number
  readonly done: Done | null
}

/** The file is there, and nothing can be known of it. */
export class JournalError extends Error {
  override readonly name = 'JournalError'
}

/** In place of what was there, all at once, and for good: an empty journal after a power failure would send all again. */
export function writeNew(path: string, snapshot: Snapshot): number {
  return replaceFile(path, (fd) => writeAll(fd, Buffer.from(`${JSON.stringify(snapshot)}\n`)))
}

export function parseSnapshot(line: string, path: string): Snapshot {
  const value = parseLine(line, path) as Partial<Snapshot>
  if (value.version === undefined) throw damaged(path)
  if (value.version !== VERSION)
    throw new JournalError(`${path} was written by another version of pino-ingest (format ${value.version})`)
  if (
    typeof value.origin?.namespace !== 'string' ||
    !Array.isArray(value.settled) ||
    typeof value.counts?.accepted !== 'number'
  )
    throw damaged(path)
  return value as Snapshot
}

export function parseLine(line: string, path: string): object {
  try {
    const value = JSON.parse(line) as unknown
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Told below, with the file's name.
  }
  throw damaged(path)
}

export function damaged(path: string): JournalError {
  return new JournalError(`${path} is damaged`)
}
