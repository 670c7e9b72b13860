/** Keeps no entry, only counts: a target for benchmarks that shall not measure a store. */
import type { Level } from '../../protocol/log-entry.js'
import { IngestServiceError } from '../ingest-service-error.js'
import type { EntryFilter } from '../query/query-filters.js'
import type { LevelCounts, Page, RecordKind, Records, Store } from './store.js'

export class CountingStore implements Store {
  readonly kind = 'none'
  #counts: Record<Level | 'total', number> = zero()
  #lastSeq = 0

  append<K extends RecordKind>(kind: K, records: readonly Records[K][]): void {
    this.#lastSeq = records.at(-1)?.seq ?? this.#lastSeq
    if (kind !== 'entry') return
    for (const { entry } of records as readonly Records['entry'][]) this.#counts[entry.level]++
    this.#counts.total += records.length
  }

  list<K extends RecordKind>(): Page<Records[K]> {
    throw nothingKept()
  }

  entries(): Page<Records['entry']> {
    throw nothingKept()
  }

  counts(filter: EntryFilter): LevelCounts {
    if (Object.keys(filter).length > 0) throw nothingKept()
    return { ...this.#counts }
  }

  entriesAfter(): never {
    throw nothingKept()
  }

  timeRange(): never {
    throw nothingKept()
  }

  bucketCounts(): never {
    throw nothingKept()
  }

  values(): never {
    throw nothingKept()
  }

  groupSummaries(): never {
    throw nothingKept()
  }

  groupDetails(): never {
    throw nothingKept()
  }

  routes(): never {
    throw nothingKept()
  }

  routeTimeRange(): never {
    throw nothingKept()
  }

  routeDurations(): never {
    throw nothingKept()
  }

  talliesIn(): never {
    throw nothingKept()
  }

  talliesOfReleases(): never {
    throw nothingKept()
  }

  recordCounts(): Record<RecordKind, number> {
    return { entry: 0, request: 0, feedback: 0, release: 0, heartbeat: 0, rejected: 0 }
  }

  entry(): undefined {
    throw nothingKept()
  }

  /** Feedback may come before its entry, so an entry that is not there is no error to the caller. */
  entryOfEvent(): undefined {}

  releaseOfVersion(): undefined {}

  lastSeq(): number {
    return this.#lastSeq
  }

  deleteOlder(): void {}

  clear(): void {
    this.#counts = zero()
  }

  close(): void {}
}

function zero(): Record<Level | 'total', number> {
  return { debug: 0, info: 0, warn: 0, error: 0, fatal: 0, total: 0 }
}

function nothingKept(): IngestServiceError {
  return new IngestServiceError('STORE', "the service runs with store: 'none', which counts entries and keeps none")
}
