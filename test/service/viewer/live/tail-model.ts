/** A simple mock service for tests of the list: entries with any timestamps, pages by time, and a stream in order of arrival. */
import type { EntrySummary } from '../../../../src/service/query/api-types.js'
import type { TailPage } from '../../../../src/service/viewer/live/tail-buffer.js'

export const START_MS = Date.parse('2026-01-01T12:00:00.000Z')

export function createEntry(seq: number, timeMs = START_MS + seq): EntrySummary {
  return {
    id: `e${seq}`,
    seq,
    received_at: new Date(timeMs).toISOString(),
    timestamp: new Date(timeMs).toISOString(),
    level: 'info',
    message: `entry ${seq}`,
  }
}

function timeOf({ timestamp }: EntrySummary): number {
  return Date.parse(timestamp)
}

const compare = (a: EntrySummary, b: EntrySummary): number => timeOf(b) - timeOf(a) || b.seq - a.seq

export class ModelStore {
  readonly entries: EntrySummary[] = []

  add(timeMs: number): void {
    this.entries.push(createEntry(this.entries.length + 1, timeMs))
  }

  /** Newest first. */
  sorted(): EntrySummary[] {
    return this.entries.toSorted(compare)
  }

  page(limit: number, cursor?: string): TailPage {
    const older = cursor === undefined ? this.sorted() : this.sorted().filter((entry) => isBefore(entry, cursor))
    return { items: older.slice(0, limit), hasOlder: older.length > limit, lastSeq: this.entries.length }
  }
}

export function keyOf(entry: EntrySummary): string {
  return `${timeOf(entry)}-${entry.seq}`
}

function isBefore(entry: EntrySummary, cursor: string): boolean {
  const [timeMs = 0, seq = 0] = cursor.split('-').map(Number)
  return timeOf(entry) < timeMs || (timeOf(entry) === timeMs && entry.seq < seq)
}
